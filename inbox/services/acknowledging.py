"""The first word to whoever opens a conversation that people will answer: the inbox's automatic acknowledgement.

It is an automatic answer like any other: the same marks, the same recipient, the same caps. It ends no response turn (X-19).
"""

from uuid import UUID

from django.db.models import Q

from inbox.models import Entry
from inbox.queries import conversations
from inbox.queries.conversations import MailFacts
from inbox.services import replying
from inbox.services.replying import AutoReplyHeld, InboxGone, NobodyToAnswer, RecipientSuppressed
from inbox.types import Direction, MailClass, OutboundKind
from kernel.context import Actor
from kernel.transactions import current_unit, unit_of_work

ACKNOWLEDGER = Actor(kind="system", id="auto_ack", label="automatic acknowledgement")


def acknowledge(*, email_id: UUID) -> bool:
    """Queue the acknowledgement that the policy wants for this mail of the scope; whether there is one."""
    current_unit()
    mail = conversations.mail_facts(email_id=email_id)
    text = mail.policy.acknowledges(mail.received_at)
    if not text or not _deserves(mail):
        return False
    try:
        with unit_of_work():
            replying.queue_reply(
                email_id=email_id,
                text=text,
                kind=OutboundKind.AUTO_ACK,
                idempotency_key=f"ack:{email_id}",
                automatic=True,
                author=ACKNOWLEDGER,
            )
    except AutoReplyHeld as error:
        replying.report_held(error.held)
        return False
    except (NobodyToAnswer, InboxGone, RecipientSuppressed):
        return False
    return True


def _deserves(mail: MailFacts) -> bool:
    """A person's first mail, which nobody has answered yet, to an inbox where no agent answers."""
    if mail.mail_class != MailClass.HUMAN or not mail.may_auto_answer or not mail.inbox_active:
        return False
    if mail.agent_id is not None and mail.policy.lets_agent_work:
        return False
    others = Entry.objects.filter(thread_id=mail.thread_id).exclude(direction=Direction.INTERNAL)
    is_earlier = Q(seq__lt=Entry.objects.filter(id=mail.entry_id).values("seq"))
    return not others.filter(is_earlier | Q(direction=Direction.OUTBOUND)).exists()
