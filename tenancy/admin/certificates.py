"""Client certificates that act for the workspace, and certificates that are refused."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminTextareaWidget

from kernel.admin import columns
from kernel.admin.base import ServiceAdmin
from kernel.admin.deeds import deed
from kernel.admin.forms import ServiceForm
from kernel.admin.place import place_of
from tenancy.admin.credentials import CredentialAdmin, ScopesForm
from tenancy.models import ClientCertificate, RevokedClientCert
from tenancy.services import certificates


class CertificateForm(ScopesForm):
    """The certificate as text."""

    certificate = forms.CharField(
        max_length=16_384,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 8}),
        help_text="One certificate in PEM: -----BEGIN CERTIFICATE----- … The private key stays where it is.",
    )

    class Meta:
        model = ClientCertificate
        fields = ("name", "scopes")


@admin.register(ClientCertificate)
class ClientCertificateAdmin(CredentialAdmin):
    """A certificate that a proxy of ours hands on acts as a key does; exactly the registered one."""

    form = CertificateForm
    list_display = (
        columns.two_lines("name", "subject", "certificate"),
        "standing",
        "may",
        columns.text("serial", mono=True, limit=24),
        columns.when("last_used_at", "last used"),
        columns.when("not_after", "expires"),
        "issued_by",
    )
    search_fields = ("name", "serial__exact")
    actions: ClassVar[Any] = ["revoke"]
    empty_icon = "badge"
    empty_title = "No client certificates"
    empty_text = (
        "Behind a proxy that verifies client certificates, one of them can act for the workspace without a key."
    )

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ("name", "certificate", "scopes")
        return (
            "name",
            "scopes",
            "subject",
            "issuer",
            "serial",
            "not_before",
            "not_after",
            "revoked_at",
            "last_used_at",
        )

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> ClientCertificate:
        return certificates.register(
            workspace_id=workspace_id,
            pem=values["certificate"],
            name=values["name"],
            scopes=values["scopes"],
            may=place_of(request).permissions,
        )

    @deed("Revoke")
    def revoke(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.serve(
                request,
                lambda r=row: certificates.revoke(workspace_id=r.workspace_id, certificate_id=r.id),
                done=f"{row} ended.",
            )


class DenialForm(ServiceForm):
    """The certificate as text, or what its issuer calls it."""

    certificate = forms.CharField(
        required=False,
        max_length=16_384,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 6}),
        help_text="In PEM; or leave it empty and give serial number and issuer.",
    )

    class Meta:
        model = RevokedClientCert
        fields = ("serial", "issuer", "reason")


@admin.register(RevokedClientCert)
class RevokedClientCertAdmin(ServiceAdmin):
    """What is refused, registered or not. A denial stays."""

    view_needs = add_needs = "workspace.manage"
    form = DenialForm
    list_display = (
        "named",
        columns.text("issuer"),
        columns.text("reason"),
        columns.when("created_at", "revoked"),
    )
    search_fields = ("serial__exact",)
    ordering = ("-created_at", "-id")
    empty_icon = "block"
    empty_title = "No revoked certificates"
    empty_text = "Refuse a certificate that leaked, whether it is registered here or not."

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (
            ("certificate", "serial", "issuer", "reason")
            if obj is None
            else ("serial", "issuer", "reason", "created_at")
        )

    @admin.display(description="certificate")
    def named(self, row: RevokedClientCert) -> str:
        return f"serial {row.serial}" if row.serial else f"SHA-256 {bytes(row.fingerprint or b'').hex()[:16]}…"

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> RevokedClientCert:
        reason = values.get("reason") or ""
        if values.get("certificate"):
            return certificates.deny_pem(workspace_id=workspace_id, pem=values["certificate"], reason=reason)
        return certificates.deny(
            workspace_id=workspace_id, serial=values["serial"], issuer=values["issuer"], reason=reason
        )
