"""A workspace in the middle of its day, written through models: something of everything that the console shows."""

import hashlib
import json
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from agents import tools
from agents.models import (
    ActionIntent,
    Agent,
    AgentRun,
    AgentVersion,
    ApprovalRequest,
    Execution,
    ExecutionStep,
    KnowledgeSource,
)
from contacts.models import Contact, ContactIdentifier, ContactProfile, IdentifierSighting
from files.models import File
from files.services import storing
from inbox.models import Attachment, Email, Entry, InboundMessage, Inbox, OutboundMessage, Thread, ThreadParticipant
from kernel import clock
from kernel.models import Heartbeat
from kernel.transactions import in_workspace
from tenancy.models import Membership, MembershipRole, Role, RolePermission, User, VerifiedDomain, Workspace
from tenancy.services import provisioning
from webhooks.models import SystemEvent, Webhook, WebhookAttempt, WebhookDelivery

PASSWORD = "correct horse battery staple"


@dataclass
class World:
    """What was made, by name."""

    workspace: Workspace
    owner: User
    inbox: Inbox
    agent: Agent
    threads: dict[str, Thread] = field(default_factory=dict)
    approvals: dict[str, ApprovalRequest] = field(default_factory=dict)
    runs: dict[str, AgentRun] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)


def person(email: str, *, name: str = "", superuser: bool = False, staff: bool = True) -> User:
    return User.objects.create_user(email, PASSWORD, name=name, is_staff=staff, is_superuser=superuser)


def member(user: User, workspace: Workspace, *permissions: str) -> Membership:
    """A member with a role of exactly these permissions; an owner when none is given."""
    if not permissions:
        return provisioning.add_owner(user=user, workspace=workspace)
    with in_workspace(workspace.id):
        row = Membership.objects.create(workspace=workspace, user=user, status="active", accepted_at=clock.now())
        role = Role.objects.create(workspace=workspace, name=f"role {uuid.uuid4().hex[:6]}")
        for permission in permissions:
            RolePermission.objects.create(workspace=workspace, role=role, permission=permission)
        MembershipRole.objects.create(workspace=workspace, membership=row, role=role)
    return row


def workspace(name: str, owner: User, domain: str) -> World:
    """A workspace with an owner, a verified domain, an agent and an inbox."""
    made, _ = provisioning.provision(external_id=uuid.uuid4(), name=name, timezone="Europe/Berlin")
    provisioning.add_owner(user=owner, workspace=made)
    with in_workspace(made.id):
        VerifiedDomain.objects.create(
            workspace=made, domain=domain, state="verified", challenge="autonomous-inbox=x", verified_at=clock.now()
        )
        agent = Agent.objects.create(workspace=made, name="Support", autonomy="supervised")
        AgentVersion.objects.create(
            workspace=made,
            agent=agent,
            number=1,
            autonomy="supervised",
            system_prompt="Be brief and friendly. Never promise a refund.",
            limits={"max_steps": 12, "max_cost_micros": 500000},
        )
        inbox = Inbox.objects.create(
            workspace=made,
            address=f"hello@{domain}",
            address_normalized=f"hello@{domain}",
            name=f"{name} Support",
            agent_id=agent.id,
        )
    return World(made, owner, inbox, agent)


def contact(world: World, name: str, address: str) -> Contact:
    found = ContactIdentifier.objects.filter(kind="email", value=address).select_related("contact").first()
    row = found.contact if found else Contact.objects.create()
    known = found or ContactIdentifier.objects.create(contact=row, kind="email", value=address, raw=address)
    count = ContactProfile.objects.count() + 1
    ContactProfile.objects.get_or_create(
        workspace=world.workspace, contact=row, defaults={"label_no": count, "display_name": name}
    )
    IdentifierSighting.objects.get_or_create(workspace=world.workspace, identifier=known)
    return row


def raw_mail(name: str, address: str, to: str, subject: str, text: str) -> bytes:
    lines = [f"From: {name} <{address}>", f"To: {to}", f"Subject: {subject}", "Content-Type: text/plain; charset=utf-8"]
    return "\r\n".join([*lines, "", text, ""]).encode()


def inbound(
    world: World,
    subject: str,
    text: str,
    *,
    sender: tuple[str, str],
    at: datetime,
    thread: Thread | None = None,
    quoted: str = "",
    html: str = "",
    state: str = "handled",
    mail: dict[str, Any] | None = None,
    decision: dict[str, Any] | None = None,
) -> Entry:
    """A mail that has arrived and is filed."""
    name, address = sender
    who = contact(world, name, address)
    if thread is None:
        thread = Thread.objects.create(
            workspace=world.workspace,
            inbox=world.inbox,
            provider_thread_key=str(uuid.uuid4()),
            subject=subject,
            contact=who,
        )
        ThreadParticipant.objects.create(
            workspace_id=world.workspace.id, thread=thread, contact=who, address=address, role="requester"
        )
    content = raw_mail(name, address, world.inbox.address, subject, text + quoted)
    message = InboundMessage.objects.create(
        workspace=world.workspace,
        source="ses",
        provider_message_id=uuid.uuid4().hex,
        raw=content,
        sha256=hashlib.sha256(content).digest(),
        size=len(content),
        envelope_from=address,
        recipients=[world.inbox.address],
        received_at=at,
        state="done",
    )
    fields = {"spf": "PASS", "dkim": "PASS", "dmarc": "PASS"}
    email = Email.objects.create(
        workspace=world.workspace,
        inbound_message=message,
        inbox=world.inbox,
        message_id=message.provider_message_id,
        state=state,
        may_auto_answer=True,
        subject=subject,
        from_name=name,
        from_address=address,
        to=[{"name": "", "address": world.inbox.address}],
        date=at,
        rfc_message_id=f"{uuid.uuid4().hex}@{address.partition('@')[2]}",
        received_at=at,
        **({"verdicts": fields} | (mail or {})),
    )
    entry = Entry.objects.create(
        workspace=world.workspace,
        inbox=world.inbox,
        thread=thread,
        email=email,
        direction="inbound",
        provider_entry_key=f"email:{email.id}",
        author_kind="contact",
        author_label=name or address,
        contact=who,
        subject=subject,
        body_text=text + quoted,
        extracted_text=text,
        body_html=html,
        occurred_at=at,
        thread_decision=decision
        or {"rule": "new", "confidence": "certain", "evidence": {"why": "it cites no earlier mail"}},
    )
    touch(thread, entry, text)
    return entry


def touch(thread: Thread, entry: Entry, text: str, *, waiting: bool = True) -> None:
    entry.refresh_from_db(fields=["seq"])
    thread.last_entry_seq, thread.last_entry_at = entry.seq, entry.occurred_at
    thread.entry_count = Entry.objects.filter(thread=thread).count()
    thread.preview = " ".join(text.split())[:160]
    thread.first_unanswered_inbound_at = entry.occurred_at if waiting else None
    thread.save()


def outbound(
    world: World,
    thread: Thread,
    text: str,
    *,
    at: datetime,
    kind: str = "ai_answer",
    state: str = "sent",
    error: str = "",
    author: str = "Support",
) -> Entry:
    """An answer, and the message that carries it."""
    entry = Entry.objects.create(
        workspace=world.workspace,
        inbox=world.inbox,
        thread=thread,
        direction="outbound",
        outbound_kind=kind,
        provider_entry_key=f"out:{uuid.uuid4()}",
        author_kind="agent" if kind == "ai_answer" else "user",
        author_label=author,
        subject=f"Re: {thread.subject}",
        body_text=text,
        extracted_text=text,
        occurred_at=at,
        delivery_state=state,
        response_time_seconds=240,
    )
    OutboundMessage.objects.create(
        workspace=world.workspace,
        entry=entry,
        inbox=world.inbox,
        idempotency_key=str(uuid.uuid4()),
        message_id=f"{entry.id}@example.com",
        envelope_to=["someone@example.org"],
        raw=text.encode(),
        state=state,
        last_error=error,
        provider_ref="0100019a-demo" if state == "sent" else "",
        sent_at=at if state == "sent" else None,
    )
    touch(thread, entry, text, waiting=False)
    return entry


def note(world: World, thread: Thread, text: str, *, at: datetime, author: str) -> Entry:
    return Entry.objects.create(
        workspace=world.workspace,
        inbox=world.inbox,
        thread=thread,
        direction="internal",
        provider_entry_key=f"note:{uuid.uuid4()}",
        author_kind="user",
        author_label=author,
        body_text=text,
        occurred_at=at,
    )


def run(
    world: World,
    entry: Entry,
    answer: str,
    *,
    status: str = "succeeded",
    decision: str = "allow",
    reason: str = "low risk, within supervised autonomy",
    sent: Entry | None = None,
    model: bool = True,
    at: datetime,
) -> tuple[AgentRun, ActionIntent]:
    """A run with its steps and the one thing that it wanted."""
    version = AgentVersion.objects.get(agent=world.agent, number=1)
    ended = status not in ("waiting_approval", "running")
    execution = Execution.objects.create(
        workspace=world.workspace,
        agent=world.agent,
        version=version,
        instruction="Answer the customer's mail from the workspace's knowledge.",
        instruction_hash=hashlib.sha256(b"x").digest(),
        status=status,
        outcome="answered" if status == "succeeded" else "",
        reason=reason if status != "succeeded" else "answered from knowledge",
        provider="anthropic" if model else "local",
        model="claude-sonnet" if model else "",
        used_language_model=model,
        input_tokens=1840 if model else 0,
        output_tokens=212 if model else 0,
        cost_micros=8700 if model else 0,
        started_at=at,
        finished_at=at + timedelta(seconds=9) if ended else None,
    )
    arguments = {"email_id": str(entry.email_id), "text": answer}
    steps: list[dict[str, Any]] = [
        {"kind": "context", "title": "Read the conversation", "tool": "inbox.read_thread", "result": {"entries": 1}},
        {
            "kind": "knowledge",
            "title": "Found 2 passages",
            "tool": "knowledge.search",
            "arguments": {"query": entry.subject},
            "result": {
                "passages": [{"source": "Returns and refunds", "score": 0.83}, {"source": "Shipping", "score": 0.61}]
            },
        },
        {
            "kind": "model",
            "title": "Proposed an answer",
            "result": {"confidence": 0.86},
            "input_tokens": 1840,
            "output_tokens": 212,
        }
        if model
        else {"kind": "model", "title": "Answered from the best passage, without a language model"},
        {
            "kind": "plan",
            "title": "Reply to the customer",
            "tool": "inbox.reply",
            "arguments": arguments,
            "risk": "low",
        },
        {
            "kind": "action",
            "title": "Reply",
            "tool": "inbox.reply",
            "permission": "email.send",
            "status": "done" if sent else "waiting",
        },
    ]
    for position, step in enumerate(steps, start=1):
        ExecutionStep.objects.create(
            workspace=world.workspace,
            execution=execution,
            position=position,
            cost_micros=8700 if step["kind"] == "model" and model else 0,
            started_at=at,
            finished_at=at,
            **step,
        )
    row = AgentRun.objects.create(
        workspace=world.workspace,
        email_id=entry.email_id,
        agent=world.agent,
        version=version,
        execution=execution,
        is_live=not ended,
    )
    intent = ActionIntent.objects.create(
        workspace=world.workspace,
        idempotency_key=f"reply:{entry.email_id}:{world.agent.id}",
        execution=execution,
        action="inbox.reply",
        arguments=arguments,
        content_hash=content_hash(arguments),
        risk="low" if decision == "allow" else "medium",
        decision=decision,
        decision_reason=reason,
        status="executed" if sent else "waiting_approval",
        entry_id=sent.id if sent else None,
        executed_at=at if sent else None,
    )
    return row, intent


def content_hash(arguments: dict[str, Any]) -> bytes:
    return tools.content_hash(tools.REPLY, arguments)


def question(
    world: World, intent: ActionIntent, *, reason: str, risk: str = "medium", hours: float = 40
) -> ApprovalRequest:
    return ApprovalRequest.objects.create(
        workspace=world.workspace,
        intent=intent,
        action=intent.action,
        risk=risk,
        reason=reason,
        snapshot={"action": intent.action} | intent.arguments,
        content_hash=intent.content_hash,
        requested_by=f"agent:{world.agent.id}",
        expires_at=clock.now() + timedelta(hours=hours),
    )


def webhook(world: World, label: str, *, failing: bool) -> Webhook:
    """An endpoint with deliveries; the failing one has attempts that say why."""
    now = clock.now()
    row = Webhook.objects.create(
        workspace=world.workspace,
        label=label,
        url=f"https://hooks.example.com/{label.lower().replace(' ', '-')}",
        slugs=["email.*", "entry.sent"],
        secret_sealed=b"sealed",
        failing_since=now - timedelta(hours=5) if failing else None,
    )
    for number in range(12):
        at = now - timedelta(minutes=17 * number)
        data = {"email_id": str(uuid.uuid4()), "inbox_id": str(world.inbox.id), "mail_class": "human"}
        event = SystemEvent.objects.create(
            workspace=world.workspace,
            slug=("email.received", "email.handled", "entry.sent")[number % 3],
            aggregate_key=f"thread:{uuid.uuid4()}",
            occurred_at=at,
            data=data,
            body=json.dumps(data),
        )
        failed = failing and number < 3
        delivery = WebhookDelivery.objects.create(
            workspace=world.workspace,
            webhook=row,
            system_event=event,
            status="failed" if failed else "delivered",
            attempts=3 if failed else 1,
            last_status_code=503 if failed else 200,
            last_error="HTTP 503 Service Unavailable" if failed else "",
            delivered_at=None if failed else at,
        )
        for attempt in range(3 if failed else 1):
            WebhookAttempt.objects.create(
                workspace_id=world.workspace.id,
                delivery=delivery,
                number=attempt + 1,
                at=at + timedelta(seconds=5 * attempt),
                duration_ms=184 + 40 * attempt,
                status_code=503 if failed else 200,
                error="HTTP 503 Service Unavailable" if failed else "",
                response_excerpt="<h1>503 Service Unavailable</h1>" if failed else '{"ok": true}',
            )
        world.extra.setdefault("failed_delivery", delivery) if failed else None
    return row


def attach(world: World, entry: Entry, filename: str, content: bytes, mime: str) -> Attachment:
    digest = hashlib.sha256(content)
    key = storing.keep(workspace_id=world.workspace.id, sha256=digest.hexdigest(), content=content)
    file = File.objects.create(
        workspace=world.workspace,
        sha256=digest.digest(),
        size=len(content),
        mime_declared=mime,
        mime_sniffed=mime,
        storage_key=key,
    )
    return Attachment.objects.create(
        workspace=world.workspace,
        entry=entry,
        email=entry.email,
        file=file,
        position=0,
        filename=filename,
        content_type=mime,
    )


def quarantined(world: World, sender: str, reason: str, content: bytes) -> InboundMessage:
    return InboundMessage.objects.create(
        workspace=world.workspace,
        source="smtp",
        provider_message_id=uuid.uuid4().hex,
        raw=content,
        sha256=hashlib.sha256(content).digest(),
        size=len(content),
        envelope_from=sender,
        recipients=[world.inbox.address],
        state="quarantined",
        reason=reason,
        attempts=3,
    )


def knowledge(world: World, title: str, content: str) -> KnowledgeSource:
    return KnowledgeSource.objects.create(
        workspace=world.workspace, title=title, content=content, content_hash=hashlib.sha256(content.encode()).digest()
    )


def beat() -> None:
    Heartbeat.objects.update_or_create(name="beat", defaults={"at": clock.now()})
