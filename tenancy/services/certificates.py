"""Client certificates: register one for the workspace, change what it may, revoke it, deny one that was never registered."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from django.db.models import Q

from audit.services import record
from kernel import clock, outbox
from kernel.context import ESTATE
from kernel.errors import Conflict, Invalid
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.credentials import certificates
from tenancy.credentials.certificates import Certificate
from tenancy.events import ClientCertificateChanged, ClientCertificateRegistered, ClientCertificateRevoked
from tenancy.models import ClientCertificate, MachineKey, RevokedClientCert
from tenancy.queries import credentials
from tenancy.services import granting
from tenancy.types import CredentialState


class CertificateTaken(Conflict):
    code = "certificate_not_available"


def register(
    *,
    workspace_id: UUID,
    pem: str,
    name: str,
    scopes: Sequence[str],
    may: frozenset[str] = granting.EVERYTHING,
) -> ClientCertificate:
    """Let a certificate act for the workspace. One certificate acts for one workspace, and never for another later."""
    found = _read(pem)
    granted = granting.checked_scopes(scopes, may=may)
    if found.not_after <= clock.now():
        raise Invalid("The certificate has expired. Register its successor.", pointer="/certificate")
    try:
        with in_workspace(workspace_id):
            _check_bounds(granting.bounds(), found)
            _check_not_denied(found, workspace_id)
            row = ClientCertificate.objects.create(
                workspace_id=workspace_id,
                name=granting.checked_name(name),
                scopes=granted,
                fingerprint=found.fingerprint,
                serial=found.serial,
                issuer=found.issuer,
                subject=found.subject,
                not_before=found.not_before,
                not_after=found.not_after,
                **granting.issuer(),
            )
            row.refresh_from_db()
            _note(
                row, "register", name=name, scopes=granted, fingerprint=found.fingerprint.hex(), subject=found.subject
            )
            outbox.emit(
                ClientCertificateRegistered(
                    workspace_id=workspace_id, client_certificate_id=row.id, fingerprint=found.fingerprint.hex()
                )
            )
    except IntegrityError as error:
        raise _taken() from error
    return row


def change(
    *, workspace_id: UUID, certificate_id: UUID, changes: dict[str, Any], may: frozenset[str] = granting.EVERYTHING
) -> ClientCertificate:
    """Change the name or the scopes."""
    with in_workspace(workspace_id):
        credentials.client_certificate(certificate_id)
        row = ClientCertificate.objects.select_for_update(no_key=True).get(id=certificate_id)
        if row.state == CredentialState.REVOKED:
            raise Conflict("This certificate is revoked for good. Register another one.")
        if "scopes" in changes:
            row.scopes = granting.checked_scopes(changes["scopes"], may=may)
            giver = granting.bounds()
            granting.check_within(giver, expires_at=row.not_after, allowed_networks=())
        row.name = granting.checked_name(changes.get("name", row.name))
        row.save(update_fields=["name", "scopes"])
        row.refresh_from_db()
        _note(row, "change", name=row.name, scopes=row.scopes)
        outbox.emit(ClientCertificateChanged(workspace_id=workspace_id, client_certificate_id=row.id))
    return row


def revoke(*, workspace_id: UUID, certificate_id: UUID, reason: str = "") -> ClientCertificate:
    """End a certificate: refused from the next request on, in every process. Revoking twice changes nothing."""
    with in_workspace(workspace_id):
        row = credentials.client_certificate(certificate_id)
        deny(workspace_id=workspace_id, fingerprint=bytes(row.fingerprint), reason=reason)
        row.refresh_from_db()
    return row


def deny_pem(*, workspace_id: UUID, pem: str, reason: str = "") -> RevokedClientCert:
    """Refuse the certificate of a PEM text."""
    return deny(workspace_id=workspace_id, fingerprint=_read(pem).fingerprint, reason=reason)


def deny(
    *, workspace_id: UUID, fingerprint: bytes | None = None, serial: str = "", issuer: str = "", reason: str = ""
) -> RevokedClientCert:
    """Refuse a certificate, registered or not: by fingerprint, or by serial number and issuer. Once is enough.

    What the estate's own workspace denies is refused for every workspace.
    """
    named = _named(fingerprint, serial, issuer)
    with in_workspace(workspace_id):
        row = RevokedClientCert(workspace_id=workspace_id, reason=reason[:200], **named)
        # Two denials at once are one.
        RevokedClientCert.objects.bulk_create([row], ignore_conflicts=True)
        kept = RevokedClientCert.objects.get(**named)
        if kept.id == row.id:
            ended = _end_registered(workspace_id, named)
            _note(kept, "revoke", **_readable(named), reason=reason, registered=[str(one) for one in ended])
            outbox.emit(ClientCertificateRevoked(workspace_id=workspace_id, denial_id=kept.id, **_readable(named)))
    return kept


def _end_registered(workspace_id: UUID, named: dict[str, Any]) -> list[UUID]:
    """Mark what is registered, for whoever looks at lists; the denial itself is what refuses."""
    scope = (
        in_all_workspaces("a denial of the estate holds for every workspace")
        if workspace_id == ESTATE
        else in_workspace(workspace_id)
    )
    wanted = {name: value for name, value in named.items() if value}
    with scope:
        rows = ClientCertificate.objects.filter(revoked_at=None, **wanted)
        ended = list(rows.values_list("id", flat=True))
        rows.update(revoked_at=clock.now())
    return ended


def _named(fingerprint: bytes | None, serial: str, issuer: str) -> dict[str, Any]:
    """The columns that name a certificate: one way or the other."""
    if fingerprint is not None and not serial and not issuer:
        if len(fingerprint) != 32:
            raise Invalid("A fingerprint is a SHA-256: 64 hex digits.", pointer="/fingerprint")
        return {"fingerprint": fingerprint, "serial": "", "issuer": ""}
    if fingerprint is not None or not (serial and issuer):
        raise Invalid("Name the certificate by its fingerprint, or by serial number and issuer together.")
    try:
        return {
            "fingerprint": None,
            "serial": certificates.normal_serial(serial),
            "issuer": certificates.normal_name(issuer),
        }
    except certificates.Unreadable as error:
        raise Invalid(
            "Give the serial number in hex, and the issuer as RFC 4514 writes it: CN=Our CA,O=Acme.", pointer="/issuer"
        ) from error


def _readable(named: dict[str, Any]) -> dict[str, str]:
    return named | {"fingerprint": named["fingerprint"].hex() if named["fingerprint"] else ""}


def _read(pem: str) -> Certificate:
    try:
        return certificates.from_pem(pem.encode())
    except certificates.Unreadable as error:
        raise Invalid(
            "This is not one certificate in PEM (-----BEGIN CERTIFICATE----- …), with an issuer, of at most 16 KB.",
            pointer="/certificate",
        ) from error


def _check_bounds(giver: MachineKey | None, found: Certificate) -> None:
    """A certificate works from every network until its end, so a bounded key must not register one beyond that."""
    granting.check_within(giver, expires_at=found.not_after, allowed_networks=())


def _check_not_denied(found: Certificate, workspace_id: UUID) -> None:
    with in_all_workspaces("a denial of the estate holds for every workspace"):
        denials = RevokedClientCert.objects.filter(workspace_id__in=[workspace_id, ESTATE])
        by_serial = Q(serial=found.serial, issuer=found.issuer)
        if denials.filter(Q(fingerprint=found.fingerprint) | by_serial).exists():
            raise _taken()


def _taken() -> CertificateTaken:
    return CertificateTaken("This certificate cannot be registered here: it was revoked, or acts already.")


def _note(row: ClientCertificate | RevokedClientCert, verb: str, **details: Any) -> None:
    record(
        workspace_id=row.workspace_id,
        action=f"client_certificate.{verb}",
        resource_kind="client_certificate",
        resource_id=row.id,
        payload=details,
    )
