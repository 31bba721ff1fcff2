"""Who acts, for which workspace and request, in the current thread of work.

Held in context variables, so that audit rows, log lines and outbox events carry them without each
function passing them on. Nothing here decides access: it only says what an entry point established.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Actor:
    """Whoever causes a change. Plain values: they outlive the person, key or agent (decision X-7)."""

    kind: str
    id: str = ""
    label: str = ""


SYSTEM = Actor(kind="system", label="system")

# The estate's own workspace: owner of mail that nobody's domain claims and of facts about the installation.
ESTATE = UUID("00000000-0000-4000-8000-000000000000")


@dataclass(frozen=True, slots=True)
class Scope:
    """What the current work may touch: one workspace, some inboxes of one, or all workspaces for a stated reason."""

    workspace_id: UUID | None
    reason: str = ""
    # Of one workspace, only what belongs to these inboxes; None: whatever the workspace has.
    inbox_ids: frozenset[UUID] | None = None

    @property
    def is_all(self) -> bool:
        return self.workspace_id is None


@dataclass(slots=True)
class Attempt:
    """What somebody tries with a request. When it is refused, the trail says so; what is done, the services record."""

    workspace_id: UUID
    actor: Actor
    action: str
    resource_kind: str
    resource_id: str = ""
    # Set where a refusal is turned into an answer that does not look like one: a page with a message.
    refusal: str = ""
    is_denied: bool = False


@dataclass(slots=True)
class Call:
    """What is learnt about a request while it is answered, for whoever writes it down afterwards."""

    workspace_id: UUID | None = None
    caller: str = ""
    code: str = ""
    attempt: Attempt | None = None


actor: ContextVar[Actor] = ContextVar("actor", default=SYSTEM)
request_id: ContextVar[str] = ContextVar("request_id", default="")
execution_id: ContextVar[UUID | None] = ContextVar("execution_id", default=None)
scope: ContextVar[Scope | None] = ContextVar("scope", default=None)
call: ContextVar[Call | None] = ContextVar("call", default=None)


def refused(code: str, *, denied: bool = False) -> None:
    """Say that what this request tries was refused, for the trail."""
    made = call.get()
    if made is not None and made.attempt is not None:
        made.attempt.refusal, made.attempt.is_denied = code, denied


@contextmanager
def acting_as(who: Actor, *, request: str | None = None) -> Iterator[None]:
    """Name the actor (and request) of all that happens inside."""
    actor_token = actor.set(who)
    request_token = request_id.set(request) if request is not None else None
    try:
        yield
    finally:
        actor.reset(actor_token)
        if request_token is not None:
            request_id.reset(request_token)
