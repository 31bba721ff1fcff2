"""What SES reports of sent mail reaches its entry, once, in whatever order, form and number it comes."""

import itertools
import random
from datetime import timedelta
from typing import Any
from uuid import uuid4

import orjson
import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from contacts.models import SuppressionEntry
from inbox.models import Entry, EntryDeliveryEvent, EntryRecipient, OutboundMessage
from inbox.services import delivery_news, sending
from inbox.types import DeliveryState
from kernel import clock
from kernel.models import OutboxEvent
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.services import keys
from tests.factories.world import deliver, house, mail
from tests.inbox.news import ADA, BOB, again, drain, facts, news, send, tell, write
from tests.inbox.test_ingress import post
from tests.world.aws import REGION
from webhooks.models import ProviderEvent
from webhooks.services import callbacks

# Kind, what else it says: the entry's state, the facts about it, why its recipient gets no more mail.
CASES = [
    ("Send", {}, "sent", [], None),
    ("Delivery", {}, "delivered", ["delivered"], None),
    ("DeliveryDelay", {}, "delayed", ["delayed"], None),
    ("Bounce", {}, "bounced", ["bounced"], "bounce"),
    ("Bounce", {"bounceSubType": "OnAccountSuppressionList"}, "bounced", ["bounced"], "bounce"),
    ("Bounce", {"bounceType": "Transient", "bounceSubType": "MailboxFull"}, "soft_bounced", ["bounced"], None),
    ("Bounce", {"bounceType": "Undetermined", "bounceSubType": "Undetermined"}, "soft_bounced", ["bounced"], None),
    ("Complaint", {}, "complained", ["complained"], "complaint"),
    ("Complaint", {"complaintFeedbackType": "not-spam"}, "sent", [], None),
    ("Reject", {}, "failed", ["failed"], None),
    ("Rendering Failure", {}, "failed", ["failed"], None),
]


def test_each_kind_of_news_reaches_its_entry_in_both_forms(db, topic, account):
    acme = house()
    for form, (kind, part, state, told, reason) in itertools.product(("notificationType", "eventType"), CASES):
        address = f"{uuid4().hex[:8]}@customer.test"
        message = send(acme, to=address)
        content = news(kind, message.provider_ref, address, form=form, **part)
        assert tell(topic, content) == "accepted"
        # The same fact in the other form, the same message again, and a copy in another envelope.
        other = "eventType" if form == "notificationType" else "notificationType"
        twin = {(other if key == form else key): value for key, value in content.items()}
        assert [tell(topic, copy) for copy in (content, twin, twin)] == ["duplicate"] * 3
        drain()
        drain()
        what = (form, kind, part)
        with in_workspace(acme.id):
            entry = Entry.objects.get(id=message.entry_id)
            assert entry.delivery_state == state, what
            history = entry.delivery_events.exclude(provider_event_id__startswith=str(message.id))
            assert history.count() == 1, what
            row = ProviderEvent.objects.get(subject_ref=message.provider_ref)
            assert (row.status, row.deliveries, row.signature) == ("applied", 4, "sns:2"), what
            kept = SuppressionEntry.objects.filter(value=address).first()
            assert (kept.reason if kept else None) == reason, what
        assert facts(acme, entry) == ["queued", "sent", *told], what


def test_news_in_any_order_never_takes_a_state_back(db, topic, account):
    acme = house()
    kinds = ("Send", "DeliveryDelay", "Delivery", "Complaint")
    orders = [*itertools.permutations(kinds)]
    final = {"Send": "sent", "DeliveryDelay": "delayed", "Delivery": "delivered", "Complaint": "complained"}
    for number, order in enumerate(orders):
        message = send(acme, to=f"p{number}@customer.test")
        seen = []
        for kind in order:
            tell(topic, news(kind, message.provider_ref, f"p{number}@customer.test"))
            drain()
            seen.append(DeliveryState(again(message.entry).delivery_state))
        ranks = [state.rank for state in seen]
        assert ranks == sorted(ranks), order
        assert seen[-1] == "complained", order
        # A fact is told when the entry came further by it, and then once.
        expected, furthest = [], DeliveryState.SENT
        for kind in order:
            state = DeliveryState(final[kind])
            if state.rank > furthest.rank:
                expected.append(state.value)
                furthest = state
        assert facts(acme, message.entry) == ["queued", "sent", *expected], order
    with in_workspace(acme.id):
        # News that came too late is applied, too: nothing waits or is tried again.
        assert set(ProviderEvent.objects.values_list("status", flat=True)) == {"applied"}
        assert not OutboxEvent.objects.filter(published_at=None).exists()


def test_a_bounce_outlasts_a_delivery_and_an_automatic_answer_does_not(db, topic, account):
    acme = house()
    soft = {"bounceType": "Transient", "bounceSubType": "General"}
    for first, second, state in [
        (("Bounce", {}), ("Delivery", {}), "bounced"),
        (("Delivery", {}), ("Bounce", {}), "bounced"),
        (("Bounce", soft), ("Delivery", {}), "delivered"),
        (("Delivery", {}), ("Bounce", soft), "delivered"),
        (("Bounce", soft), ("Bounce", {"feedbackId": "later"}), "bounced"),
    ]:
        address = f"{uuid4().hex[:8]}@customer.test"
        message = send(acme, to=address)
        for kind, part in (first, second):
            tell(topic, news(kind, message.provider_ref, address, **part))
            drain()
        assert again(message.entry).delivery_state == state, (first, second)


def test_the_database_itself_refuses_to_go_back(db, topic, account):
    acme = house()
    message = send(acme)
    tell(topic, news("Delivery", message.provider_ref))
    drain()
    with in_workspace(acme.id):
        recipient = EntryRecipient.objects.get(entry_id=message.entry_id)
        rows = {"inbox_entry": ("delivery_state", message.entry_id), "inbox_entryrecipient": ("state", recipient.id)}
        for table, (column, row_id) in rows.items():
            statement = f"UPDATE {table} SET {column} = %s WHERE id = %s"
            with connection.cursor() as cursor:
                cursor.execute(statement, ["bounced", row_id])
            for state in ("delivered", "sent", "queued"):
                refused = pytest.raises(DatabaseError, match="may not go back")
                with refused, transaction.atomic(), connection.cursor() as cursor:
                    cursor.execute(statement, [state, row_id])


def test_several_recipients_have_a_state_each(db, topic, account):
    acme = house()
    message = write(acme)
    with in_workspace(acme.id):
        OutboundMessage.objects.filter(id=message.id).update(envelope_to=[ADA, BOB])
    sending.send_due()
    ref = again(message).provider_ref
    seen = []
    for kind, who in (("Delivery", ADA), ("DeliveryDelay", BOB), ("Bounce", BOB), ("Delivery", "eve@evil.test")):
        tell(topic, news(kind, ref, who))
        drain()
        seen.append(again(message.entry).delivery_state)
    assert seen == ["sent", "delayed", "bounced", "bounced"]
    _, secret = keys.issue(workspace_id=acme.id, name="test", scopes=["thread.read"])
    url = f"/api/v1/threads/{message.entry.thread_id}/entries"
    entry = Client().get(url, headers={"Authorization": f"Bearer {secret}"}).json()["data"][0]
    found = {row["address"]: row["state"] for row in entry["recipients"]}
    assert (entry["delivery_state"], found) == ("bounced", {ADA: "delivered", BOB: "bounced"})
    with in_workspace(acme.id):
        told = OutboxEvent.objects.filter(slug__in=["entry.delivered", "entry.bounced"])
        ids = {row["id"]: row["address"] for row in entry["recipients"]}
        named = {(e.slug, ids[e.payload["recipient_id"]]) for e in told}
        assert named == {("entry.delivered", ADA), ("entry.bounced", BOB)}
        assert not SuppressionEntry.objects.filter(value__endswith="evil.test").exists()


def test_what_was_uncertain_is_settled_by_news(db, topic, account, settings):
    """The crash between "accepted by SES" and "recorded": found by our tag, or by our signed Message-ID."""
    acme = house()
    settings.AWS_ENDPOINT_URL, good = "http://127.0.0.1:9", settings.AWS_ENDPOINT_URL
    ways = {
        "tag": lambda m: {"tags": {"outbound_message": [str(m.id)], "ses:configuration-set": ["x"]}},
        "header": lambda m: {
            "headers": [{"name": "From", "value": "x"}, {"name": "Message-ID", "value": m.message_id}]
        },
        "common": lambda m: {"commonHeaders": {"messageId": m.message_id}},
    }
    for state, (way, part) in itertools.product(("uncertain", "queued", "sending"), ways.items()):
        message = write(acme, to=f"{way}-{state}@customer.test")
        with in_workspace(acme.id):
            # What a sender leaves behind that died, was cut off, or was told by a person to try again.
            later = clock.now() + timedelta(hours=1)
            OutboundMessage.objects.filter(id=message.id).update(state=state, due_at=later)
        settings.AWS_ENDPOINT_URL = good
        ref = f"0100{uuid4().hex}"
        tell(topic, news("Delivery", ref, f"{way}-{state}@customer.test", mail=part(message)))
        drain()
        row = again(message)
        assert (row.state, row.provider_ref, row.sent_at is not None) == ("sent", ref, True), (state, way)
        assert again(message.entry).delivery_state == "delivered"
        assert facts(acme, message.entry) == ["queued", "sent", "delivered"]
        assert not sending.send_due()
        # An answer to the rewritten id finds its conversation.
        reply = mail(sender=f"{way}-{state}@customer.test", in_reply_to=f"<{ref}@{REGION}.amazonses.com>")
        deliver(reply, envelope_from=f"{way}-{state}@customer.test")
        with in_workspace(acme.id):
            assert Entry.objects.filter(thread_id=message.entry.thread_id, direction="inbound").count() == 2


def test_a_forged_token_or_tag_finds_nothing(db, topic, account):
    acme = house()
    message = write(acme)
    forged = message.message_id.replace(message.message_id.split(".")[1][:4], "0000", 1)
    for part in (
        {"headers": [{"name": "Message-ID", "value": forged}]},
        {"headers": [{"name": "Message-ID", "value": "<x@acme.test>"}, "x", None]},
        {"tags": {"outbound_message": ["x", str(uuid4())]}},
        {"tags": ["outbound_message"], "headers": {}, "commonHeaders": []},
    ):
        assert tell(topic, news("Bounce", uuid4().hex, mail=part)) == "unmatched"
    drain()
    assert again(message).state == "queued"
    with in_workspace(acme.id):
        assert not SuppressionEntry.objects.exists()


def test_news_of_unknown_mail_is_kept_and_finds_its_message_later(db, topic, account):
    acme = house()
    message = send(acme)
    with in_workspace(acme.id):
        OutboundMessage.objects.filter(id=message.id).update(provider_ref="")
    assert tell(topic, news("Delivery", message.provider_ref)) == "unmatched"
    assert tell(topic, news("Delivery", "of-another-application")) == "unmatched"
    drain()
    with in_workspace(acme.id):
        assert not ProviderEvent.objects.exists()
        assert delivery_news.match_late() == 0
        OutboundMessage.objects.filter(id=message.id).update(provider_ref=message.provider_ref)
    assert delivery_news.match_late() == 1
    assert delivery_news.match_late() == 0
    drain()
    assert again(message.entry).delivery_state == "delivered"
    with in_all_workspaces("looking in a test"):
        assert sorted(ProviderEvent.objects.values_list("status", flat=True)) == ["applied", "unmatched"]


def test_news_writes_only_where_its_message_is(db, topic, account):
    acme, globex = house("acme"), house("globex")
    message, other = send(acme), send(globex)
    tell(topic, news("Bounce", message.provider_ref))
    drain()
    with in_workspace(globex.id):
        assert again(other.entry).delivery_state == "sent"
        assert not SuppressionEntry.objects.exists()
        assert not ProviderEvent.objects.exists()
        assert EntryDeliveryEvent.objects.exclude(kind="sent").count() == 0
    # The other workspace still writes to the address.
    assert send(globex).state == "sent"


def test_accepting_news_is_one_statement(db, topic, account):
    acme = house()
    message = send(acme)
    for ref in (message.provider_ref, "unknown"):
        body = topic.notification(orjson.dumps(news("Delivery", ref)).decode())
        for _ in range(2):
            with CaptureQueriesContext(connection) as captured:
                assert post(body).status_code == 200
            assert [row["sql"].split("(")[0] for row in captured.captured_queries] == [
                "SELECT outcome FROM inbox_take_news_v1"
            ]


STRANGE: list[Any] = [
    "Successfully validated SNS topic for Amazon SES event publishing.",
    "[]",
    "{}",
    '{"notificationType": "AmazonSnsSubscriptionSucceeded", "message": "…"}',
    {"eventType": "Open", "mail": {"messageId": "x"}},
    {"eventType": ["Bounce"], "mail": {"messageId": "x"}},
    {"eventType": "Bounce", "mail": None},
    {"eventType": "Bounce", "mail": {"messageId": 5}},
    {"eventType": "Bounce", "mail": {"messageId": "x\x00y", "tags": {"outbound_message": "x"}}, "bounce": None},
    {"eventType": "Bounce", "mail": {"messageId": "a"}, "bounce": {"bouncedRecipients": "x", "timestamp": 5}},
    {"eventType": "Bounce", "mail": {"messageId": "b"}, "bounce": {"bouncedRecipients": [None, {"emailAddress": []}]}},
    {"eventType": "Complaint", "mail": {"messageId": "c"}, "complaint": {"complainedRecipients": [{}] * 500}},
    {"eventType": "Delivery", "mail": {"messageId": "d" * 5_000}, "delivery": {"timestamp": "yesterday"}},
    {"eventType": "Delivery", "mail": {"messageId": "e"}, "delivery": {"smtpResponse": "\x00" * 9}},
    {"eventType": "\x00", "mail": {"messageId": "f"}},
]


def test_strange_news_is_kept_and_hurts_nobody(db, topic, account):
    acme = house()
    message = send(acme)
    assert {tell(topic, content) for content in STRANGE} <= {"ignored", "unmatched"}
    # The same about a message of ours.
    for content in STRANGE:
        if isinstance(content, dict) and isinstance(content.get("mail"), dict):
            tell(topic, content | {"mail": content["mail"] | {"messageId": message.provider_ref}})
    rows = [
        {"emailAddress": f"Ada <{ADA.upper()}>", "status": "5" * 90, "diagnosticCode": "\x00\x07" + "x" * 9_000}
    ] * 40
    tell(topic, news("Bounce", message.provider_ref, bouncedRecipients=rows))
    drain()
    with in_all_workspaces("looking in a test"):
        assert not OutboxEvent.objects.exclude(parked_at=None).exists()
        assert not OutboxEvent.objects.filter(published_at=None).exists()
        assert EntryRecipient.objects.get().state == "bounced"
        assert SuppressionEntry.objects.get().times == 1


def test_a_shuffled_log_told_twice_is_the_same_estate(db, topic, account):
    """Replay of everything, in another order: the same rows (S1-13)."""
    acme = house()
    log = []
    for number in range(6):
        address = f"q{number}@customer.test"
        message = send(acme, to=address)
        kinds = ("Send", "Delivery", "Bounce" if number % 2 else "Complaint")
        log += [(str(uuid4()), news(kind, message.provider_ref, address)) for kind in kinds]
    random.Random(7).shuffle(log)

    def estate() -> tuple[Any, ...]:
        with in_workspace(acme.id):
            return (
                sorted(EntryRecipient.objects.values_list("address", "state")),
                sorted(SuppressionEntry.objects.values_list("value", "reason", "times")),
                EntryDeliveryEvent.objects.count(),
                OutboxEvent.objects.count(),
            )

    for event_id, content in log:
        tell(topic, content, message_id=event_id)
    drain()
    before = estate()
    random.Random(8).shuffle(log)
    assert {tell(topic, content, message_id=event_id) for event_id, content in log} == {"duplicate"}
    assert {tell(topic, content) for _, content in log} == {"duplicate"}
    drain()
    assert estate() == before
    assert {state for _, state in before[0]} == {"bounced", "complained"}


def test_callbacks_are_forgotten_after_their_time_and_their_history_is_not(db, topic, account):
    acme = house()
    message = send(acme)
    tell(topic, news("Delivery", message.provider_ref))
    tell(topic, news("Delivery", "unknown"))
    drain()
    assert callbacks.prune(older_than=timedelta(days=1)) == 0
    assert callbacks.prune(older_than=timedelta()) == 2
    assert (again(message.entry).delivery_state, facts(acme, message.entry)[-1]) == ("delivered", "delivered")
