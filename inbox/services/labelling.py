"""What integrators note on a received mail for themselves."""

from typing import Any
from uuid import UUID

from audit.services import record
from inbox.events import EmailUpdated
from inbox.models import Email
from kernel import outbox
from kernel.errors import NotFound
from kernel.transactions import in_workspace


def label(*, workspace_id: UUID, email_id: UUID, custom_metadata: dict[str, Any]) -> None:
    """Replace the custom metadata of an e-mail; the mail itself is a record that nobody changes."""
    with in_workspace(workspace_id):
        email = Email.objects.select_for_update(no_key=True).only("id", "inbox_id").filter(id=email_id).first()
        if email is None:
            raise NotFound
        Email.objects.filter(id=email_id).update(custom_metadata=custom_metadata)
        outbox.emit(EmailUpdated(workspace_id=workspace_id, email_id=email_id, inbox_id=email.inbox_id))
        record(
            workspace_id=workspace_id,
            action="email.label",
            resource_kind="email",
            resource_id=email_id,
            payload={"changed": ["custom_metadata"]},
        )
