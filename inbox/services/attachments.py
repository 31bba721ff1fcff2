"""Take attachments out of sight, and bring them back: for operators."""

from uuid import UUID

from audit.services import record
from inbox.events import AttachmentChanged, AttachmentDeleted, AttachmentRestored
from inbox.models import Attachment
from kernel import clock, outbox
from kernel.errors import Conflict, NotFound
from kernel.transactions import in_workspace


def delete(*, workspace_id: UUID, attachment_id: UUID) -> None:
    """Nobody sees or downloads it any more, and no agent hears of it. The mail keeps its bytes."""
    with in_workspace(workspace_id):
        row = Attachment.objects.select_for_update(of=("self",)).filter(id=attachment_id).first()
        if row is None:
            raise NotFound
        row.deleted_at = clock.now()
        row.save(update_fields=["deleted_at"])
        _tell(row, AttachmentDeleted, "attachment.delete")


def restore(*, workspace_id: UUID, attachment_id: UUID) -> Attachment:
    """Bring it back under its id (S0-28). Conflict when its file is not there any more (S0-29)."""
    with in_workspace(workspace_id):
        rows = Attachment.with_deleted.select_related("file").select_for_update(of=("self",))
        row = rows.filter(id=attachment_id, deleted_at__isnull=False).first()
        if row is None:
            raise NotFound("No deleted attachment of this workspace has that id.")
        if row.file.deleted_at is not None:
            raise Conflict("The file of this attachment was removed, so there is nothing to show.")
        row.deleted_at = None
        row.save(update_fields=["deleted_at"])
        _tell(row, AttachmentRestored, "attachment.restore")
    return row


def _tell(row: Attachment, event: type[AttachmentChanged], action: str) -> None:
    outbox.emit(
        event(workspace_id=row.workspace_id, attachment_id=row.id, email_id=row.email_id, entry_id=row.entry_id)
    )
    record(
        workspace_id=row.workspace_id,
        action=action,
        resource_kind="attachment",
        resource_id=row.id,
        payload={"entry_id": row.entry_id},
    )
