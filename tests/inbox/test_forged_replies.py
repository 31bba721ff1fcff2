"""Forged answers (C3): a stranger in a member's or an agent's name, with a real, broken or borrowed reference, never gets
into a conversation, and nothing of a conversation changes by it."""

from uuid import uuid4

import pytest

from config.demo.sink import Sink
from inbox import tokens
from inbox.models import Email, Entry, OutboundMessage, Thread, ThreadParticipant
from inbox.services import accepting, ingesting, sending, writing
from kernel.context import Actor
from kernel.transactions import in_workspace
from tests.factories.world import deliver, house, mail

PAT = Actor(kind="user", id="7", label="Pat")
EVE = "eve@elsewhere.test"


@pytest.fixture
def case(db, settings):
    """A conversation of Ada's with an answer of ours, which has left; and one of another workspace's."""
    place, other = house(), house("globex")
    found = {}
    for owner, sender in ((place, "Ada <ada@customer.test>"), (other, "Bob <bob@customer.test>")):
        (first,) = deliver(
            mail(sender=sender, to=owner.inbox.address, message_id=f"<q-{owner.workspace.name}@customer.test>"),
            owner.inbox.address,
        )
        queued = writing.reply(workspace_id=owner.id, email_id=first.email_id, text="Soon.", key="k", author=PAT)
        with in_workspace(owner.id):
            found[owner.id] = (queued.entry_id, OutboundMessage.objects.get().message_id)
    with Sink() as sink:
        settings.MAIL_SMTP_HOST, settings.MAIL_SMTP_PORT, settings.MAIL_SMTP_TLS = "127.0.0.1", sink.port, "none"
        while sending.send_due():
            pass
    return place, other, *found[place.id], found[other.id][1]


def broken(message_id: str) -> dict[str, str]:
    """Our Message-ID, not quite."""
    local, _, domain = message_id.strip("<>").partition("@")
    entry, _, token = local.partition(".")
    return {
        "wrong token": f"<{entry}.{'0' * 24}@{domain}>",
        "half a token": f"<{entry}.{token[:12]}@{domain}>",
        "no token": f"<{entry}@{domain}>",
        "a token of another entry": f"<{uuid4().hex}.{token}@{domain}>",
        "token in capitals": f"<{entry}.{token.upper()}@{domain}>",
        "one letter more": f"<{entry}.{token}0@{domain}>",
        "one letter changed": f"<{entry}.{token[:-1]}{'0' if token[-1] != '0' else '1'}@{domain}>",
        "no brackets": f"{entry}.{token}@{domain}",
        "another domain": f"<{entry}.{token}@evil.test>",
    }


def forgeries(ours: str, theirs: str) -> dict[str, dict[str, str]]:
    """Each from somebody who took no part, whoever they say to be."""
    names = {
        "a plain stranger": f"Eve <{EVE}>",
        "in the agent's name": f"Acme Support <{EVE}>",
        "in a member's name": f"Pat <{EVE}>",
        "as the customer by name": f'"Ada ada@customer.test" <{EVE}>',
        "with the customer's address as a comment": f"{EVE} (ada@customer.test)",
        "with the inbox's address as a name": f'"support@acme.test" <{EVE}>',
        "a subdomain of the customer's": "Ada <ada@mail.customer.test>",
        "a look-alike": "Ada <аda@customer.test>",
        "the customer with a tag": "Ada <ada+x@customer.test>",
        "with two addresses": f"Eve <{EVE}>, Ada <ada@customer.test>",
    }
    found = {f"{who}, a real token": {"sender": sender, "in_reply_to": ours} for who, sender in names.items()}
    found |= {f"{who}, by references": {"sender": sender, "references": ours} for who, sender in names.items()}
    found |= {
        f"{what} in {field}": {"sender": f"Eve <{EVE}>", field: value}
        for what, value in broken(ours).items()
        for field in ("in_reply_to", "references")
    }
    found |= {
        "another workspace's token": {"sender": "Ada <ada@customer.test>", "in_reply_to": theirs},
        "another workspace's token, its customer": {"sender": "Bob <bob@customer.test>", "in_reply_to": theirs},
        "the customer's own id, a stranger": {"sender": f"Eve <{EVE}>", "in_reply_to": "<q-Acme@customer.test>"},
        "a ticket number in the subject": {"sender": f"Eve <{EVE}>", "subject": "Re: [#1] Where is my order?"},
        "the same subject": {"sender": f"Eve <{EVE}>", "subject": "Re: Where is my order?"},
        "many references": {"sender": f"Eve <{EVE}>", "references": " ".join([ours] * 40)},
    }
    return found


def test_no_forged_answer_enters_a_conversation(case, cases):
    place, other, _entry, ours, theirs = case
    with in_workspace(place.id):
        before = list(Thread.objects.order_by("id").values())
        taking_part = set(ThreadParticipant.objects.values_list("thread_id", "address"))
    tries = forgeries(ours, theirs)
    assert len(tries) >= 40
    for name, fields in tries.items():
        (accepted,) = deliver(mail(text=f"Change my address! {uuid4()}", **fields))
        with in_workspace(place.id):
            email = Email.objects.select_related("entry").get(id=accepted.email_id)
            entry = email.entry
            assert entry.direction == "inbound", name
            assert entry.author_kind == "contact", name
            assert entry.thread_id not in {row["id"] for row in before}, (name, entry.thread_decision)
    with in_workspace(place.id):
        assert list(Thread.objects.filter(id__in=[row["id"] for row in before]).order_by("id").values()) == before
        now = set(
            ThreadParticipant.objects.filter(thread_id__in=[row["id"] for row in before]).values_list(
                "thread_id", "address"
            )
        )
        assert now == taking_part
        assert OutboundMessage.objects.count() == 1
    with in_workspace(other.id):
        assert Entry.objects.count() == 2
    cases("C3", len(tries))


def test_the_customer_comes_back_into_the_conversation(case):
    """The counterpart: whoever took part is let in, by token and without."""
    place, _, entry_id, ours, _ = case
    deliver(mail(text="Thanks!", in_reply_to=ours))
    deliver(mail(text="Thanks again!", in_reply_to="<q-Acme@customer.test>"))
    with in_workspace(place.id):
        (first, second) = Entry.objects.filter(body_text__startswith="Thanks").order_by("seq")
        assert (first.thread_decision["rule"], first.in_reply_to_id) == ("signed_reply", entry_id)
        assert second.thread_id == first.thread_id


def test_our_own_addresses_are_never_a_customer(case, cases):
    """From an inbox of ours, of whatever workspace: shown as such, answered by nobody, a contact of nobody."""
    from contacts.models import ContactProfile

    place, _, _, ours, _ = case
    with in_workspace(place.id):
        before = ContactProfile.objects.count()
    for sender in ("support@acme.test", "Support@ACME.test", "support+x@acme.test", "support@globex.test"):
        (accepted,) = deliver(mail(sender=sender, text=f"Do it! {uuid4()}", in_reply_to=ours))
        with in_workspace(place.id):
            email = Email.objects.get(id=accepted.email_id)
            assert (email.state, email.mail_class, email.may_auto_answer) == ("ignored", "self", False), sender
    with in_workspace(place.id):
        assert ContactProfile.objects.count() == before
    cases("C3", 4)


@pytest.mark.parametrize("verdict", ["FAIL", "fail"])
def test_a_mail_that_fails_dmarc_is_marked_and_an_agent_asks_a_person(db, verdict, cases):
    from tests.agents import factories as agents

    place = agents.office(autonomy="autonomous")
    agents.play()
    email = agents.receive(place, verdicts={"dmarc": verdict, "spf": "PASS"})
    agents.work()
    found = agents.case(email)
    assert found.execution.status == "waiting_approval"
    assert "DMARC" in found.approval.reason
    with in_workspace(place.id):
        assert not OutboundMessage.objects.exists()
    cases("C3", 1)


def test_a_message_id_of_ours_that_comes_back_as_a_mails_own_id_starts_nothing(case, cases):
    """A looped or stolen mail under our own Message-ID is no second copy of it, and no answer."""
    place, _, entry_id, ours, _ = case
    accepted = accepting.accept(
        source="ses", provider_message_id="loop", raw=mail(message_id=ours, sender=f"Eve <{EVE}>"),
        recipients=["support@acme.test"], envelope_from=EVE,
    )  # fmt: skip
    ingesting.process_all()
    with in_workspace(place.id):
        email = Email.objects.select_related("entry").get(id=accepted[0].email_id)
        assert not email.may_auto_answer
        assert email.entry.thread_id != Entry.objects.get(id=entry_id).thread_id
    assert tokens.own_entry(ours) == entry_id
    cases("C3", 1)
