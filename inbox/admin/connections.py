"""Connected accounts: how they stand, their secrets (which go in and never come out), trying and disconnecting them."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from inbox.models import Connection
from inbox.queries import connections
from inbox.services import connecting
from inbox.types import ConnectionState, Provider
from kernel.admin import columns, marks
from kernel.admin.base import ServiceAdmin
from kernel.admin.deeds import deed
from kernel.admin.forms import ServiceForm

_TONES = {
    ConnectionState.CONNECTED: "ok",
    ConnectionState.DEGRADED: "bad",
    ConnectionState.EXPIRED: "bad",
    ConnectionState.PENDING_AUTHORIZATION: "warn",
}
_FIELDS = {
    Provider.SMTP: ("host", "port", "user", "tls"),
    Provider.SES: ("region", "access_key_id", "configuration_set"),
}
_KEEP = "Leave empty to keep what is there. It is never shown."
_SMTP, _SES = "For an SMTP server.", "For Amazon SES."


class ConnectionForm(ServiceForm):
    """The fields of both providers; those of the other one are left out of the configuration."""

    host = forms.CharField(required=False, widget=UnfoldAdminTextInputWidget(), help_text=f"smtp.example.com. {_SMTP}")
    port = forms.IntegerField(required=False, initial=587, widget=UnfoldAdminTextInputWidget(), help_text=_SMTP)
    user = forms.CharField(
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text=f"Who signs in. {_SMTP}",
    )
    tls = forms.ChoiceField(
        required=False,
        choices=[("starttls", "STARTTLS (usually port 587)"), ("implicit", "TLS from the start (usually port 465)")],
        widget=UnfoldAdminSelectWidget(),
        help_text=_SMTP,
    )
    region = forms.CharField(required=False, widget=UnfoldAdminTextInputWidget(), help_text=f"eu-central-1. {_SES}")
    access_key_id = forms.CharField(
        required=False, label="Access key ID", widget=UnfoldAdminTextInputWidget(), help_text=_SES
    )
    configuration_set = forms.CharField(required=False, widget=UnfoldAdminTextInputWidget(), help_text=_SES)
    secret = forms.CharField(
        required=False,
        strip=False,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}),
        help_text=_KEEP,
    )

    class Meta:
        model = Connection
        fields = ("provider", "name")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial.update(self.instance.configuration or {})
        self.fields["name"].required = False


@admin.register(Connection)
class ConnectionAdmin(ServiceAdmin):
    """Accounts that inboxes send through. Without one, an inbox sends as the installation is set up."""

    view_needs = "connection.read"
    add_needs = change_needs = act_needs = "connection.manage"
    form = ConnectionForm
    list_display: Any = (
        columns.two_lines("name", "external_account_id", "connection"),
        "stands",
        columns.text("error_detail", "what is wrong", limit=70),
        "used_by",
        columns.when("last_health_at", "last tried"),
    )
    list_filter = ("provider", "state")
    search_fields = ("name__icontains", "external_account_id__icontains")
    ordering = ("-created_at", "-id")
    actions: ClassVar[Any] = ["try_now", "disconnect"]
    empty_icon = "cable"
    empty_title = "No connections"
    empty_text = (
        "Inboxes send as this installation is set up. Connect an SMTP or Amazon SES account to have one send as yours."
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).prefetch_related("inboxes")

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            every = (*_FIELDS[Provider.SMTP], *_FIELDS[Provider.SES])
            return ((None, {"fields": ("provider", "name")}), ("Account", {"fields": (*every, "secret")}))
        standing = ("Health", {"fields": ("stands", "last_health_at", "error_detail", "capabilities")})
        if not self.has_change_permission(request, obj):
            return ((None, {"fields": ("name", "provider", "external_account_id")}), standing)
        account = (*_FIELDS[Provider(obj.provider)], "secret")
        return ((None, {"fields": ("provider", "name")}), ("Account", {"fields": account}), standing)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        read = ("stands", "last_health_at", "error_detail", "capabilities", "external_account_id")
        return () if obj is None else ("provider", *read)

    @admin.display(description="state")
    def stands(self, row: Connection) -> SafeString:
        state = connections.standing(row)
        return marks.chip(state.value, tone=_TONES.get(state, "mute"))

    @admin.display(description="used by")
    def used_by(self, row: Connection) -> str:
        names = [inbox.address for inbox in row.inboxes.all() if inbox.deleted_at is None]
        return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "") or "–"

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> Connection:
        provider = obj.provider if obj else values["provider"]
        configuration = {
            name: values[name] for name in _FIELDS[Provider(provider)] if values.get(name) not in ("", None)
        }
        secret = values["secret"]
        if obj is None:
            return connecting.connect(
                workspace_id=workspace_id,
                provider=provider,
                name=values["name"],
                configuration=configuration,
                secret=secret,
            )
        changes: dict[str, Any] = {"name": values["name"] or obj.name}
        if configuration != obj.configuration:
            changes["configuration"] = configuration
        row = connecting.change(workspace_id=workspace_id, connection_id=obj.pk, changes=changes)
        if secret:
            row = connecting.authorize(workspace_id=workspace_id, connection_id=obj.pk, secret=secret)
        return row

    @deed("Try now: sign in, send nothing", icon="network_check")
    def try_now(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.serve(
                request,
                lambda r=row: connecting.ask_for_check(workspace_id=r.workspace_id, connection_id=r.id),
                done=f"{row} is being tried. How it went will be here in a moment.",
            )

    @deed("Disconnect, and destroy the secret", icon="link_off")
    def disconnect(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            if not self.serve(
                request, lambda r=row: connecting.disconnect(workspace_id=r.workspace_id, connection_id=r.id)
            ):
                continue
            messages.success(request, f"{row} is disconnected. Inboxes that use it send nothing until you choose anew.")
