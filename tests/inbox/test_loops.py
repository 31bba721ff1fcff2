"""Machines that answer machines: the loop ends, whatever headers the other side keeps or drops (FS-6, AG-2)."""

import re
from email import message_from_bytes
from email.policy import SMTP
from uuid import uuid4

import pytest

from agents.models import AgentRun
from config.demo.sink import Sink, Taken
from inbox.channels import composing
from inbox.channels.composing import Outgoing
from inbox.models import Email, Entry, Inbox, OutboundMessage, Thread
from inbox.services import inboxes, sending
from kernel import clock
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tests.agents.factories import drain, office, work
from tests.factories.world import deliver, mail

ROUNDS = 12
_MARKS = re.compile(rb"(?im)^(auto-submitted|x-auto-response-suppress|x-autonomous-inbox-hop|precedence):[^\n]*\n")


@pytest.fixture
def sink(db, settings):
    with Sink() as made:
        settings.MAIL_TRANSPORT, settings.MAIL_SMTP_HOST, settings.MAIL_SMTP_PORT = "smtp", "127.0.0.1", made.port
        settings.MAIL_SMTP_TLS = "none"
        yield made


def turn() -> None:
    """Everything that the workers would do."""
    drain()
    work()
    while sending.send_due():
        drain()
    drain()


def automatic_answers(place) -> int:
    with in_workspace(place.id):
        return OutboundMessage.objects.filter(is_automatic=True).count()


def dumb_answer(taken: Taken, *, subject: str, thread: bool) -> bytes:
    """A responder that knows no header, answers at once and, or not, keeps the conversation's references."""
    headers = {"in_reply_to": taken.message_id} if thread else {}
    return mail(
        sender="Bot <bot@customer.test>", subject=subject, text="Thank you for your message. " + uuid4().hex, **headers
    )


# What a mailbox writes into the envelope of mail that it forwards to its inbox here: itself.
FORWARDING = {
    "gmail": "support+caf_=in=acme.test@acme.test",
    "microsoft 365": "support+SRS=Xy1Zq=CB=customer.test=ada@acme.test",
    "a plain forward": "support@acme.test",
    "an alias": "help@acme.test",
    "an alias by gmail": "help+caf_=in=acme.test@acme.test",
}


@pytest.mark.parametrize("path", ["bot@customer.test", FORWARDING["gmail"]], ids=["directly", "forwarded"])
@pytest.mark.parametrize("thread", [True, False], ids=["in the thread", "each time a new thread"])
def test_a_responder_without_any_header_gets_few_answers(sink, settings, thread, path):
    acme = office(provider="local")
    settings.AUTO_REPLY_SENDER_PER_HOUR = 5
    deliver(mail(sender="Bot <bot@customer.test>", text="What are your opening hours on Saturday?"))
    turn()
    seen = 0
    for number in range(ROUNDS):
        fresh, seen = sink.ledger.messages[seen:], len(sink.ledger.messages)
        for taken in fresh or sink.ledger.messages[-1:]:
            text = "What are your opening hours on Saturday?"
            raw = dumb_answer(taken, subject=f"Question {number}", thread=thread)
            deliver(raw.replace(b"Thank you for your message.", text.encode()), envelope_from=path)
        turn()
    most = 1 if thread else 5
    assert 1 <= automatic_answers(acme) <= most
    with in_workspace(acme.id):
        assert OutboxEvent.objects.filter(slug="inbox.loop_suspected").count() > 0
        assert Entry.objects.filter(direction="inbound").count() == ROUNDS + 1
        # Whoever is held back waits for a person, in sight.
        assert Thread.objects.filter(first_unanswered_inbound_at__isnull=False).exists()


@pytest.mark.parametrize("strip", [False, True], ids=["headers kept", "headers stripped by a gateway"])
@pytest.mark.parametrize("rename", [False, True], ids=["ids kept", "message ids rewritten"])
def test_two_inboxes_aimed_at_each_other_stop(sink, strip, rename):
    acme, globex = office("acme", provider="local"), office("globex", provider="local")
    places = {"support@acme.test": acme, "support@globex.test": globex}
    first = mail(sender="support@globex.test", to="support@acme.test", text="What are your opening hours on Saturday?")
    deliver(first, "support@acme.test", envelope_from="support@globex.test")
    turn()
    seen = 0
    for _ in range(ROUNDS):
        fresh, seen = sink.ledger.messages[seen:], len(sink.ledger.messages)
        for taken in fresh:
            raw = _MARKS.sub(b"", taken.raw) if strip else taken.raw
            if rename:
                raw = re.sub(rb"(?im)^message-id:[^\n]*", f"Message-ID: <{uuid4().hex}@gw.test>".encode(), raw)
            for recipient in taken.recipients:
                deliver(raw, recipient, envelope_from="support@acme.test")
        turn()
        if not fresh:
            break
    assert sum(map(automatic_answers, places.values())) <= 1
    with in_workspace(globex.id):
        # From is an address of ours: never a customer, never answered.
        assert not AgentRun.objects.exists()


MACHINES = {
    "auto-submitted": {"auto_submitted": "auto-generated"},
    "auto-submitted with a comment": {"auto_submitted": "auto-replied (vacation)"},
    "auto-submitted unknown": {"auto_submitted": "Auto-Whatever; x=1"},
    "precedence bulk": {"precedence": "bulk"},
    "precedence junk": {"precedence": "junk"},
    "list id": {"list_id": "<news.example.test>"},
    "list unsubscribe": {"list_unsubscribe": "<https://example.test/u>"},
    "x-autoreply": {"x_autoreply": "yes"},
    "x-loop": {"x_loop": "other@example.test"},
    "no-reply sender": {"sender": "noreply@customer.test"},
    "mailer-daemon": {"sender": "MAILER-DAEMON@customer.test"},
    "own address": {"sender": "support@acme.test"},
    "oof subject": {"subject": "Automatic reply: hello"},
    "suppress all": {"x_auto_response_suppress": "All"},
}


@pytest.mark.parametrize("fields", MACHINES.values(), ids=MACHINES)
def test_machine_mail_is_shown_and_never_answered(sink, fields):
    acme = office(provider="local")
    deliver(mail(**({"text": "What are your opening hours on Saturday?"} | fields)))
    turn()
    assert sink.ledger.messages == []
    with in_workspace(acme.id):
        assert Entry.objects.count() == 1


def test_a_null_return_path_is_never_answered(sink):
    acme = office(provider="local")
    deliver(mail(text="What are your opening hours on Saturday?"), envelope_from="")
    turn()
    assert sink.ledger.messages == []
    assert automatic_answers(acme) == 0


def of_another_installation(*, automatic: bool, in_reply_to: str) -> bytes:
    """An answer as this product writes it, elsewhere."""
    return composing.compose(
        Outgoing(
            from_name="Bo",
            from_address="bo@partner.test",
            to=[("Support", "support@acme.test")],
            subject="Re: Your order",
            text="What are your opening hours on Saturday?",
            message_id=f"<{uuid4().hex}.{'0' * 24}@partner.test>",
            date=clock.now(),
            in_reply_to=in_reply_to.strip("<>"),
            automatic=automatic,
        )
    )


@pytest.mark.parametrize(
    ("writer", "kind", "opens", "answers"),
    [("person", "human", True, 1), ("machine", "auto_reply", False, 0), ("only the mark is left", "human", True, 0)],
)
def test_answers_of_another_installation_are_a_persons_or_a_machines(sink, writer, kind, opens, answers):
    """A person there is a person here: read, in a conversation that opens again, and answered."""
    acme = office(provider="local")
    first = "<first@partner.test>"
    deliver(mail(sender="Bo <bo@partner.test>", message_id=first, auto_submitted="auto-generated"))
    with in_workspace(acme.id):
        Thread.objects.update(status="closed")
    raw = of_another_installation(automatic=writer != "person", in_reply_to=first)
    if writer == "only the mark is left":
        raw = re.sub(rb"(?im)^(auto-submitted|x-auto-response-suppress):[^\n]*\n", b"", raw)
    deliver(raw, envelope_from="bo@partner.test")
    with in_workspace(acme.id):
        assert Email.objects.order_by("received_at").values_list("mail_class", flat=True)[1] == kind
        assert (Thread.objects.get().status == "open") is opens
    turn()
    assert automatic_answers(acme) == answers


@pytest.mark.parametrize("path", FORWARDING.values(), ids=FORWARDING)
def test_mail_that_our_own_mailbox_forwards_is_the_customers(sink, path):
    """And nobody else's: what it forwards of our own is known by its sender, and by our token where that is rewritten."""
    acme = office(provider="local")
    with in_workspace(acme.id):
        inbox_id = Inbox.objects.get().id
    inboxes.change(workspace_id=acme.id, inbox_id=inbox_id, changes={"aliases": ["help@acme.test"]})
    question = "What are your opening hours on Saturday?"
    deliver(mail(text=question), envelope_from=path)
    turn()
    (taken,) = sink.ledger.messages
    assert taken.recipients == ("ada@customer.test",)
    deliver(taken.raw, envelope_from=path)
    deliver(mail(sender="Support <help@acme.test>", text=question), envelope_from=path)
    deliver(mail(sender="Relay <relay@gw.test>", text=question, message_id=taken.message_id), envelope_from=path)
    turn()
    assert len(sink.ledger.messages) == 1
    with in_workspace(acme.id):
        found = Email.objects.order_by("received_at").values_list("mail_class", "state")
        assert list(found) == [("human", "handled"), *[("self", "ignored")] * 3]


def test_a_person_is_answered(sink):
    """The counterpart: the same mail without any mark of a machine."""
    acme = office(provider="local")
    deliver(mail(text="What are your opening hours on Saturday?"))
    turn()
    (taken,) = sink.ledger.messages
    assert "10" in message_from_bytes(taken.raw, policy=SMTP).get_content()
    assert automatic_answers(acme) == 1


def test_hops_end_a_chain_of_installations(sink, settings):
    office(provider="local")
    settings.MAX_HOPS = 3
    deliver(mail(text="What are your opening hours on Saturday?", x_autonomous_inbox_hop="7"))
    turn()
    assert sink.ledger.messages == []
