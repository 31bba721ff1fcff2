"""Revoked tokens of the workspace, and revoked signing keys of the installation."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from unfold.widgets import UnfoldAdminTextInputWidget, UnfoldBooleanSwitchWidget

from kernel.admin import columns
from kernel.admin.base import ServiceAdmin
from kernel.admin.forms import ServiceForm
from kernel.admin.place import Place
from tenancy.models import RevokedSigningKey, RevokedToken
from tenancy.services import tokens


class RevocationForm(ServiceForm):
    """One token by its jti, or all of them."""

    jti = forms.CharField(
        required=False, max_length=80, widget=UnfoldAdminTextInputWidget(), help_text="The jti of the token to refuse."
    )
    every = forms.BooleanField(
        required=False,
        label="Every token issued until now",
        widget=UnfoldBooleanSwitchWidget(),
        help_text="Refuses all tokens of the workspace so far, whoever has them.",
    )

    class Meta:
        model = RevokedToken
        fields = ("jti",)


@admin.register(RevokedToken)
class RevokedTokenAdmin(ServiceAdmin):
    """Tokens that are refused before their end; forgotten once they have ended by themselves."""

    view_needs = add_needs = "workspace.manage"
    form = RevocationForm
    list_display = (
        columns.text("jti", "token", mono=True),
        columns.when("created_at", "revoked"),
        columns.when("expires_at", "ends at the latest"),
    )
    search_fields = ("jti__exact",)
    search_help_text = "The jti"
    ordering = ("-created_at", "-id")
    empty_icon = "token"
    empty_title = "No revoked tokens"
    empty_text = "Tokens end by themselves. Revoke one here when it leaked, or all of them at once."

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("jti", "every") if obj is None else ("jti", "created_at", "expires_at")

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> RevokedToken:
        if not values.get("every"):
            return tokens.revoke(workspace_id=workspace_id, jti=values.get("jti") or "")
        tokens.revoke_issued_before(workspace_id=workspace_id)
        return RevokedToken(workspace_id=workspace_id, jti="every token until now")

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
        messages.success(request, f"Refused from now on: {obj.jti}.")
        return HttpResponseRedirect(reverse("admin:tenancy_revokedtoken_changelist"))


class SigningKeyForm(ServiceForm):
    class Meta:
        model = RevokedSigningKey
        fields = ("kid", "reason")


@admin.register(RevokedSigningKey)
class RevokedSigningKeyAdmin(ServiceAdmin):
    """Keys of the installation sign for every workspace, so only those who run it may end one."""

    form = SigningKeyForm
    fields = ("kid", "reason")
    list_display = (
        columns.text("kid", "key", mono=True),
        columns.text("reason"),
        columns.when("created_at", "revoked"),
    )
    search_fields = ("kid__exact",)
    ordering = ("-created_at", "kid")
    empty_icon = "key_off"
    empty_title = "No revoked signing keys"
    empty_text = "When a key that signs tokens leaked: refuse all its tokens here at once, then take it out of the configuration."

    def _allowed(self, request: HttpRequest, permission: str) -> bool:
        place = getattr(request, "place", None)
        return isinstance(place, Place) and place.acts_as_operator

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._allowed(request, "*")

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> RevokedSigningKey:
        return tokens.revoke_key(kid=values["kid"], reason=values.get("reason") or "")
