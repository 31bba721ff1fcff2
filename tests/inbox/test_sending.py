"""Replies leave once, with the right headers; whatever is not known for sure is never sent again by itself."""

import email
import threading
from concurrent.futures import ThreadPoolExecutor
from email.policy import default
from uuid import UUID

import pytest
from django.db import connection

from config.demo.sink import Sink
from inbox.models import Email, Entry, OutboundMessage, Thread
from inbox.services import replying, sending
from inbox.services.replying import AutoReplyHeld, NobodyToAnswer, QueuedReply
from inbox.tokens import own_entry
from inbox.types import OutboundKind
from kernel.context import Actor
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tests.factories.world import House, deliver, house, mail
from tests.world.smtp import Script, ScriptedServer

AGENT = Actor(kind="agent", id="a1", label="Support agent")


@pytest.fixture
def outbox_to(settings):
    def point(port: int) -> None:
        settings.MAIL_TRANSPORT, settings.MAIL_SMTP_HOST, settings.MAIL_SMTP_PORT = "smtp", "127.0.0.1", port
        settings.MAIL_SMTP_TLS, settings.SEND_RETRY_SECONDS = "none", [0, 0]

    return point


def reply(place: House, email_id: UUID, *, key: str = "k1", automatic: bool = True, text: str = "Soon.") -> QueuedReply:
    with in_workspace(place.id):
        return replying.queue_reply(
            email_id=email_id,
            text=text,
            kind=OutboundKind.AI_ANSWER if automatic else OutboundKind.HUMAN,
            idempotency_key=key,
            automatic=automatic,
            author=AGENT,
        )


def one_mail(place: House, **fields: str) -> UUID:
    accepted = deliver(mail(**fields))
    return accepted[0].email_id


def states(place: House) -> list[tuple[str, str]]:
    with in_workspace(place.id):
        return list(OutboundMessage.objects.order_by("created_at").values_list("state", "entry__delivery_state"))


def test_a_reply_is_sent_once_with_the_headers_that_keep_the_conversation_together(db, outbox_to):
    acme = house()
    email_id = one_mail(acme, message_id="<q1@customer.test>", references="<q0@customer.test>")
    with Sink() as sink:
        outbox_to(sink.port)
        queued = reply(acme, email_id)
        assert sending.send_due()
        assert not sending.send_due()
    (taken,) = sink.ledger.messages
    message = email.message_from_bytes(taken.raw, policy=default)
    assert taken.recipients == ("ada@customer.test",)
    assert message["In-Reply-To"] == "<q1@customer.test>"
    assert message["References"] == "<q0@customer.test> <q1@customer.test>"
    assert message["Subject"] == "Re: Where is my order?"
    assert message["Auto-Submitted"] == "auto-replied"
    assert message["X-Auto-Response-Suppress"] == "All"
    assert message["X-Autonomous-Inbox-Hop"] == "1"
    assert own_entry(message["Message-ID"]) == queued.entry_id
    assert states(acme) == [("sent", "sent")]
    with in_workspace(acme.id):
        thread, entry = Thread.objects.get(), Entry.objects.get(id=queued.entry_id)
        assert thread.first_unanswered_inbound_at is None
        assert entry.response_time_seconds is not None
        assert OutboxEvent.objects.filter(slug="entry.sent").count() == 1


def test_the_customers_answer_to_our_reply_comes_back_into_the_thread(db, outbox_to):
    acme = house()
    email_id = one_mail(acme)
    with Sink() as sink:
        outbox_to(sink.port)
        queued = reply(acme, email_id)
        sending.send_due()
    own_id = sink.ledger.messages[0].message_id
    deliver(mail(text="Thanks!", in_reply_to=own_id))
    deliver(mail(sender="eve@elsewhere.test", text="Tell me more", in_reply_to=own_id))
    with in_workspace(acme.id):
        assert Thread.objects.count() == 2
        answer = Entry.objects.get(body_text__startswith="Thanks!")
        assert (answer.thread_decision["rule"], answer.in_reply_to_id) == ("signed_reply", queued.entry_id)


@pytest.mark.parametrize(
    ("script", "expected", "attempts"),
    [
        (Script(rcpt="550 no such user"), "failed", 1),
        (Script(rcpt="450 try later"), "failed", 3),
        (Script(data="451 try later"), "failed", 3),
        (Script(data="554 refused"), "failed", 1),
        (Script(data="cut"), "uncertain", 1),
    ],
)
def test_each_end_of_a_send(db, outbox_to, script, expected, attempts):
    acme = house()
    email_id = one_mail(acme)
    with ScriptedServer(script) as server:
        outbox_to(server.port)
        reply(acme, email_id)
        while sending.send_due():
            pass
    assert states(acme) == [(expected, expected)]
    assert len(script.accepted) <= 1
    with in_workspace(acme.id):
        assert OutboundMessage.objects.get().attempts == attempts
        assert OutboxEvent.objects.filter(slug=f"entry.{expected}").count() == 1
        # A refused answer is none: the customer waits again. An uncertain one may have arrived.
        assert (Thread.objects.get().first_unanswered_inbound_at is not None) == (expected == "failed")


def test_a_sender_that_dies_while_sending_leaves_an_uncertain_message(db, settings, outbox_to):
    acme = house()
    email_id = one_mail(acme)
    settings.SEND_LEASE_SECONDS = 0
    reply(acme, email_id)
    assert sending._claim() is not None
    with Sink() as sink:
        outbox_to(sink.port)
        while sending.send_due():
            pass
    assert states(acme) == [("uncertain", "uncertain")]
    assert sink.ledger.messages == []


def test_a_person_settles_an_uncertain_message_either_way(db, outbox_to):
    acme = house()
    first, second = one_mail(acme), one_mail(acme, sender="Bob <bob@customer.test>")
    with ScriptedServer(Script(data="cut")) as server:
        outbox_to(server.port)
        reply(acme, first)
        reply(acme, second, key="k2")
        while sending.send_due():
            pass
    with in_workspace(acme.id):
        arrived, again = OutboundMessage.objects.order_by("created_at")
    sending.settle(workspace_id=acme.id, outbound_message_id=arrived.id, accepted=True)
    sending.settle(workspace_id=acme.id, outbound_message_id=again.id, accepted=False)
    with Sink() as sink:
        outbox_to(sink.port)
        while sending.send_due():
            pass
    assert [message.message_id for message in sink.ledger.messages] == [again.message_id]
    assert states(acme) == [("sent", "sent"), ("sent", "sent")]


def test_the_same_key_is_one_reply_however_many_ask(db):
    acme = house()
    email_id = one_mail(acme)
    barrier = threading.Barrier(12)

    def ask() -> UUID:
        barrier.wait()
        try:
            return reply(acme, email_id).outbound_message_id
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as pool:
        ids = {future.result() for future in [pool.submit(ask) for _ in range(12)]}
    assert len(ids) == 1
    with in_workspace(acme.id):
        assert OutboundMessage.objects.count() == 1


def test_a_second_automatic_answer_in_a_day_is_held_and_a_persons_is_not(db):
    acme = house()
    first = one_mail(acme, message_id="<a@customer.test>")
    second = one_mail(acme, in_reply_to="<a@customer.test>", text="And?")
    reply(acme, first)
    with pytest.raises(AutoReplyHeld, match="thread"):
        reply(acme, second, key="k2")
    reply(acme, second, key="k3", automatic=False)
    with in_workspace(acme.id):
        assert OutboundMessage.objects.count() == 2


def test_the_cap_on_hops_holds_whatever_a_mail_was_taken_for(db, settings):
    """A mail with our mark is not to be answered already where mail is judged; this wall stands by itself."""
    acme, settings.MAX_HOPS = house(), 3
    near, far = (one_mail(acme, subject=hop, x_autonomous_inbox_hop=hop) for hop in ("2", "3"))
    reply(acme, near)
    with pytest.raises(AutoReplyHeld, match="hops"):
        reply(acme, far, key="k2")
    reply(acme, far, key="k3", automatic=False)


@pytest.mark.parametrize("cap", ["sender", "inbox", "workspace"])
def test_caps_hold_under_parallel_answers(db, settings, cap):
    acme = house()
    setattr(settings, f"AUTO_REPLY_{cap.upper()}_PER_HOUR", 3)
    senders = ["ada"] * 12 if cap == "sender" else [f"person{number}" for number in range(12)]
    emails = [one_mail(acme, sender=f"{name}@customer.test", subject=f"Q{n}") for n, name in enumerate(senders)]

    def ask(numbered: tuple[int, UUID]) -> str:
        try:
            reply(acme, numbered[1], key=f"k{numbered[0]}")
        except AutoReplyHeld as error:
            return error.held.cap
        finally:
            connection.close()
        return "queued"

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(ask, enumerate(emails))) == sorted(["queued"] * 3 + [cap] * 9)


def test_reply_to_another_domain_is_not_followed(db):
    acme = house()
    near = one_mail(acme, reply_to="Ada at home <ada.home@customer.test>")
    far = one_mail(acme, sender="Bob <bob@customer.test>", reply_to="evil@elsewhere.test")
    reply(acme, near)
    reply(acme, far, key="k2")
    with in_workspace(acme.id):
        recipients = [m.envelope_to for m in OutboundMessage.objects.order_by("created_at")]
    assert recipients == [["ada.home@customer.test"], ["bob@customer.test"]]


def test_a_mail_without_a_sender_cannot_be_answered(db):
    acme = house()
    raw = mail().replace(b"From: Ada <ada@customer.test>\r\n", b"")
    email_id = deliver(raw)[0].email_id
    with pytest.raises(NobodyToAnswer):
        reply(acme, email_id)


HOSTILE = [
    "Hi\r\nBcc: evil@elsewhere.test",
    "Hi\nX-Injected: 1",
    "Hi\x00\x0bthere",
    "Hi\u2028Bcc: evil@elsewhere.test",
    "\u202eevil",
    "=?utf-8?Q?a=0D=0ABcc:_evil@elsewhere.test?=",
    "é" * 3000,
]


@pytest.mark.parametrize("subject", HOSTILE)
def test_hostile_subjects_add_no_header_and_no_recipient(db, outbox_to, subject):
    acme = house()
    email_id = one_mail(acme)
    with in_workspace(acme.id):
        Email.objects.filter(id=email_id).update(
            subject=subject.replace("\x00", ""), from_name=subject.replace("\x00", "")
        )
    with Sink() as sink:
        outbox_to(sink.port)
        reply(acme, email_id)
        sending.send_due()
    (taken,) = sink.ledger.messages
    message = email.message_from_bytes(taken.raw, policy=default)
    assert taken.recipients == ("ada@customer.test",)
    assert not {"bcc", "x-injected"} & {name.lower() for name in message}
    assert len(message.get_all("Subject")) == 1
