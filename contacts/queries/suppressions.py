"""Whom a workspace does not write to."""

from django.db.models import Q

from contacts.models import SuppressionEntry
from contacts.types import IdentifierKind, SuppressionReason
from kernel import clock


def reason_for(address: str) -> SuppressionReason | None:
    """Why the current workspace does not write to this (canonical) address; None when it may."""
    rows = SuppressionEntry.objects.filter(kind=IdentifierKind.EMAIL, value=address, lifted_at=None)
    in_force = rows.filter(Q(expires_at=None) | Q(expires_at__gt=clock.now()))
    reason = in_force.values_list("reason", flat=True).first()
    return None if reason is None else SuppressionReason(reason)
