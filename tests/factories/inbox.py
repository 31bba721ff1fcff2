"""Factories of the inbox."""

from typing import Any
from uuid import UUID, uuid4

from files.models import File
from inbox.models import (
    Attachment,
    AutoReplyQuota,
    CircuitBreaker,
    Connection,
    ConnectionCredential,
    Draft,
    Email,
    Entry,
    EntryDeliveryEvent,
    EntryRecipient,
    InboundMessage,
    Inbox,
    InboxAddress,
    MessageReference,
    OutboundMessage,
    RemoteImage,
    Thread,
    ThreadChange,
    ThreadParticipant,
    ThreadReadState,
)
from inbox.types import MOVES, DeliveryState, Direction, ReferenceKind
from kernel import clock, crypto
from tenancy.models import Membership
from tests.factories.registry import FACTORIES, create, digest, factory, unique


@factory(Inbox)
def _inbox(workspace_id: UUID, **given: Any) -> Inbox:
    address = given.setdefault("address", f"{unique('box')}@acme.test")
    return create(Inbox, workspace_id, given, address_normalized=address.lower())


@factory(Connection)
def _connection(workspace_id: UUID, **given: Any) -> Connection:
    return create(
        Connection, workspace_id, given, provider="smtp", name="Mail", external_account_id=lambda: unique("account")
    )


@factory(ConnectionCredential)
def _credential(workspace_id: UUID, **given: Any) -> ConnectionCredential:
    key = given.setdefault("id", uuid4())
    return create(
        ConnectionCredential,
        workspace_id,
        given,
        connection=lambda: _connection(workspace_id),
        secret_sealed=lambda: crypto.seal(
            b"a secret", workspace_id=workspace_id, table="inbox_connectioncredential", row_id=key, purpose="secret"
        ),
    )


@factory(InboundMessage)
def _inbound(workspace_id: UUID, **given: Any) -> InboundMessage:
    return create(
        InboundMessage,
        workspace_id,
        given,
        source="smtp",
        provider_message_id=lambda: unique("provider"),
        raw=b"Subject: hi\r\n\r\nhello",
        sha256=digest,
        size=20,
        recipients=["support@acme.test"],
    )


def walk(email: Email, to: str) -> Email:
    """Bring an e-mail of the scope into a state by permitted moves, the shortest way; the database takes no other."""
    ways: dict[str, list[str]] = {email.state: []}
    pending = [email.state]
    while to not in ways:
        here = pending.pop(0)
        for origin, target in sorted(MOVES):
            if origin == here and target not in ways:
                ways[target] = [*ways[here], target]
                pending.append(target)
    for state in ways[to]:
        Email.objects.filter(id=email.id).update(state=state)
    email.state = to
    return email


@factory(Email)
def _email(workspace_id: UUID, **given: Any) -> Email:
    state = given.pop("state", "received")
    made = create(
        Email,
        workspace_id,
        given,
        inbound_message=lambda: _inbound(workspace_id),
        inbox=lambda: _inbox(workspace_id),
        message_id=lambda: unique("message"),
        received_at=clock.now,
    )
    return walk(made, state)


@factory(Thread)
def _thread(workspace_id: UUID, **given: Any) -> Thread:
    return create(
        Thread, workspace_id, given, inbox=lambda: _inbox(workspace_id), provider_thread_key=lambda: unique("thread")
    )


@factory(ThreadParticipant)
def _participant(workspace_id: UUID, **given: Any) -> ThreadParticipant:
    return create(
        ThreadParticipant,
        workspace_id,
        given,
        thread=lambda: _thread(workspace_id),
        address="ada@customer.test",
        role="requester",
    )


@factory(Entry)
def _entry(workspace_id: UUID, **given: Any) -> Entry:
    thread = given.pop("thread", None) or _thread(workspace_id)
    return create(
        Entry,
        workspace_id,
        given,
        thread=thread,
        inbox=thread.inbox,
        direction=Direction.INBOUND,
        provider_entry_key=lambda: unique("entry"),
        author_kind="contact",
    )


@factory(EntryDeliveryEvent)
def _delivery_event(workspace_id: UUID, **given: Any) -> EntryDeliveryEvent:
    return create(
        EntryDeliveryEvent,
        workspace_id,
        given,
        entry=lambda: _entry(workspace_id),
        kind="delivered",
        provider_event_id=lambda: unique("event"),
    )


@factory(Attachment)
def _attachment(workspace_id: UUID, **given: Any) -> Attachment:
    return create(
        Attachment,
        workspace_id,
        given,
        entry=lambda: _entry(workspace_id),
        file=lambda: FACTORIES[File](workspace_id),
        position=0,
        filename="notes.txt",
        content_type="text/plain",
    )


@factory(MessageReference)
def _reference(workspace_id: UUID, **given: Any) -> MessageReference:
    entry = given.pop("entry", None) or _entry(workspace_id)
    return create(
        MessageReference,
        workspace_id,
        given,
        entry=entry,
        inbox=entry.inbox,
        message_id_hash=digest,
        message_id="<one@customer.test>",
        kind=ReferenceKind.OWN,
    )


@factory(OutboundMessage)
def _outbound(workspace_id: UUID, **given: Any) -> OutboundMessage:
    entry = given.pop("entry", None) or _entry(workspace_id, direction=Direction.OUTBOUND)
    return create(
        OutboundMessage,
        workspace_id,
        given,
        entry=entry,
        inbox=entry.inbox,
        idempotency_key=lambda: unique("send"),
        message_id="<two@acme.test>",
        envelope_to=["ada@customer.test"],
        raw=b"Subject: re\r\n\r\nhello",
    )


@factory(AutoReplyQuota)
def _quota(workspace_id: UUID, **given: Any) -> AutoReplyQuota:
    return create(AutoReplyQuota, workspace_id, given, scope="thread", key=lambda: unique("quota"), window=clock.now)


@factory(EntryRecipient)
def _entry_recipient(workspace_id: UUID, **given: Any) -> EntryRecipient:
    return create(
        EntryRecipient,
        workspace_id,
        given,
        entry=lambda: _entry(workspace_id, direction=Direction.OUTBOUND),
        address="ada@customer.test",
        state=DeliveryState.DELIVERED,
        at=clock.now,
    )


@factory(InboxAddress)
def _address(workspace_id: UUID, **given: Any) -> InboxAddress:
    address = given.setdefault("address", f"{unique('alias')}@acme.test")
    return create(
        InboxAddress, workspace_id, given, inbox=lambda: _inbox(workspace_id), address_normalized=address.lower()
    )


@factory(CircuitBreaker)
def _breaker(workspace_id: UUID, **given: Any) -> CircuitBreaker:
    return create(
        CircuitBreaker,
        workspace_id,
        given,
        inbox=lambda: _inbox(workspace_id),
        scope="sender",
        key=lambda: f"{unique('robot')}@customer.test",
        opened_at=clock.now,
        open_until=clock.now,
        last_held_at=clock.now,
    )


@factory(ThreadChange)
def _change(workspace_id: UUID, **given: Any) -> ThreadChange:
    return create(
        ThreadChange,
        workspace_id,
        given,
        kind="merge",
        source_thread_id=uuid4,
        target_thread_id=uuid4,
        entry_ids=list,
        idempotency_key=unique,
        fingerprint=digest,
        journal=dict,
        actor_kind="user",
    )


@factory(Draft)
def _draft(workspace_id: UUID, **given: Any) -> Draft:
    return create(
        Draft, workspace_id, given, thread=lambda: FACTORIES[Thread](workspace_id), author_kind="user", author_id="7"
    )


@factory(ThreadReadState)
def _read_state(workspace_id: UUID, **given: Any) -> ThreadReadState:
    return create(
        ThreadReadState,
        workspace_id,
        given,
        thread=lambda: FACTORIES[Thread](workspace_id),
        membership=lambda: FACTORIES[Membership](workspace_id),
    )


@factory(RemoteImage)
def _image(workspace_id: UUID, **given: Any) -> RemoteImage:
    return create(
        RemoteImage,
        workspace_id,
        given,
        address_hash=digest,
        problem="The other server answered 404.",
        expires_at=clock.now,
    )
