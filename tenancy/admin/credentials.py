"""Machine keys and mail domains."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from kernel import clock
from kernel.access import catalogue
from kernel.admin import columns, marks
from kernel.admin.base import ServiceAdmin
from kernel.admin.deeds import deed
from kernel.admin.forms import ServiceForm
from kernel.admin.place import place_of
from tenancy.models import MachineKey, VerifiedDomain
from tenancy.services import domains, keys


class MachineKeyForm(ServiceForm):
    """A name and what the key may do. Nobody gives more than they have."""

    scopes = forms.MultipleChoiceField(widget=UnfoldAdminCheckboxSelectMultipleWidget, help_text="What the key may do.")

    class Meta:
        model = MachineKey
        fields = ("name", "scopes", "expires_at")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields.get("scopes")
        if isinstance(field, forms.MultipleChoiceField):
            field.choices = [(name, f"{name}: {text}") for name, text in catalogue().items()]


@admin.register(MachineKey)
class MachineKeyAdmin(ServiceAdmin):
    """API credentials. The secret is shown once, when the key is issued."""

    view_needs = add_needs = act_needs = "workspace.manage"
    form = MachineKeyForm
    fields = ("name", "scopes", "expires_at")
    list_display = (
        columns.two_lines("name", "prefix", "key"),
        "standing",
        "may",
        columns.when("last_used_at", "last used"),
        columns.when("expires_at", "expires"),
        columns.when("created_at", "issued"),
    )
    search_fields = ("name", "prefix__exact")
    ordering = ("-created_at", "-id")
    actions: ClassVar[Any] = ["revoke"]
    empty_icon = "key"
    empty_title = "No machine keys"
    empty_text = "A key lets a program of yours use the API, with no more than the permissions you tick."

    @admin.display(description="state")
    def standing(self, row: MachineKey) -> SafeString:
        if row.revoked_at:
            return marks.chip("revoked", tone="bad")
        is_over = row.expires_at is not None and row.expires_at <= clock.now()
        return marks.chip("expired", tone="mute") if is_over else marks.chip("active")

    @admin.display(description="may")
    def may(self, row: MachineKey) -> str:
        return ", ".join(row.scopes[:3]) + (f" and {len(row.scopes) - 3} more" if len(row.scopes) > 3 else "")

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> MachineKey:
        for scope in values["scopes"]:
            place_of(request).require(scope)
        key, secret = keys.issue(workspace_id=workspace_id, **values)
        request._key_secret = secret  # type: ignore[attr-defined]  # noqa: SLF001 - for this answer only
        return key

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
        return self.show_once(
            request,
            title=f"The key “{obj.name}”",
            secret=getattr(request, "_key_secret", ""),
            hint="Send it as “Authorization: Bearer …” with each request to the API.",
            target=reverse("admin:tenancy_machinekey_changelist"),
        )

    @deed("Revoke")
    def revoke(self, request: HttpRequest, queryset: Any) -> None:
        for key in queryset:
            self.serve(
                request, lambda k=key: keys.revoke(workspace_id=k.workspace_id, key_id=k.id), done=f"{key} ended."
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
        return place_of(request).may_see_all

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
