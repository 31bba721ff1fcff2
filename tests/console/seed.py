"""A workspace in the middle of its day, written through models: something of everything that the console shows."""

import hashlib
import uuid
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agents.models import Agent, AgentRun, AgentVersion, ApprovalRequest
from contacts.models import Contact, ContactIdentifier, ContactProfile, IdentifierSighting
from files.models import File
from files.services import storing
from inbox.models import Attachment, Email, Entry, InboundMessage, Inbox, OutboundMessage, Thread, ThreadParticipant
from kernel import clock
from kernel.models import Heartbeat
from kernel.transactions import in_workspace
from tenancy.models import Membership, MembershipRole, Role, RolePermission, User, VerifiedDomain, Workspace
from tenancy.services import provisioning
from tests.factories.inbox import walk
from tickets.models import Annotation

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


def person(email: str, *, name: str = "", operator: bool = False, staff: bool = True) -> User:
    return User.objects.create_user(email, PASSWORD, name=name, is_staff=staff, is_operator=operator)


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
    walk(email, state)
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


def note(world: World, thread: Thread, text: str, *, at: datetime, author: str) -> Annotation:
    return Annotation.objects.create(
        workspace=world.workspace, thread=thread, author_kind="user", author_label=author, body=text, created_at=at
    )


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


def beat() -> None:
    Heartbeat.objects.update_or_create(name="beat", defaults={"at": clock.now()})
