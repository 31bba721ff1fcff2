"""The state machine of an e-mail (S0-18): one place that moves it, and the fact that says so."""

from typing import Final
from uuid import UUID

from audit.services import record
from inbox.events import TRANSITIONS
from inbox.models import Email
from inbox.types import EmailState as S
from kernel import outbox
from kernel.transactions import current_unit

# From which states each may be reached. Final ones are left only by a person (release, a late answer).
ALLOWED: Final[dict[S, frozenset[S]]] = {
    S.THREADED: frozenset({S.QUEUED, S.RUNNING, S.WAITING_APPROVAL}),
    S.QUEUED: frozenset({S.THREADED, S.FAILED}),
    S.RUNNING: frozenset({S.QUEUED, S.WAITING_APPROVAL}),
    S.WAITING_APPROVAL: frozenset({S.QUEUED, S.RUNNING}),
    S.HANDLED: frozenset({S.THREADED, S.QUEUED, S.RUNNING, S.WAITING_APPROVAL, S.FAILED}),
    S.IGNORED: frozenset({S.RECEIVED, S.STORED, S.PARSED, S.THREADED, S.QUEUED}),
    S.QUARANTINED: frozenset({S.RECEIVED, S.STORED, S.PARSED}),
    S.FAILED: frozenset({S.THREADED, S.QUEUED, S.RUNNING, S.WAITING_APPROVAL}),
    S.STORED: frozenset({S.QUARANTINED}),
}


def move(*, email_id: UUID, to: S, reason: str = "") -> bool:
    """Move an e-mail of the current scope; False when that is not legal from where it is. Needs a unit of work."""
    current_unit()
    moved = Email.objects.filter(id=email_id, state__in=ALLOWED[to]).update(state=to, state_reason=reason[:200])
    if not moved:
        return False
    email = Email.objects.only("id", "workspace_id", "inbox_id").get(id=email_id)
    event = TRANSITIONS.get(to)
    if event is not None:
        outbox.emit(
            event(workspace_id=email.workspace_id, email_id=email.id, inbox_id=email.inbox_id, reason=reason[:200])
        )
    record(
        workspace_id=email.workspace_id,
        action=f"email.{to.value}",
        resource_kind="email",
        resource_id=email.id,
        payload={"reason": reason[:200]},
    )
    return True
