"""What django-allauth asks of us: who may sign in, how secrets are kept, and what single sign-on may do."""

import base64
from typing import Any, NoReturn
from uuid import UUID

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse

from audit.services import record
from kernel import crypto
from kernel.context import ESTATE
from kernel.transactions import in_workspace
from tenancy.credentials.devices import origin_of
from tenancy.models import User
from tenancy.queries import people
from tenancy.services import signing_in
from tenancy.signin import methods
from tenancy.types import LoginMethod, LoginOutcome


class AccountAdapter(DefaultAccountAdapter):
    """Passwords are checked by our own service; nobody signs up by themselves."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """People come by invitation."""
        return False

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Who an address and a password are."""
        email, password = str(credentials.get("email", "")), str(credentials.get("password", ""))
        try:
            return signing_in.by_password(email=email, password=password, origin=origin_of(request.META))
        except signing_in.TooManyTries as error:
            raise ValidationError(error.detail) from error

    def reauthenticate(self, user: Any, password: str) -> bool:
        """Whether somebody who is signed in knows their password."""
        try:
            return signing_in.by_password_again(user=user, password=password, origin=origin_of(self.request.META))
        except signing_in.TooManyTries as error:
            raise ValidationError(error.detail) from error

    def login(self, request: HttpRequest, user: Any) -> None:
        """All steps are done: a session begins, with a new value, and the sign-in is noted."""
        method = methods.last(request, user)
        super().login(request, user)
        signing_in.note(LoginOutcome.SUCCESS, method, origin_of(request.META), user=user)

    def get_client_ip(self, request: HttpRequest) -> str:
        """As everywhere here: no header of a stranger's is believed."""
        return origin_of(request.META).address or "0.0.0.0"  # noqa: S104 - an unknown address, nothing is bound


class FactorAdapter(DefaultMFAAdapter):
    """Secrets of second factors are sealed; they are of the installation's people, hence of the estate."""

    _PLACE = {"workspace_id": ESTATE, "table": "mfa_authenticator", "row_id": UUID(int=0), "purpose": "second factor"}

    def encrypt(self, text: str) -> str:
        return base64.b64encode(crypto.seal(text.encode(), **self._PLACE)).decode()  # type: ignore[arg-type]

    def decrypt(self, encrypted_text: str) -> str:
        return crypto.open_sealed(base64.b64decode(encrypted_text), **self._PLACE).decode()  # type: ignore[arg-type]

    def get_totp_issuer(self) -> str:
        return str(settings.UNFOLD["SITE_TITLE"])


class SsoAdapter(DefaultSocialAccountAdapter):
    """Single sign-on proves who somebody is; whether they may come in was decided here, by an invitation."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False

    def list_apps(self, request: HttpRequest, provider: Any = None, client_id: Any = None) -> Any:
        """Only what the environment says: nobody adds a provider by writing a row."""
        from allauth.socialaccount.adapter import _build_apps_from_settings

        found = _build_apps_from_settings(provider=provider, client_id=client_id)
        return [app for apps in found.values() for app in apps]

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """The account is the one that was connected before, else that of the address which the provider has verified."""
        if sociallogin.is_existing:
            if not sociallogin.user.is_active:
                self._refuse(request, LoginOutcome.INACTIVE, user=sociallogin.user)
            return
        address = _vouched(sociallogin)
        user = people.by_email(address) if address else None
        if user is None:
            self._refuse(request, LoginOutcome.UNKNOWN_SSO, email=address)
        sociallogin.connect(request, user)
        with in_workspace(ESTATE):
            record(
                workspace_id=ESTATE,
                action="user.connect_sso",
                resource_kind="user",
                resource_id=user.pk,
                payload={"email": address},
            )

    def on_authentication_error(self, request: HttpRequest, provider: Any, **_: Any) -> None:
        """The provider, or the way there and back, failed."""
        self._refuse(request, LoginOutcome.FAILED_SSO)

    def _refuse(self, request: HttpRequest, outcome: LoginOutcome, **who: Any) -> NoReturn:
        signing_in.note(outcome, LoginMethod.SSO, origin_of(request.META), **who)
        texts = {
            LoginOutcome.FAILED_SSO: "Single sign-on did not work. Try again, or sign in with your password.",
        }
        unknown = "No account here belongs to this sign-on. Ask an owner of the workspace for an invitation."
        messages.error(request, texts.get(outcome, unknown))
        raise ImmediateHttpResponse(HttpResponseRedirect(reverse("account_login")))


def _vouched(login: SocialLogin) -> str:
    """The address that the provider vouches for."""
    for address in login.email_addresses:
        if address.verified or settings.OIDC_TRUST_EMAIL:
            return str(address.email)
    return ""
