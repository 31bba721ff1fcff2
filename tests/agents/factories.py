"""An agent at work in a house: mails come in by the real ingest, replies wait in the real outbound queue."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import psycopg

from agents.llm import scripted
from agents.llm.base import Proposal, Request
from agents.models import ActionIntent, Agent, AgentRun, ApprovalRequest, Execution, ExecutionStep
from agents.services import configuring, executing, learning
from inbox.events import EntrySent, SendFailed, SendUncertain
from inbox.models import Email, OutboundMessage
from inbox.services import accepting, inboxes, ingesting
from kernel import outbox
from kernel.context import Actor
from kernel.transactions import in_workspace
from tenancy.models import Membership, MembershipRole, Role, RolePermission, User
from tests.factories import tenancy as _tenancy  # noqa: F401 - registers its factories
from tests.factories.registry import FACTORIES
from tests.factories.world import House, deliver, hand_in, house, mail

PERSON = Actor(kind="user", id="7d3c0000-0000-4000-8000-000000000007", label="Pat Person")
DOCUMENT = """# Opening hours

We are open Monday to Friday from 9 to 18 and on Saturday from 10 to 14.

# Shipping

Orders are shipped within two working days. You can follow your parcel with the tracking number in your confirmation.

# Passwords

To reset your password open the sign-in page and choose Forgot password.
"""
QUESTION = "Hello, what are your opening hours on Saturday?"
ANSWER = "We are open on Saturday from 10 to 14."


@dataclass(frozen=True)
class Office:
    """A house whose inbox has an agent."""

    house: House
    agent: Agent

    @property
    def id(self) -> UUID:
        return self.house.id


def office(
    name: str = "acme",
    *,
    autonomy: str = "autonomous",
    provider: str = "scripted",
    knowledge: str = DOCUMENT,
    **fields: Any,
) -> Office:
    """A workspace with knowledge, an agent and an inbox bound to it."""
    place = house(name)
    agent = configuring.create(workspace_id=place.id, name="Help desk", autonomy=autonomy, provider=provider, **fields)
    if knowledge:
        learning.add(workspace_id=place.id, title="Facts for customers", content=knowledge)
    bind(place, agent)
    seat(place)
    return Office(place, agent)


def seat(place: House, actor: Actor = PERSON, *permissions: str) -> Membership:
    """A place for a person in the workspace, with a role of their own, which lets them decide what agents ask."""
    person, _ = User.objects.get_or_create(
        id=actor.id, defaults={"email": f"{actor.id}@people.test", "name": actor.label, "is_staff": True}
    )
    with in_workspace(place.id):
        role = FACTORIES[Role](place.id)
        for permission in permissions or ("approval.read", "approval.decide"):
            FACTORIES[RolePermission](place.id, role=role, permission=permission)
        member: Membership = FACTORIES[Membership](place.id, user=person)
        FACTORIES[MembershipRole](place.id, membership=member, role=role)
    return member


def bind(place: House, agent: Agent | None) -> None:
    """Give the inbox to an agent, or to none."""
    inboxes.change(workspace_id=place.id, inbox_id=place.inbox.id, changes={"agent_id": agent.id if agent else None})


def receive(
    office: Office, text: str = QUESTION, *, sender: str = "Ada Lovelace <ada@customer.test>", **options: Any
) -> Email:
    """A mail comes in and its facts reach the agents: the run is queued."""
    key = uuid4().hex
    verdicts = options.pop("verdicts", None)
    raw = mail(
        text=text, sender=sender, to=office.house.inbox.address, subject=options.pop("subject", "A question"), **options
    )
    address = sender.rpartition("<")[2].rstrip(">")
    if verdicts is None:
        deliver(raw, office.house.inbox.address, provider_id=key, envelope_from=address)
    else:
        accepting.accept(
            source="ses",
            provider_message_id=key,
            raw=raw,
            recipients=(office.house.inbox.address,),
            envelope_from=address,
            verdicts=verdicts,
        )
        ingesting.process_all()
    drain()
    with in_workspace(office.id):
        return Email.objects.get(message_id=key)


def receive_many(office: Office, count: int, text: str = QUESTION) -> list[Email]:
    """Mails of different people, so that no cap of one sender holds."""
    keys = [uuid4().hex for _ in range(count)]
    for key in keys:
        sender = f"p-{key[:10]}@customer.test"
        raw = mail(text=text, sender=sender, to=office.house.inbox.address, subject="A question")
        hand_in(raw, office.house.inbox.address, provider_id=key, envelope_from=sender)
    ingesting.process_all()
    drain()
    with in_workspace(office.id):
        found = {email.message_id: email for email in Email.objects.filter(message_id__in=keys)}
    return [found[key] for key in keys]


def drain() -> None:
    """Deliver all facts that are due."""
    while outbox.drain():
        pass


def work() -> int:
    """What a worker does: all due executions, then their facts."""
    taken = executing.run_due()
    drain()
    return taken


def send_all(*, outcome: str = "sent") -> int:
    """What the sender does with everything queued, in short: the news of it."""
    from kernel.transactions import in_all_workspaces

    with in_all_workspaces("test"):
        rows = list(OutboundMessage.objects.filter(state="queued").select_related("entry"))
    for row in rows:
        ids = {
            "workspace_id": row.workspace_id,
            "entry_id": row.entry_id,
            "thread_id": row.entry.thread_id,
            "inbox_id": row.inbox_id,
            "outbound_message_id": row.id,
        }
        with in_workspace(row.workspace_id):
            OutboundMessage.objects.filter(id=row.id).update(state=outcome)
            if outcome == "sent":
                outbox.emit(EntrySent(**ids, provider_ref="ref-1"))
            elif outcome == "failed":
                outbox.emit(SendFailed(**ids, error="mailbox unavailable"))
            else:
                outbox.emit(SendUncertain(**ids, error="the connection broke"))
    drain()
    return len(rows)


def play(answer: str | Proposal | Callable[[Request], Proposal] = ANSWER) -> None:
    """What the scripted model says from now on, in this process."""
    if callable(answer):
        scripted.play(answer)
        return
    said = answer if isinstance(answer, Proposal) else proposal(answer=answer)
    scripted.play(lambda _request: said)


def proposal(**fields: Any) -> Proposal:
    return Proposal(
        **{"provider": "scripted", "model": "script", "input_tokens": 100, "output_tokens": 20, "cost_micros": 50}
        | fields
    )


@dataclass(frozen=True)
class Case:
    """Everything about the run of one mail."""

    email: Email
    run: AgentRun
    execution: Execution
    steps: list[ExecutionStep]
    intent: ActionIntent | None
    approval: ApprovalRequest | None
    replies: list[OutboundMessage]


def case(email: Email) -> Case:
    with in_workspace(email.workspace_id):
        run = AgentRun.objects.select_related("execution").get(email_id=email.id)
        intent = ActionIntent.objects.filter(execution_id=run.execution_id).first()
        return Case(
            email=Email.objects.get(id=email.id),
            run=run,
            execution=run.execution,
            steps=list(ExecutionStep.objects.filter(execution_id=run.execution_id).order_by("position")),
            intent=intent,
            approval=ApprovalRequest.objects.filter(intent=intent).order_by("created_at").first() if intent else None,
            replies=list(OutboundMessage.objects.filter(entry__in_reply_to__email_id=email.id)),
        )


def make_due() -> None:
    """Time passes: leases end and waits are over."""
    import os

    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute("SET app.all_workspaces = 'on'")
        owner.execute("UPDATE agents_execution SET due_at = now() WHERE status IN ('queued', 'running')")
