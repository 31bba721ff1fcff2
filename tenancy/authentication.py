"""Machines prove themselves to the API: a machine key or a workspace's token as `Authorization: Bearer`, or a client
certificate that a configured proxy hands on. See docs/authentication.md."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from kernel.access import Principal
from kernel.api import problems
from tenancy.credentials import peers
from tenancy.services import authenticating
from tenancy.types import Refused

# One answer for every fault: it must not tell a stranger which part of a forgery was right.
_REFUSED = (
    "The credential is not valid here. Check that it is whole, not expired, not revoked, and used from where it may be."
)


class MachineAuthentication(BaseAuthentication):
    """Machine keys (`mk_…`), workspace tokens and client certificates."""

    def authenticate(self, request: Request) -> tuple[Principal, None] | None:
        try:
            principal = authenticating.identify(request.META)
        except Refused:
            raise AuthenticationFailed(_REFUSED) from None
        return None if principal is None else (principal, None)

    def authenticate_header(self, request: Request) -> str:
        """The challenge of a 401 (RFC 6750, 3): who presented nothing is not told of an error."""
        presented = any(name in request.META for name in ("HTTP_AUTHORIZATION", peers.certificate_header()))
        return (
            f'{problems.CHALLENGE}, error="invalid_token", error_description="{_REFUSED}"'
            if presented
            else problems.CHALLENGE
        )


class MachineScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the API's description names the credentials."""

    target_class = MachineAuthentication
    name = "machine"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A machine key (mk_…) or a workspace's token (JWT). A client certificate takes its place where "
            "a proxy is configured to hand it on.",
        }
