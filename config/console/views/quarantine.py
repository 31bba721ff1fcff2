"""An accepted delivery: what it is, why it was put aside, and trying again."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from config.console.pages import action, needs, page
from inbox.models import Email, InboundMessage
from inbox.services import quarantine as quarantining
from inbox.types import EmailState, MessageState
from kernel.admin.place import place_of
from kernel.errors import NotFound

HEAD_SHOWN = 6_000


@needs("quarantine.manage")
def message(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """The delivery with the beginning of its source, as text."""
    row = InboundMessage.objects.filter(id=message_id).first()
    if row is None:
        raise NotFound
    emails = list(Email.objects.filter(inbound_message=row).select_related("inbox", "entry__thread").order_by("id"))
    held = row.state == MessageState.QUARANTINED or any(e.state == EmailState.QUARANTINED for e in emails)
    return page(
        request,
        "delivery_in",
        "Received message",
        message=row,
        emails=emails,
        may_replay=held and place_of(request).allows("quarantine.manage"),
        head=bytes(row.raw)[:HEAD_SHOWN].decode("utf-8", "replace"),
        is_cut=row.size > HEAD_SHOWN,
    )


@action("quarantine.manage")
def replay(request: HttpRequest, message_id: UUID) -> str:
    """Read it again."""
    row = InboundMessage.objects.only("id", "workspace_id").filter(id=message_id).first()
    if row is None:
        raise NotFound
    quarantining.replay(workspace_id=row.workspace_id, inbound_message_id=row.id)
    return "The message will be read again."
