"""A thousand rounds with machines: the caps alone end it, the breaker opens once, and a person is told (FS-6, C1, C2)."""

from uuid import uuid4

import pytest

from inbox import tokens
from inbox.models import AutoReplyQuota, CircuitBreaker, Entry, OutboundMessage, Thread
from inbox.services import breaking, inboxes, ingesting
from inbox.services.breaking import OneAnswerADay
from kernel import clock
from kernel.errors import Conflict, NotFound
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tests.factories.world import deliver, hand_in, house, mail
from tests.inbox.mime.test_machine_mail import FIELDS
from tests.inbox.news import drain
from tests.resources.nine import Caller

BATCH = 100
ACK = {"auto_ack": {"text": "We have got your mail."}}


def automatic(place) -> int:
    with in_workspace(place.id):
        return OutboundMessage.objects.filter(is_automatic=True).count()


def latest(place, seen):
    """What was written by itself since, as a responder that knows no header would answer it."""
    with in_workspace(place.id):
        rows = list(OutboundMessage.objects.filter(is_automatic=True).exclude(id__in=seen).defer("raw"))
    seen.update(row.id for row in rows)
    return rows


@pytest.mark.long
@pytest.mark.parametrize("rounds", [200, pytest.param(1_000, marks=pytest.mark.deep)])
def test_a_dumb_responder_for_hundreds_of_rounds(db, settings, cases, rounds):
    """Each round it writes at once: an answer where it got one, else anew; with the conversation's ids, and without."""
    place = house(policy=ACK)
    settings.AUTO_REPLY_SENDER_PER_HOUR = 5
    seen: set[object] = set()
    for batch in range(rounds // BATCH):
        answered = latest(place, seen)
        for number in range(BATCH):
            cites = {"in_reply_to": answered[number % len(answered)].message_id} if answered and number % 2 else {}
            hand_in(mail(sender="bot@customer.test", subject=f"Thank you {batch}.{number}", text=uuid4().hex, **cites))
        ingesting.process_all()
        drain()
    assert automatic(place) == 5
    with in_workspace(place.id):
        assert Entry.objects.filter(direction="inbound").count() == rounds
        per_thread = Entry.objects.filter(outbound__is_automatic=True).values_list("thread_id", flat=True)
        assert len(set(per_thread)) == 5
        (breaker,) = CircuitBreaker.objects.filter(scope="sender")
        assert breaker.key == "bot@customer.test"
        assert breaker.held > rounds * 0.4
        events = OutboxEvent.objects.filter(slug="inbox.loop_suspected", payload__cap="sender")
        assert events.get().payload["breaker_id"] == str(breaker.id)
        # Whoever is held back waits for a person, in sight.
        assert Thread.objects.filter(first_unanswered_inbound_at__isnull=False).count() > rounds * 0.4
    # Another sender is answered all the same.
    deliver(mail(sender="ada@customer.test"))
    drain()
    assert automatic(place) == 6
    cases("C2", rounds)


@pytest.mark.parametrize("same_workspace", [True, False], ids=["in one workspace", "in two"])
def test_two_instances_aimed_at_each_other_with_every_header_stripped(db, settings, cases, same_workspace):
    """Each sees the other as a person: From is a gateway's, ids and marks are gone, each mail begins a conversation.

    Within the rule of one automatic answer for thread, sender and day nothing but the caps can end it.
    """
    settings.AUTO_REPLY_SENDER_PER_HOUR = 3
    acme = house("acme", policy=ACK)
    if same_workspace:
        inboxes.open_inbox(workspace_id=acme.id, address="sales@acme.test", policy=ACK)
        places = {"support@acme.test": acme, "sales@acme.test": acme}
    else:
        places = {"support@acme.test": acme, "support@globex.test": house("globex", policy=ACK)}
    names = dict(zip(places, ("gateway-a@relay.test", "gateway-b@relay.test"), strict=True))
    back = {alias: address for address, alias in names.items()}
    seen: set[object] = set()
    first = next(iter(places))
    deliver(mail(sender=names[list(places)[1]], to=first), first)
    rounds = 0
    for _ in range(60):
        drain()
        fresh = [row for place in set(places.values()) for row in latest(place, seen)]
        for row in fresh:
            (recipient,) = row.envelope_to
            sender = next(names[address] for address in places if address != back[recipient])
            hand_in(mail(sender=sender, to=back[recipient], text=uuid4().hex), back[recipient])
            rounds += 1
        if not fresh:
            break
        ingesting.process_all()
    assert rounds <= 6
    opened = 0
    for place in set(places.values()):
        with in_workspace(place.id):
            opened += CircuitBreaker.objects.filter(scope="sender").count()
            answers = Entry.objects.filter(outbound__is_automatic=True).values_list(
                "thread_id", "outbound__envelope_to"
            )
            found = [(thread, tuple(to)) for thread, to in answers]
            assert len(found) == len(set(found))
    # The other one had nothing more to answer.
    assert opened == 1
    cases("C2", rounds)


def test_the_cap_of_an_inbox_opens_its_own(db, settings):
    place = house(policy=ACK)
    settings.AUTO_REPLY_INBOX_PER_HOUR = 2
    for number in range(5):
        deliver(mail(sender=f"p{number}@customer.test"))
        drain()
    deliver(mail(sender="late@customer.test"))
    drain()
    assert automatic(place) == 2
    with in_workspace(place.id):
        assert list(CircuitBreaker.objects.values_list("scope", "key", "held")) == [("inbox", str(place.inbox.id), 4)]
        assert OutboxEvent.objects.filter(slug="inbox.loop_suspected").count() == 1


def test_a_breaker_outlives_its_hour_and_a_person_closes_it(db, settings):
    """By HTTP; who may only look may not, and another workspace's is none."""
    place, other = house("acme", policy=ACK), house("globex")
    settings.AUTO_REPLY_SENDER_PER_HOUR = 1

    def bot():
        deliver(mail(sender="bot@customer.test", text=uuid4().hex))
        drain()

    bot(), bot()
    with in_workspace(place.id):
        # A new hour: the quota is fresh, the breaker stands.
        AutoReplyQuota.objects.all().delete()
    bot()
    assert automatic(place) == 1
    call = Caller(place.id)
    (shown,) = call("GET", "/circuit-breakers?scope=sender").json()["data"]
    assert (shown["key"], shown["held"], shown["closed_at"]) == ("bot@customer.test", 2, None)
    url = f"/circuit-breakers/{shown['id']}/close"
    assert Caller(place.id, "inbox.read")("POST", url).status_code == 403
    assert Caller(other.id)("POST", url).status_code == 404
    answer = call("POST", url)
    assert (answer.status_code, answer.json()["closed_by"] != "") == (200, True)
    assert call("POST", url).status_code == 409
    bot()
    assert automatic(place) == 2
    bot()
    with in_workspace(place.id):
        assert CircuitBreaker.objects.filter(scope="sender", closed_at=None).count() == 1
        slugs = OutboxEvent.objects.filter(slug__startswith="inbox.loop").order_by("id").values_list("slug", flat=True)
        assert list(slugs) == ["inbox.loop_suspected", "inbox.loop_cleared", "inbox.loop_suspected"]


def test_a_breaker_whose_time_is_over_opens_anew_and_says_so(db, settings):
    place = house(policy=ACK)
    settings.AUTO_REPLY_SENDER_PER_HOUR = 1
    for _ in range(3):
        deliver(mail(sender="bot@customer.test", text=uuid4().hex))
        drain()
    with in_workspace(place.id):
        CircuitBreaker.objects.update(open_until=clock.now())
    deliver(mail(sender="bot@customer.test", text=uuid4().hex))
    drain()
    with in_workspace(place.id):
        breaker = CircuitBreaker.objects.get(scope="sender")
        assert breaker.open_until > clock.now()
        assert breaker.held == 1
        assert OutboxEvent.objects.filter(slug="inbox.loop_suspected", payload__cap="sender").count() == 2


def test_one_answer_a_day_is_not_closed(db):
    place = house(policy=ACK)
    with in_workspace(place.id):
        breaking.hold(
            workspace_id=place.id, inbox_id=place.inbox.id, thread_id=uuid4(), sender="a@b.test", cap="thread"
        )
        breaker = CircuitBreaker.objects.get()
    with pytest.raises(OneAnswerADay):
        breaking.close(workspace_id=place.id, breaker_id=breaker.id)
    with pytest.raises(NotFound):
        breaking.close(workspace_id=place.id, breaker_id=uuid4())
    assert issubclass(OneAnswerADay, Conflict)


def test_eighty_kinds_of_machine_mail_are_shown_and_get_nothing(db, cases):
    """C1: by the whole way from the door; the last kinds are a person's mail that asks for no automatic answer."""
    place = house(policy=ACK)
    house("globex", address="help@globex.test")
    for number, (_, fields) in enumerate(FIELDS.values()):
        raw = machine(number, fields)
        hand_in(raw, envelope_from=fields.get("Return-Path", "x@customer.test").strip("<> "))
    ingesting.process_all()
    drain()
    with in_workspace(place.id):
        answered = Entry.objects.filter(outbound_kind="auto_ack").values_list("thread__subject", flat=True)
        assert list(answered) == []
        assert Entry.objects.filter(direction="inbound").count() == len(FIELDS)
        last = Entry.objects.filter(subject__startswith="Kind").order_by("seq").last()
        assert (last.mail_class, last.thread.status) == ("human", "open")
    # The counterpart: a person without any sign is acknowledged.
    deliver(mail())
    drain()
    assert automatic(place) == 1
    cases("C1", len(FIELDS))


def machine(number: int, fields: dict[str, str]) -> bytes:
    given = {
        "From": f"Ann <ann{number}@customer.test>",
        "To": "support@acme.test",
        "Subject": f"Kind {number}",
        "Message-ID": f"<{uuid4().hex}@customer.test>",
    } | fields
    if given["Message-ID"] == "<good-token>":
        given["Message-ID"] = tokens.message_id(uuid4(), domain="acme.test")
    head = "".join(f"{name}: {value}\r\n" for name, value in given.items() if name != "Return-Path")
    body = "--b\r\n\r\nSorry.\r\n--b--\r\n" if "boundary" in fields.get("Content-Type", "") else "Hello.\r\n"
    return f"{head}\r\n{body}".encode()
