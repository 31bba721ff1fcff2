"""Addresses that a workspace must not write to: what put them there, and the person who lifts it."""

from datetime import datetime
from uuid import UUID

from audit.services import record
from contacts.events import AddressSuppressed, SuppressionLifted
from contacts.models import SuppressionEntry
from contacts.types import IdentifierKind, SuppressionReason
from kernel import clock, context, outbox
from kernel.errors import Conflict, NotFound
from kernel.transactions import current_unit, in_workspace

_ORDER = list(SuppressionReason)


def suppress(
    *,
    workspace_id: UUID,
    address: str,
    reason: SuppressionReason,
    at: datetime,
    detail: str = "",
    expires_at: datetime | None = None,
) -> None:
    """Note that mail to a (canonical) address must stop. Needs a unit of work.

    A row that is there counts one more, keeps the weightier reason, and is in force again unless it was lifted after
    `at`: old news must not undo what a person decided since.
    """
    current_unit()
    row, is_new = SuppressionEntry.objects.get_or_create(
        workspace_id=workspace_id,
        kind=IdentifierKind.EMAIL,
        value=address,
        defaults={"reason": reason, "detail": detail[:500], "first_at": at, "last_at": at, "expires_at": expires_at},
    )
    if not is_new and not _renew(row.id, reason, at, detail, expires_at):
        return
    outbox.emit(
        AddressSuppressed(
            workspace_id=workspace_id,
            suppression_id=row.id,
            reason=reason.value,
            expires_at=expires_at.isoformat() if expires_at else "",
        )
    )
    record(
        workspace_id=workspace_id,
        action="contact.suppress",
        resource_kind="suppression",
        resource_id=row.id,
        payload={"reason": reason.value},
    )


def _renew(row_id: UUID, reason: SuppressionReason, at: datetime, detail: str, expires_at: datetime | None) -> bool:
    """Count one more; True when mail stops by this that did not stop before, or for a weightier reason."""
    row = SuppressionEntry.objects.select_for_update().get(id=row_id)
    fields = ["times", "last_at"]
    row.times, row.last_at = row.times + 1, max(row.last_at, at)
    was_in_force = row.lifted_at is None and (row.expires_at is None or row.expires_at > clock.now())
    is_decided = row.lifted_at is not None and at <= row.lifted_at
    weightier = _ORDER.index(reason) > _ORDER.index(SuppressionReason(row.reason))
    changes = not is_decided and (weightier or not was_in_force)
    if changes:
        row.reason, row.detail, row.expires_at = reason, detail[:500], expires_at
        row.lifted_at, row.lifted_by = None, ""
        fields += ["reason", "detail", "expires_at", "lifted_at", "lifted_by"]
    row.save(update_fields=fields)
    return changes


def lift(*, workspace_id: UUID, suppression_id: UUID) -> None:
    """Allow mail to the address again. The next bounce or complaint stops it anew."""
    who = context.actor.get()
    with in_workspace(workspace_id):
        lifted = SuppressionEntry.objects.filter(id=suppression_id, lifted_at=None).update(
            lifted_at=clock.now(), lifted_by=who.label[:200]
        )
        if not lifted:
            if SuppressionEntry.objects.filter(id=suppression_id).exists():
                raise Conflict("This address was allowed again before.")
            raise NotFound
        outbox.emit(SuppressionLifted(workspace_id=workspace_id, suppression_id=suppression_id))
        record(
            workspace_id=workspace_id,
            action="contact.lift_suppression",
            resource_kind="suppression",
            resource_id=suppression_id,
        )
