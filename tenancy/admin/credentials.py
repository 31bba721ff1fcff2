"""Machine keys and mail domains."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminTextareaWidget

from kernel.access import catalogue
from kernel.admin import columns, marks
from kernel.admin.base import ServiceAdmin
from kernel.admin.deeds import deed
from kernel.admin.forms import ServiceForm
from kernel.admin.place import place_of
from tenancy.models import ClientCertificate, MachineKey, VerifiedDomain
from tenancy.services import domains, keys
from tenancy.types import CredentialState


class ScopesForm(ServiceForm):
    """A credential's name and what it may do. Nobody gives more than they have."""

    scopes = forms.MultipleChoiceField(widget=UnfoldAdminCheckboxSelectMultipleWidget, help_text="What it may do.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields.get("scopes")
        if isinstance(field, forms.MultipleChoiceField):
            field.choices = [(name, f"{name}: {text}") for name, text in catalogue().items()]


class MachineKeyForm(ScopesForm):
    """Networks one a line."""

    allowed_networks = forms.CharField(
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text="Networks that it may be used from, one a line, such as 203.0.113.0/24. Empty: from everywhere.",
    )

    class Meta:
        model = MachineKey
        fields = ("name", "scopes", "allowed_networks", "expires_at")

    def clean_allowed_networks(self) -> list[str]:
        return str(self.cleaned_data.get("allowed_networks") or "").replace(",", " ").split()


class CredentialAdmin(ServiceAdmin):
    """What lists of keys and of certificates have in common."""

    view_needs = add_needs = act_needs = "workspace.manage"
    ordering = ("-created_at", "-id")

    @admin.display(description="state")
    def standing(self, row: MachineKey | ClientCertificate) -> SafeString:
        tones = {CredentialState.REVOKED: "bad", CredentialState.EXPIRED: "mute"}
        return marks.chip(row.state, tone=tones.get(CredentialState(row.state), ""))

    @admin.display(description="may")
    def may(self, row: MachineKey | ClientCertificate) -> str:
        return ", ".join(row.scopes[:3]) + (f" and {len(row.scopes) - 3} more" if len(row.scopes) > 3 else "")

    @admin.display(description="issued by")
    def issued_by(self, row: MachineKey | ClientCertificate) -> str:
        return row.issued_by_label or row.issued_by_kind or "–"


@admin.register(MachineKey)
class MachineKeyAdmin(CredentialAdmin):
    """API credentials. A secret is shown once: when the key is issued, or rotated."""

    form = MachineKeyForm
    fields = ("name", "scopes", "allowed_networks", "expires_at")
    list_display = (
        columns.two_lines("name", "prefix", "key"),
        "standing",
        "may",
        columns.when("last_used_at", "last used"),
        columns.when("expires_at", "expires"),
        columns.when("previous_until", "old secret until"),
        "issued_by",
        columns.when("created_at", "issued"),
    )
    search_fields = ("name", "prefix__exact")
    actions: ClassVar[Any] = ["rotate", "revoke", "revoke_with_issued"]
    empty_icon = "key"
    empty_title = "No machine keys"
    empty_text = "A key lets a program of yours use the API, with no more than the permissions you tick."

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> MachineKey:
        key, secret = keys.issue(workspace_id=workspace_id, may=place_of(request).permissions, **values)
        request._key_secret = secret  # type: ignore[attr-defined]  # noqa: SLF001 - for this answer only
        return key

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
        return self._show(request, obj, getattr(request, "_key_secret", ""))

    @deed("Rotate: a new secret, the old one stays good for a while")
    def rotate(self, request: HttpRequest, queryset: Any) -> HttpResponse | None:
        """One at a time, since its secret is shown on a page of its own."""
        if queryset.count() != 1:
            messages.error(request, "Choose one key: its new secret is shown once, on a page of its own.")
            return None
        key, may = queryset.get(), place_of(request).permissions
        made = self.serve(request, lambda: keys.rotate(workspace_id=key.workspace_id, key_id=key.id, may=may))
        return self._show(request, *made) if made else None

    @deed("Revoke")
    def revoke(self, request: HttpRequest, queryset: Any) -> None:
        self._revoke(request, queryset, with_issued=False)

    @deed("Revoke, with every key that it issued (it leaked)")
    def revoke_with_issued(self, request: HttpRequest, queryset: Any) -> None:
        self._revoke(request, queryset, with_issued=True)

    def _revoke(self, request: HttpRequest, queryset: Any, *, with_issued: bool) -> None:
        for key in queryset:
            self.serve(
                request,
                lambda k=key: keys.revoke(workspace_id=k.workspace_id, key_id=k.id, with_issued=with_issued),
                done=f"{key} ended.",
            )

    def _show(self, request: HttpRequest, key: Any, secret: str) -> HttpResponse:
        return self.show_once(
            request,
            title=f"The key “{key.name}”",
            secret=secret,
            hint="Send it as “Authorization: Bearer …” with each request to the API.",
            target=reverse("admin:tenancy_machinekey_changelist"),
        )


@admin.register(VerifiedDomain)
class VerifiedDomainAdmin(ServiceAdmin):
    """Mail domains: claimed here, proven by a TXT record or by whoever runs the installation."""

    view_needs = add_needs = "workspace.manage"
    fields = ("domain",)
    list_display = (columns.text("domain"), columns.state(), "proof", columns.when("verified_at", "verified"))
    list_filter = ("state",)
    search_fields = ("domain__icontains",)
    ordering = ("domain",)
    actions: ClassVar[Any] = ["confirm"]
    empty_icon = "language"
    empty_title = "No domains"
    empty_text = "Inboxes lie on domains that are proven to be yours. Claim one, then publish the record it shows."

    @admin.display(description="TXT record that proves it")
    def proof(self, row: VerifiedDomain) -> SafeString:
        return marks.chip("proven", tone="ok") if row.verified_at else format_html("<code>{}</code>", row.challenge)

    def has_confirm_permission(self, request: HttpRequest) -> bool:
        """An operator's word proves a domain; a member's does not."""
        return place_of(request).acts_as_operator

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> VerifiedDomain:
        return domains.claim(workspace_id=workspace_id, domain=values["domain"])

    @deed("Confirm on an operator's word", needs="confirm")
    def confirm(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.serve(
                request,
                lambda r=row: domains.confirm(workspace_id=r.workspace_id, domain=r.domain, proof="operator"),
                done=f"{row.domain} is verified.",
            )
