"""What django-allauth calls a way to prove who one is, in our words."""

from typing import Any

from allauth.account.authentication import get_authentication_records
from allauth.mfa.models import Authenticator
from django.http import HttpRequest

from tenancy.types import LoginMethod

_FACTORS = {
    Authenticator.Type.TOTP: LoginMethod.TOTP,
    Authenticator.Type.RECOVERY_CODES: LoginMethod.RECOVERY_CODE,
    Authenticator.Type.WEBAUTHN: LoginMethod.PASSKEY,
}
_OTHERS = {"password": LoginMethod.PASSWORD, "socialaccount": LoginMethod.SSO}


def of(authenticator: Authenticator) -> LoginMethod:
    """Of a second factor."""
    return of_type(authenticator.type)


def of_type(name: str) -> LoginMethod:
    """Of a kind of second factor."""
    return _FACTORS[Authenticator.Type(name)]


def last(request: HttpRequest, user: Any) -> LoginMethod:
    """Of the last step of the sign-in that is under way."""
    records = get_authentication_records(request, user)
    step = records[-1] if records else {"method": "password"}
    return of_type(step["type"]) if step["method"] == "mfa" else _OTHERS.get(step["method"], LoginMethod.PASSWORD)
