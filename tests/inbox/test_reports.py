"""Delivery reports that came as mail: they are news of the entry that they concern, and a forged one is none (IS-4)."""

from typing import Any
from uuid import uuid4

import pytest

from contacts.models import SuppressionEntry
from inbox.models import Entry, EntryDeliveryEvent, EntryRecipient, OutboundMessage, Thread
from inbox.services import ingesting
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tests.factories.world import deliver, house
from tests.inbox.news import ADA, again, drain, write
from tests.inbox.rows import row_hash
from webhooks.models import ProviderEvent

HEAD = (
    "From: MAILER-DAEMON@mx.customer.test\r\nTo: support@acme.test\r\nSubject: Undelivered Mail Returned to Sender\r\n"
)


def written(place, **options: Any) -> OutboundMessage:
    """An answer that has left."""
    message = write(place, **options)
    with in_workspace(place.id):
        OutboundMessage.objects.filter(id=message.id).update(state="sent")
        Entry.objects.filter(id=message.entry_id).update(delivery_state="sent")
    return again(message)


def dsn(message_id: str, who: str = ADA, *, action: str = "failed", status: str = "5.1.1", said: str = "") -> bytes:
    """A report of RFC 3464."""
    lines = [f"Final-Recipient: rfc822; {who}", f"Action: {action}", f"Status: {status}"]
    if said:
        lines.append(f"Diagnostic-Code: smtp; {said}")
    return (
        HEAD + f"Message-ID: <{uuid4().hex}@mx.customer.test>\r\n"
        'MIME-Version: 1.0\r\nContent-Type: multipart/report; report-type=delivery-status; boundary="b"\r\n\r\n'
        "--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n"
        "--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.customer.test\r\n\r\n"
        + "\r\n".join(lines)
        + f"\r\n--b\r\nContent-Type: text/rfc822-headers\r\n\r\nFrom: support@acme.test\r\nMessage-ID: {message_id}\r\n"
        "--b--\r\n"
    ).encode()


def told(place) -> list[str]:
    with in_workspace(place.id):
        rows = OutboxEvent.objects.filter(slug__in=["entry.bounced", "entry.delayed", "entry.delivered"])
        return [row.slug for row in rows.order_by("id")]


KINDS = {
    "gone for good": ({}, "bounced", True, ["entry.bounced"]),
    "no such domain": ({"status": "5.1.2"}, "bounced", True, ["entry.bounced"]),
    "disabled": ({"status": "5.2.1"}, "bounced", True, ["entry.bounced"]),
    "mailbox full": ({"status": "5.2.2"}, "soft_bounced", False, ["entry.bounced"]),
    "too large": ({"status": "5.3.4"}, "soft_bounced", False, ["entry.bounced"]),
    "a policy": ({"status": "5.7.1"}, "soft_bounced", False, ["entry.bounced"]),
    "given up after tries": ({"status": "4.4.7"}, "soft_bounced", False, ["entry.bounced"]),
    "delayed": ({"action": "delayed", "status": "4.4.1"}, "delayed", False, ["entry.delayed"]),
    "delivered": ({"action": "delivered", "status": "2.0.0"}, "delivered", False, ["entry.delivered"]),
    "relayed": ({"action": "relayed", "status": "2.0.0"}, "sent", False, []),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_is_news_of_its_entry(db, cases, kind):
    """Hard ones suppress, others do not; the report lies beside the message, opens no turn and makes no conversation."""
    options, state, suppressed, slugs = KINDS[kind]
    place = house()
    message = written(place)
    deliver(dsn(message.message_id, **options), envelope_from="")
    drain()
    assert again(message.entry).delivery_state == state
    assert told(place) == slugs
    with in_workspace(place.id):
        assert SuppressionEntry.objects.filter(value=ADA).exists() == suppressed
        thread = Thread.objects.get()
        report = Entry.objects.order_by("seq").last()
        assert (report.mail_class, report.thread_id, report.in_reply_to_id) == (
            "bounce", message.entry.thread_id, message.entry_id,
        )  # fmt: skip
        assert report.thread_decision["rule"] == "delivery_report"
        assert (thread.status, thread.first_unanswered_inbound_at) == ("open", None)
        assert EntryDeliveryEvent.objects.filter(entry=message.entry).exclude(kind="sent").count() == len(slugs)
    cases("IS-4", 1)


def forms(message: OutboundMessage) -> dict[str, bytes]:
    """The same fact as others write it."""
    name = message.message_id
    copy = f"--- Below this line is a copy of the message.\r\n\r\nMessage-ID: {name}\r\n"
    return {
        "exim": f"{HEAD}X-Failed-Recipients: {ADA}\r\nIn-Reply-To: {name}\r\n\r\n550 5.1.1 unknown user\r\n".encode(),
        "qmail": (
            f"{HEAD}\r\nHi. This is the qmail-send program at mx.customer.test.\r\n"
            "I'm afraid I wasn't able to deliver your message to the following addresses.\r\n"
            "This is a permanent error; I've given up. Sorry it didn't work out.\r\n\r\n"
            f"<{ADA}>:\r\n192.0.2.7 does not like recipient. Remote host said: 550 No such user\r\n\r\n{copy}"
        ).encode(),
        "german words": (
            f"{HEAD}\r\nIhre Nachricht ist unzustellbar:\r\n\r\n  {ADA}\r\n    550 5.1.1 Unbekannt\r\n\r\n{copy}"
        ).encode(),
        "original recipient": dsn(name, "ada@forwarded.test").replace(
            b"Final-Recipient", f"Original-Recipient: rfc822; {ADA}\r\nFinal-Recipient".encode()
        ),
        "upper case": dsn(name, ADA.upper()),
        "names no daemon": dsn(name).replace(b"MAILER-DAEMON@", b"postmaster@"),
    }


def test_a_report_of_where_the_recipient_forwards_to_is_the_recipients(db, cases):
    """Exim names the address behind, which we never wrote to; the signed id says which message it was."""
    place = house()
    message = written(place)
    raw = dsn(message.message_id, "ada.private@mailbox.test", said="550 5.1.1 no such user")
    failed = b"X-Failed-Recipients: ada.private@mailbox.test\r\nMIME-Version"
    raw = raw.replace(b"Sorry.", f"ada.private@mailbox.test\r\n  (generated from {ADA})".encode())
    deliver(raw.replace(b"MIME-Version", failed), envelope_from="")
    drain()
    assert again(message.entry).delivery_state == "bounced"
    with in_workspace(place.id):
        assert Thread.objects.count() == 1
        assert set(EntryRecipient.objects.values_list("address", flat=True)) == {ADA}
    cases("IS-4", 1)


def test_the_forms_before_the_rfc_are_read_too(db, cases):
    place = house()
    found = {}
    for form in forms(written(place)):
        with in_workspace(place.id):
            SuppressionEntry.objects.all().delete()
        message = written(place, to=ADA)
        deliver(forms(message)[form], envelope_from="")
        drain()
        found[form] = again(message.entry).delivery_state
    assert set(found.values()) == {"bounced"}, found
    cases("IS-4", len(found))


def test_a_forged_report_changes_nothing(db, cases):
    """For a message that we never sent, or to somebody whom it never went to, or under a broken signature."""
    place, other = house("acme"), house("globex")
    message, foreign = written(place), written(other)
    several = written(place)
    with in_workspace(place.id):
        OutboundMessage.objects.filter(id=several.id).update(envelope_to=[ADA, "cleo@customer.test"])
    name = message.message_id
    head, _, domain = name.partition("@")
    forged = {
        "never sent": dsn("<made-up@acme.test>"),
        "no id": dsn(""),
        "went to several, and not there": dsn(several.message_id, "bob@customer.test"),
        "wrong signature": dsn(f"{head[:-4]}0000@{domain}"),
        "cut off": dsn(f"{head[:-6]}@{domain}"),
        "an entry that is none": dsn(f"<{uuid4().hex}.{head.partition('.')[2]}@{domain}"),
        "of another workspace": dsn(foreign.message_id),
        "a mail that came in": dsn("<somebody@customer.test>"),
        "complaint about somebody else": dsn(name, "eve@customer.test").replace(b"delivery-status", b"feedback-report"),
    }
    before = {one.id: row_hash(one.id) for one in (place, other)}
    with in_workspace(place.id):
        entries = set(Entry.objects.values_list("id", flat=True))
    for label, raw in forged.items():
        deliver(raw, envelope_from="")
        drain()
        with in_workspace(place.id):
            late = Entry.objects.exclude(id__in=entries).get()
            assert late.mail_class == "bounce", label
            # A thing of its own, in sight, that nothing follows from.
            assert late.thread_decision["rule"] == "new", label
            assert late.contact_id is None
            entries.add(late.id)
            assert not SuppressionEntry.objects.exists(), label
            assert not EntryRecipient.objects.exists(), label
            assert not ProviderEvent.objects.exists(), label
        assert again(message.entry).delivery_state == "sent", label
    assert row_hash(other.id) == before[other.id]
    cases("IS-4", len(forged))


def test_a_report_about_several_tells_of_each_and_twice_is_once(db):
    place = house()
    message = written(place)
    bob = "bob@customer.test"
    with in_workspace(place.id):
        OutboundMessage.objects.filter(id=message.id).update(envelope_to=[ADA, bob])
    raw = dsn(message.message_id).replace(
        b"\r\n--b\r\nContent-Type: text/rfc822-headers",
        f"\r\n\r\nFinal-Recipient: rfc822; {bob}\r\nAction: delayed\r\nStatus: 4.4.1\r\n\r\n"
        "Final-Recipient: rfc822; eve@evil.test\r\nAction: failed\r\nStatus: 5.1.1\r\n"
        "\r\n--b\r\nContent-Type: text/rfc822-headers".encode(),
    )
    for _ in range(2):
        deliver(raw, envelope_from="", provider_id="the-report")
        deliver(raw, envelope_from="")
        drain()
    with in_workspace(place.id):
        states = dict(EntryRecipient.objects.filter(entry_id=message.entry_id).values_list("address", "state"))
        assert states == {ADA: "bounced", bob: "delayed"}
        assert list(SuppressionEntry.objects.values_list("value", flat=True)) == [ADA]
    assert told(place) == ["entry.bounced", "entry.delayed"]


def test_a_report_that_is_read_again_after_a_crash_is_told_once(db, monkeypatch):
    """The news is kept before the report is filed; a worker that dies in between leaves it to the next."""
    from inbox.services import filing

    place = house()
    message = written(place)
    keep = filing.file
    monkeypatch.setattr(filing, "file", lambda jobs: (_ for _ in ()).throw(RuntimeError("gone")))
    deliver(dsn(message.message_id), envelope_from="")
    monkeypatch.setattr(filing, "file", keep)
    with in_workspace(place.id):
        from inbox.models import InboundMessage

        InboundMessage.objects.filter(state="stored").update(due_at="2020-01-01T00:00:00Z")
    ingesting.process_all()
    drain()
    assert told(place) == ["entry.bounced"]
    with in_workspace(place.id):
        assert ProviderEvent.objects.get().status == "applied"


def test_out_of_office_reopens_nothing_and_starts_nothing(db, cases):
    """ZM-7: with every sign, with the subject alone, and as an answer in the conversation."""
    from tests.factories.world import mail

    place = house(policy={"auto_ack": {"text": "We have got it."}})
    message = written(place)
    drain()
    with in_workspace(place.id):
        Thread.objects.update(status="closed")
        sent = OutboundMessage.objects.count()
    signs = [
        {"auto_submitted": "auto-replied"},
        {"subject": "Automatic reply: Where is my order?"},
        {"x_autoreply": "yes"},
        {"precedence": "bulk"},
        {"subject": "Abwesenheitsnotiz: Re: Where is my order?"},
    ]
    for fields in signs:
        deliver(mail(in_reply_to=message.message_id, **fields))
        drain()
    with in_workspace(place.id):
        thread = Thread.objects.get()
        assert (thread.status, thread.first_unanswered_inbound_at) == ("closed", None)
        assert thread.entry_count == 2 + len(signs)
        assert OutboundMessage.objects.count() == sent
    # The counterpart: a person in the same conversation.
    deliver(mail(in_reply_to=message.message_id))
    with in_workspace(place.id):
        assert Thread.objects.get().status == "open"
    cases("ZM-7", len(signs))
