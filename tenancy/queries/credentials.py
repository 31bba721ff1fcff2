"""Credentials of the current workspace, for those who manage them, and what is wrong with the installation's own."""

from typing import TypeVar
from uuid import UUID

from django.conf import settings
from django.db.models import Model, Q, QuerySet

from kernel.errors import NotFound
from kernel.transactions import in_all_workspaces
from tenancy.credentials import jwks
from tenancy.models import (
    ClientCertificate,
    MachineKey,
    RevokedClientCert,
    RevokedSigningKey,
    RevokedToken,
    Workspace,
)

M = TypeVar("M", bound=Model)


def machine_keys() -> QuerySet[MachineKey]:
    """The machine keys of the scope."""
    return MachineKey.objects.all()


def machine_key(key_id: UUID) -> MachineKey:
    """One machine key; NotFound when the scope has none of that id."""
    return _get(MachineKey.objects.filter(id=key_id))


def client_certificates() -> QuerySet[ClientCertificate]:
    """The client certificates of the scope."""
    return ClientCertificate.objects.all()


def client_certificate(certificate_id: UUID) -> ClientCertificate:
    """One client certificate; NotFound when the scope has none of that id."""
    return _get(ClientCertificate.objects.filter(id=certificate_id))


def revoked_tokens() -> QuerySet[RevokedToken]:
    """Tokens of the scope that were revoked and have not ended by themselves."""
    return RevokedToken.objects.all()


def revoked_certificates() -> QuerySet[RevokedClientCert]:
    """Certificates that the scope refuses."""
    return RevokedClientCert.objects.all()


def workspace_named(text: str) -> Workspace:
    """The workspace that an operator names: by ref, id or external id."""
    try:
        named = Q(id=UUID(text)) | Q(external_id=UUID(text))
    except ValueError:
        named = Q(ref=text)
    with in_all_workspaces("an operator names a workspace"):
        # An id may be another workspace's external id; then the name is ambiguous, and nothing is guessed.
        found = list(Workspace.objects.filter(named, deleted_at=None)[:2])
    if len(found) != 1:
        raise NotFound(f"No workspace, or more than one, is named {text!r}. Give its ref (ws_…), id or external id.")
    return found[0]


def problems() -> list[str]:
    """What is wrong with the keys that verify tokens, one sentence each, for the doctor. Asks the provider."""
    found = []
    if settings.JWT_JWKS_URL:
        try:
            jwks.fetch(settings.JWT_JWKS_URL)
        except jwks.Unavailable as fault:
            found.append(f"JWT_JWKS_URL cannot be read, so no new key of it will be known: {fault}")
    revoked = RevokedSigningKey.objects.filter(kid__in=list(settings.JWT_KEYS)).values_list("kid", flat=True)
    found += [
        f"The key {kid!r} is revoked but still configured: take it out of JWT_KEYS, JWT_PUBLIC_KEYS or JWT_SIGNING_KEYS."
        for kid in sorted(revoked)
    ]
    if any(network.endswith("/0") for network in (*settings.CLIENT_CERT_PROXIES, *settings.TRUSTED_PROXIES)):
        found.append("CLIENT_CERT_PROXIES or TRUSTED_PROXIES is the whole internet: name only your own proxies.")
    return found


def _get(rows: QuerySet[M]) -> M:
    row = rows.first()
    if row is None:
        raise NotFound
    return row
