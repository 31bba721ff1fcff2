"""The state machine of an e-mail (S0-18): one place that moves it, and the fact that says so."""

from uuid import UUID

from audit.services import record
from inbox.events import TRANSITIONS
from inbox.models import Email
from inbox.types import MOVES, EmailState
from kernel import outbox
from kernel.transactions import current_unit

_BEFORE: dict[EmailState, list[EmailState]] = {
    state: [origin for origin, target in MOVES if target == state] for state in EmailState
}
# Only filing knows the entry and the thread that `email.received` tells of; here a mail returns to its thread.
_BEFORE[EmailState.THREADED] = [EmailState.QUEUED, EmailState.RUNNING, EmailState.WAITING_APPROVAL]


def move(*, email_id: UUID, to: EmailState, reason: str = "") -> bool:
    """Move an e-mail of the current scope; False when that is not legal from where it is. Needs a unit of work."""
    current_unit()
    # A mail that was deleted meanwhile is moved as well: its work ends like any other's.
    rows = Email.with_deleted.filter(id=email_id)
    if not rows.filter(state__in=_BEFORE[to]).update(state=to, state_reason=reason[:200]):
        return False
    email = rows.only("id", "workspace_id", "inbox_id").get()
    event = TRANSITIONS[to]
    outbox.emit(event(workspace_id=email.workspace_id, email_id=email.id, inbox_id=email.inbox_id, reason=reason[:200]))
    record(
        workspace_id=email.workspace_id,
        action=f"email.{to.value}",
        resource_kind="email",
        resource_id=email.id,
        payload={"reason": reason[:200]},
    )
    return True
