"""From what a request presents to who calls: the one place where machine keys, tokens and certificates meet."""

import hmac
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q

from kernel import clock
from kernel.access import Principal
from kernel.transactions import in_workspace
from tenancy.credentials import certificates, peers, tokens
from tenancy.credentials.certificates import Certificate
from tenancy.models import ClientCertificate, MachineKey
from tenancy.models.credential import Credential
from tenancy.queries import principals
from tenancy.queries.principals import Found
from tenancy.services import refusing
from tenancy.types import Reason, Refused

# Use is noted once in this time: lists show it to the minute, and a busy key costs no write per request.
NOTED_EVERY = timedelta(seconds=60)


def identify(meta: Mapping[str, Any]) -> Principal | None:
    """Who calls, by the environment of a WSGI request; None for who presents nothing. Refused, and recorded, otherwise.

    All that is presented must hold: beside a key or token, a certificate has to be of the same workspace.
    """
    address = peers.address_of(meta)
    try:
        certificate = _certificate(meta)
        authorization = str(meta.get("HTTP_AUTHORIZATION", ""))
        if not authorization and certificate is None:
            return None
        found = [_by_authorization(authorization, certificate, address)] if authorization else []
        if certificate is not None:
            found.append(principals.of_certificate(certificate))
        if len({one.principal.workspace_id for one in found}) != 1:
            _refuse_pair(found)
    except Refused as refused:
        refusing.note(refused, address=address)
        raise
    for one in found:
        _note_use(one)
    return found[0].principal


def _certificate(meta: Mapping[str, Any]) -> Certificate | None:
    """The certificate that our own proxy hands on. From anybody else the header is no certificate but an attempt."""
    header = peers.certificate_header()
    if header not in meta:
        return None
    if not peers.is_certificate_proxy(meta):
        raise Refused(Reason.NOT_FROM_PROXY, kind="certificate")
    value = str(meta[header]).strip()
    if not value:
        return None
    try:
        return certificates.from_header(value)
    except certificates.Unreadable:
        raise Refused(Reason.MALFORMED, kind="certificate") from None


def _by_authorization(authorization: str, certificate: Certificate | None, address: str) -> Found:
    scheme, _, credential = authorization.partition(" ")
    if scheme.lower() != "bearer" or not credential or len(credential) > settings.JWT_MAX_BYTES:
        raise Refused(Reason.MALFORMED, kind="bearer")
    if credential.startswith(principals.KEY_START):
        return principals.of_machine_key(credential, address=address)
    claims = tokens.verify(credential)
    if claims.thumbprint:
        presented = certificate.thumbprint if certificate is not None else ""
        if not hmac.compare_digest(claims.thumbprint, presented):
            raise Refused(Reason.OTHER_CERTIFICATE, kind="token", named=claims.jti)
    return principals.of_token(claims)


def _refuse_pair(found: list[Found]) -> None:
    who = found[0].principal
    raise Refused(Reason.OTHER_WORKSPACE, kind=who.actor.kind, named=who.actor.id, workspace_id=who.workspace_id)


def _note_use(found: Found) -> None:
    models: dict[str, type[Credential]] = {"machine_key": MachineKey, "certificate": ClientCertificate}
    model = models.get(found.principal.actor.kind)
    before = clock.now() - NOTED_EVERY
    if model is None or (found.last_used_at is not None and found.last_used_at > before):
        return
    with in_workspace(found.principal.workspace_id):
        rows = model.objects.filter(Q(last_used_at=None) | Q(last_used_at__lte=before), id=found.principal.actor.id)
        # Of many requests at once one notes it; the others need not wait for that.
        chosen = rows.select_for_update(skip_locked=True, no_key=True).values("id")
        model.objects.filter(id__in=chosen).update(last_used_at=clock.now())
