"""What a stranger wrote adds no header and no recipient to what we send (C12), and what belongs there comes back (B5)."""

import email
import re
from email.policy import default
from uuid import uuid4

import pytest

from config.demo.sink import Sink
from inbox.channels import composing
from inbox.channels.composing import Outgoing
from inbox.mime.parsing import parse
from inbox.models import Email, Inbox
from inbox.services import sending, writing
from inbox.tokens import message_id, own_entry
from kernel import clock
from kernel.context import Actor
from kernel.transactions import in_workspace
from tests.factories.world import deliver, house, mail

PAT = Actor(kind="user", id="7", label="Pat")
EVIL = "evil@elsewhere.test"

HOSTILE = [
    f"Hi\r\nBcc: {EVIL}", f"Hi\nBcc: {EVIL}", f"Hi\rBcc: {EVIL}", f"Hi\r\n\r\nBcc: {EVIL}", "Hi\n\n<script>alert(1)</script>",
    f"Hi\r\n Bcc: {EVIL}", f"Hi\r\n\tBcc: {EVIL}", f"Hi\x0bBcc: {EVIL}", f"Hi\x0cBcc: {EVIL}", f"Hi\x85Bcc: {EVIL}",
    f"Hi\u2028Bcc: {EVIL}", f"Hi\u2029Bcc: {EVIL}", f"Hi\x1cBcc: {EVIL}", f"Hi\x1eBcc: {EVIL}", f"Hi%0d%0aBcc: {EVIL}", f"Hi%0aBcc:{EVIL}",
    f"Hi\\r\\nBcc: {EVIL}", f"=?utf-8?Q?a=0D=0ABcc:_{EVIL}?=", "=?utf-8?B?DQpCY2M6IGV2aWxAZWxzZXdoZXJlLnRlc3Q=?=",
    f"=?utf-8?q?=0a?=\r\n =?utf-8?q?Bcc:?= {EVIL}", f"{EVIL}, ada", f"ada <{EVIL}>", f"<{EVIL}>", f"\"ada\" <{EVIL}>,", f"ada; {EVIL}",
    f"ada>, <{EVIL}", "undisclosed: a@b.test, c@d.test;", "x\u0000y", "\u202egnp.exe", "\u2066a\u2069b", "\ufeffHi", "a\u200bb",
    "é" * 3000, "x" * 10_000, "word " * 2_000, "(" * 500, "\"" * 500, "\\" * 500, "=?" * 300, ":" * 50, "--boundary", ".\r\n.\r\nQUIT",
    "Content-Type: text/html", "X-Autonomous-Inbox-Hop: 0", "Auto-Submitted: no", "🧨" * 100, "日本語" * 100, "",
]  # fmt: skip

ALLOWED = {
    "message-id", "from", "to", "subject", "date", "in-reply-to", "references", "auto-submitted", "x-auto-response-suppress",
    "x-autonomous-inbox-hop", "content-type", "content-transfer-encoding", "mime-version",
}  # fmt: skip


@pytest.fixture
def sink(db, settings):
    with Sink() as made:
        settings.MAIL_TRANSPORT, settings.MAIL_SMTP_HOST, settings.MAIL_SMTP_PORT = "smtp", "127.0.0.1", made.port
        settings.MAIL_SMTP_TLS = "none"
        yield made


def test_hostile_subjects_names_and_ids_add_nothing(sink, cases):
    """Subject, the sender's name, the inbox's own name, Message-ID and References, all at once, through the real transport."""
    place = house()
    for number, text in enumerate(HOSTILE):
        clean = text.replace("\x00", "")
        (accepted,) = deliver(mail(sender=f"p{number}@customer.test"))
        with in_workspace(place.id):
            # Straight into the rows, past every cleaning of what comes in.
            Email.objects.filter(id=accepted.email_id).update(
                subject=clean, from_name=clean, rfc_message_id=clean, references=[clean, "ok@customer.test", clean],
            )  # fmt: skip
            Inbox.objects.filter(id=place.inbox.id).update(name=clean[:200])
        writing.reply(
            workspace_id=place.id,
            email_id=accepted.email_id,
            text=f"Soon.\n\nBcc: {EVIL}\n{clean}.",
            key=str(number),
            author=PAT,
        )
        while sending.send_due():
            pass
    assert len(sink.ledger.messages) == len(HOSTILE)
    for number, taken in enumerate(sink.ledger.messages):
        assert taken.recipients == (f"p{number}@customer.test",)
        message = email.message_from_bytes(taken.raw, policy=default)
        assert {name.lower() for name in message} <= ALLOWED, (HOSTILE[number], list(message))
        for name in ("Subject", "From", "To", "Message-ID", "Date"):
            assert len(message.get_all(name)) == 1, name
        assert [a.addr_spec for a in message["To"].addresses] == [f"p{number}@customer.test"]
        assert [a.addr_spec for a in message["From"].addresses] == ["support@acme.test"]
        head = taken.raw.partition(b"\r\n\r\n")[0]
        assert all(len(line) <= 998 for line in head.split(b"\r\n"))
        assert head.isascii()
        shown = str(message["Subject"]) + str(message["From"]) + str(message["To"])
        assert not set(shown) & set("\r\n\x00\x0b\x0c\x85\u2028\u2029\u202e\u2066\ufeff"), HOSTILE[number]
        assert own_entry(message["Message-ID"])
    cases("C12", len(HOSTILE))


SUBJECTS = [
    "Where is my order?", "Grüße aus Köln", "注文について", "مرحبا بالعالم", "שלום עולם", "🧾 Rechnung 4711 🧾", "Ünïcödé " * 20,
    "x" * 300, "a b " * 60, "ÅÄÖ=?=", "100% sicher", "Re: inside", "[ticket #1] help", "tab and space", "quote \" and ' and \\", "<html>",
    "emoji 👨‍👩‍👧‍👦 family", "e\u0301 composed", "mixed עברית and English", "a" * 77, "ж" * 75, "終", "…", "₤€¥", "x = y; z",
]  # fmt: skip
IDS = [
    "a@b.test", "CAF+x=1.2@mail.gmail.com", "20261105.abc-def_ghi@host.example", "x" * 200 + "@long.test", "1@[10.0.0.1]", "$a!b#c@d.test",
    "a.b.c.d.e@f", "UPPER@CASE.TEST",
]  # fmt: skip


def composed(number: int) -> Outgoing:
    """One of many replies: subjects of every script, ids of every kind, chains of every length."""
    chain = [f"{place}.{IDS[(number + place) % len(IDS)]}" for place in range(number % 18)]
    entry = uuid4()
    return Outgoing(
        from_name=SUBJECTS[(number * 7) % len(SUBJECTS)][:60],
        from_address="support@acme.test",
        to=[(SUBJECTS[(number * 3) % len(SUBJECTS)][:60], "ada@customer.test")],
        subject=SUBJECTS[number % len(SUBJECTS)],
        text="Hello,\nfirst line.\n\n> quoted\n",
        message_id=message_id(entry, domain="acme.test"),
        date=clock.now(),
        in_reply_to=IDS[number % len(IDS)],
        references=chain,
        automatic=bool(number % 2),
    )


def test_what_we_write_is_read_as_it_was_meant(cases):
    """By our own reader and by the standard library's."""
    for number in range(210):
        meant = composed(number)
        raw = composing.compose(meant)
        read, other = parse(raw), email.message_from_bytes(raw, policy=default)
        expected = composing.header_text(meant.subject)
        assert read.subject == expected, meant.subject
        assert " ".join(str(other["Subject"]).split()) == " ".join(expected.split())
        wanted = [*dict.fromkeys([*meant.references, meant.in_reply_to])]
        assert read.references == wanted, number
        assert read.in_reply_to == [meant.in_reply_to]
        assert f"<{read.message_id}>" == meant.message_id
        assert own_entry(f"<{read.message_id}>") is not None
        assert re.findall(r"<([^>]+)>", str(other["References"])) == wanted
        assert (read.from_.address, [a.address for a in read.to]) == ("support@acme.test", ["ada@customer.test"])
        assert read.from_.name == composing.header_text(meant.from_name)
        assert {name.lower() for name, _ in read.headers} <= ALLOWED
        marks = ("auto-submitted", "x-auto-response-suppress", "x-autonomous-inbox-hop")
        # All of them on a machine's answer, and none on a person's.
        assert [read.header(name) is not None for name in marks] == [meant.automatic] * 3
        assert read.text.strip() == meant.text.strip()
    cases("B5", 210)


def test_a_long_chain_keeps_its_first_and_its_last(cases):
    chain = [f"{number}@customer.test" for number in range(60)]
    mail_ = composed(0)
    raw = composing.compose(Outgoing(**{**mail_.__dict__, "references": chain, "in_reply_to": chain[-1]}))
    read = parse(raw)
    assert read.references[0] == chain[0]
    assert read.references[-1] == chain[-1]
    assert len(read.references) == 20
    cases("B5", 1)


@pytest.mark.parametrize("where", ["sender", "inbox"])
def test_an_address_that_needs_another_mail_protocol_is_refused_before_anything_is_queued(db, where):
    from inbox.models import OutboundMessage
    from inbox.services.replying import NobodyToAnswer

    place = house(address="büro@acme.test" if where == "inbox" else "")
    raw = mail().replace(
        b"ada@customer.test", "jürgen@customer.test".encode() if where == "sender" else b"ada@customer.test"
    )
    (accepted,) = deliver(raw, place.inbox.address)
    with pytest.raises(NobodyToAnswer):
        writing.reply(workspace_id=place.id, email_id=accepted.email_id, text="Soon.", key="k", author=PAT)
    with in_workspace(place.id):
        assert not OutboundMessage.objects.exists()


def test_an_international_domain_is_written_in_its_ascii_form(sink):
    place = house()
    (accepted,) = deliver(mail(sender="Ada <ada@xn--mnchen-3ya.test>"))
    with in_workspace(place.id):
        Email.objects.filter(id=accepted.email_id).update(from_address="ada@münchen.test")
    writing.reply(workspace_id=place.id, email_id=accepted.email_id, text="Soon.", key="k", author=PAT)
    while sending.send_due():
        pass
    (taken,) = sink.ledger.messages
    assert taken.recipients == ("ada@xn--mnchen-3ya.test",)
    assert b"To: Ada <ada@xn--mnchen-3ya.test>" in taken.raw


@pytest.mark.parametrize(
    "prefix",
    [
        "Re:",
        "AW:",
        "RES:",
        "R:",
        "回复:",
        "回复：",
        "回覆:",
        "Ynt:",
        "ΑΠ:",
        "Vá:",
        "Odp.:",
        "HA:",
        "답장:",
        "RE[2]:",
        "Re(3):",
    ],
)
@pytest.mark.parametrize("before", ["", "[EXT] ", "[EXTERNAL] Re: "])
def test_a_subject_collects_no_marks_of_an_answer(prefix: str, before: str) -> None:
    assert composing.reply_subject(f"{before}{prefix} Invoice 7") == "Re: Invoice 7"


@pytest.mark.parametrize("subject", ["Fwd: Invoice 7", "[Ticket 7] Invoice", "Result: 7", "R 7: broken", "Hat: 7"])
def test_what_says_what_a_mail_is_stays(subject: str) -> None:
    assert composing.reply_subject(subject) == f"Re: {subject}"
