"""Mail domains: claim, prove."""

import re
import secrets
from uuid import UUID

from django.db import IntegrityError

from audit.services import record
from kernel import clock
from kernel.errors import Conflict, Invalid, NotFound
from kernel.transactions import in_workspace
from tenancy.models import VerifiedDomain
from tenancy.types import DomainState

_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")


class DomainTaken(Conflict):
    code = "domain_not_available"


def normalise(domain: str) -> str:
    """Lower case, no trailing dot, IDNA for other alphabets (RFC 5890); Invalid for what is no mail domain."""
    text = domain.strip().rstrip(".").lower()
    try:
        text = text.encode("idna").decode() if not text.isascii() else text
    except UnicodeError as error:
        raise Invalid(f"{domain!r} is not a domain name.", pointer="/domain") from error
    labels = text.split(".")
    well_formed = len(text) <= 253 and all(_LABEL.fullmatch(label) for label in labels)
    if len(labels) < 2 or not well_formed or labels[-1].isdigit():
        raise Invalid(f"{domain!r} is not a mail domain such as example.com.", pointer="/domain")
    return text


def claim(*, workspace_id: UUID, domain: str) -> VerifiedDomain:
    """Say that a domain is ours; it stays pending until it is proven. Claiming again returns the same row."""
    with in_workspace(workspace_id):
        row, created = VerifiedDomain.objects.get_or_create(
            workspace_id=workspace_id,
            domain=normalise(domain),
            defaults={"challenge": f"autonomous-inbox={secrets.token_hex(16)}"},
        )
        if created:
            record(
                workspace_id=workspace_id,
                action="domain.claim",
                resource_kind="domain",
                resource_id=row.id,
                payload={"domain": row.domain},
            )
    return row


def confirm(*, workspace_id: UUID, domain: str, proof: str) -> VerifiedDomain:
    """Mark a claimed domain as proven; `proof` says how (an operator's word, or the TXT record). One workspace wins."""
    try:
        with in_workspace(workspace_id):
            row = VerifiedDomain.objects.filter(domain=normalise(domain)).first()
            if row is None:
                raise NotFound("Claim the domain first.")
            if row.state != DomainState.VERIFIED:
                row.state, row.verified_at = DomainState.VERIFIED, clock.now()
                row.save(update_fields=["state", "verified_at"])
                record(
                    workspace_id=workspace_id,
                    action="domain.verify",
                    resource_kind="domain",
                    resource_id=row.id,
                    payload={"domain": row.domain, "proof": proof},
                )
            return row
    except IntegrityError as error:
        raise DomainTaken("This domain cannot be used here.") from error
