"""Second factors of who is signed in: an app, passkeys, recovery codes. Each change asks again who it is, and is recorded
in its own transaction; afterwards the session goes on under a new value."""

from typing import Any

from allauth.account.views import ReauthenticateView
from allauth.mfa.base.views import ReauthenticateView as ReauthenticateByCodeView
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView, ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import (
    AddWebAuthnView,
    EditWebAuthnView,
    ReauthenticateWebAuthnView,
    RemoveWebAuthnView,
)
from django.http import HttpRequest, HttpResponse
from django.urls import reverse_lazy

from config.console.frames import Framed
from kernel.transactions import unit_of_work
from tenancy.models import User
from tenancy.services import people
from tenancy.types import LoginMethod


class Recorded(Framed):
    """A view whose success is a change of a second factor."""

    verb = ""
    kind = ""

    def form_valid(self, form: Any) -> HttpResponse:
        """The change and its record, together."""
        user: Any = self.request.user
        with unit_of_work():
            name = self.named(form)
            response: HttpResponse = super().form_valid(form)  # type: ignore[misc]
            people.note_factor(user, self.verb, kind=self.kind, name=name)
        renew(self.request, user)
        return response

    def named(self, form: Any) -> str:
        """What the record calls it."""
        return str(form.cleaned_data.get("name", ""))


def renew(request: HttpRequest, _user: User) -> None:
    """What this session may has changed: its value before is worth nothing from now on."""
    request.session.cycle_key()


class AddApp(Recorded, ActivateTOTPView):
    template_name = "console/factors/app.html"
    title = "Add an authenticator app"
    verb, kind = "add", LoginMethod.TOTP


class RemoveApp(Recorded, DeactivateTOTPView):
    template_name = "console/factors/remove.html"
    title = "Remove the authenticator app"
    verb, kind = "remove", LoginMethod.TOTP


class AddPasskey(Recorded, AddWebAuthnView):
    template_name = "console/factors/passkey.html"
    title = "Add a passkey"
    verb, kind = "add", LoginMethod.PASSKEY


class NamePasskey(Recorded, EditWebAuthnView):
    template_name = "console/factors/name.html"
    title = "Rename the passkey"
    verb, kind = "rename", LoginMethod.PASSKEY
    success_url = reverse_lazy("you")


class RemovePasskey(Recorded, RemoveWebAuthnView):
    template_name = "console/factors/remove.html"
    title = "Remove the passkey"
    verb, kind = "remove", LoginMethod.PASSKEY
    success_url = reverse_lazy("you")

    def named(self, form: Any) -> str:
        """By the name that its person gave it."""
        return str(self.get_object())


class Codes(Framed, ViewRecoveryCodesView):
    template_name = "console/factors/codes.html"
    title = "Recovery codes"


class NewCodes(Recorded, GenerateRecoveryCodesView):
    template_name = "console/factors/new_codes.html"
    title = "New recovery codes"
    verb, kind = "renew", LoginMethod.RECOVERY_CODE


class PasswordAgain(Framed, ReauthenticateView):
    template_name = "console/doors/confirm_password.html"
    title = "Confirm that it is you"


class CodeAgain(Framed, ReauthenticateByCodeView):
    template_name = "console/doors/confirm_code.html"
    title = "Confirm that it is you"


class PasskeyAgain(Framed, ReauthenticateWebAuthnView):
    template_name = "console/doors/confirm_passkey.html"
    title = "Confirm that it is you"
