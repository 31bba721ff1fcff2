"""Killed workers, poisonous mail, two web servers at once: nothing lost, nothing doubled, nothing blocked."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import urllib3
from django.db import connection
from django.test import Client

from config.demo.amazon import Topic, receipt
from inbox.channels import sns
from inbox.models import Email, Entry, InboundMessage, Thread
from inbox.services import ingesting, placing
from kernel import clock
from kernel.models import OutboxEvent
from kernel.transactions import in_all_workspaces, in_workspace
from tests.agents import forking
from tests.factories.world import hand_in, house, mail
from tests.world.serving import serving

ARN = "arn:aws:sns:eu-central-1:123456789012:inbound"


def all_states() -> dict[str, int]:
    with in_all_workspaces("counting in a test"):
        found: dict[str, int] = {}
        for state in InboundMessage.objects.values_list("state", flat=True):
            found[state] = found.get(state, 0) + 1
        return found


def counts(place) -> tuple[int, int, int]:
    with in_workspace(place.id):
        received = OutboxEvent.objects.filter(workspace_id=place.id, slug="email.received").count()
        return Email.objects.count(), Entry.objects.count(), received


def test_a_worker_killed_at_any_point_loses_and_doubles_nothing(db, settings):
    acme = house()
    settings.INGEST_LEASE_SECONDS = 0
    for point in ("ingest.claimed", "ingest.parsed", "ingest.filed"):
        for _ in range(10):
            hand_in(mail(subject=point))
            forking.killed_at(point, ingesting.process_all)
        ingesting.process_all()
    assert counts(acme) == (30, 30, 30)
    assert all_states() == {"done": 30}


def test_poison_is_quarantined_after_three_attempts_and_the_others_flow(db, settings, cases):
    acme = house()
    settings.INGEST_LEASE_SECONDS = settings.INGEST_RETRY_SECONDS = 0
    hand_in(mail(subject="poison"))
    for _ in range(settings.INGEST_MAX_ATTEMPTS):
        forking.killed_at("ingest.claimed", ingesting.process_all)
    for number in range(200):
        hand_in(mail(subject=f"good {number}", sender=f"p{number}@customer.test"))
    ingesting.process_all()
    assert all_states() == {"done": 200, "quarantined": 1}
    with in_workspace(acme.id):
        poison = InboundMessage.objects.get(state="quarantined")
        assert poison.attempts == settings.INGEST_MAX_ATTEMPTS + 1  # the last one reads nothing and puts it aside
        assert b"poison" in bytes(poison.raw)
        assert Email.objects.get(inbound_message=poison).state == "quarantined"
    cases("A10", 201)


def test_a_bomb_among_good_mail_is_put_aside_with_its_bytes(db):
    acme = house()
    nested = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (depth, depth) for depth in range(3000)
    )
    bomb = b"From: m@evil.test\r\nTo: support@acme.test\r\nSubject: bomb\r\nMIME-Version: 1.0\r\n" + nested
    for number in range(20):
        hand_in(mail(subject=f"before {number}", sender=f"a{number}@customer.test"))
    hand_in(bomb)
    for number in range(20):
        hand_in(mail(subject=f"after {number}", sender=f"b{number}@customer.test"))
    ingesting.process_all()
    assert all_states() == {"done": 40, "quarantined": 1}
    with in_workspace(acme.id):
        message = InboundMessage.objects.get(state="quarantined")
        assert bytes(message.raw) == bomb
        assert message.reason


def test_shuffled_redeliveries_over_two_servers_make_each_mail_once(db, tmp_path, cases):
    acme = house()
    topic = Topic(ARN, tmp_path / "sns.pem")
    bodies = []
    for number in range(500):
        text = receipt(
            mail(subject=f"m{number}", sender=f"p{number % 30}@customer.test"),
            ses_id=f"ses-{number}",
            recipients=["support@acme.test"],
            envelope_from="ada@customer.test",
        )
        first = topic.notification(text)
        # Every tenth comes under a second SNS id as well: SES's own id is what counts.
        bodies += [first, first, first, topic.notification(text) if number % 10 == 0 else first]
    random.Random(7).shuffle(bodies)
    amazon = {"SNS_TOPIC_ARNS": ARN, "SNS_CERTIFICATE_FILE": str(topic.certificate)}
    with serving(**amazon) as one, serving(**amazon) as other:
        pool = urllib3.PoolManager(maxsize=16)

        def post(numbered: tuple[int, bytes]) -> int:
            number, body = numbered
            return pool.request("POST", f"{(one, other)[number % 2]}/ingress/ses", body=body, retries=False).status

        with ThreadPoolExecutor(16) as threads:
            statuses = list(threads.map(post, enumerate(bodies)))
    assert set(statuses) == {200}
    workers = [forking.start(ingesting.process_all) for _ in range(2)]
    assert [forking.ended(worker) for worker in workers] == ["exit 0", "exit 0"]
    assert counts(acme) == (500, 500, 500)
    cases("A2", len(statuses))


def test_a_web_server_killed_between_commit_and_answer_keeps_the_mail_once(db, settings, tmp_path, cases):
    acme = house()
    topic = Topic(ARN, tmp_path / "sns.pem")
    settings.SNS_TOPIC_ARNS, settings.SNS_CERTIFICATE_FILE = [ARN], str(topic.certificate)
    sns._load.cache_clear()
    for number in range(30):
        text = receipt(
            mail(subject=f"m{number}"),
            ses_id=f"ses-{number}",
            recipients=["support@acme.test"],
            envelope_from="ada@customer.test",
        )
        body = topic.notification(text)

        def post(body: bytes = body) -> int:
            return Client().post("/ingress/ses", data=body, content_type="text/plain").status_code

        forking.killed_at("accept.committed", post)
        assert post() == 200
    ingesting.process_all()
    assert counts(acme) == (30, 30, 30)
    cases("A5", 30)


def test_replies_and_originals_in_any_order_become_one_thread(db):
    """The reply is read before the mail that it answers: the original joins it."""
    acme = house()
    hand_in(mail(text="the answer", in_reply_to="<orig@customer.test>"))
    ingesting.process_all()
    hand_in(mail(text="the question", message_id="<orig@customer.test>"))
    ingesting.process_all()
    with in_workspace(acme.id):
        assert Thread.objects.count() == 1
        assert Entry.objects.order_by("-seq").first().thread_decision["rule"] == "cited_by_later"


def lose(monkeypatch, times: float) -> list[object]:
    """Lose the connection to the database under a mail, so many times; the tries to place one."""
    real, tries = placing.place, []

    def place(one):
        tries.append(one)
        if len(tries) <= times:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        real(one)

    monkeypatch.setattr(placing, "place", place)
    return tries


def test_a_database_that_goes_away_is_not_the_mails_fault(db, settings, monkeypatch):
    """However often the connection is lost under a mail, no attempt of it is used up."""
    acme = house()
    settings.INGEST_THREADS = 1
    losses = settings.INGEST_MAX_ATTEMPTS + 3
    tries = lose(monkeypatch, losses)
    hand_in(mail())
    ingesting.process_all()
    assert len(tries) == losses + 1
    assert (counts(acme), all_states()) == ((1, 1, 1), {"done": 1})
    with in_workspace(acme.id):
        assert InboundMessage.objects.get().attempts == 1


def test_a_mail_under_which_the_database_always_goes_away_is_put_aside_in_the_end(db, settings, monkeypatch):
    acme = house()
    settings.INGEST_THREADS, settings.INGEST_LEASE_SECONDS = 1, 0
    tries = lose(monkeypatch, float("inf"))
    hand_in(mail())
    with in_workspace(acme.id):
        InboundMessage.objects.update(received_at=clock.now() - timedelta(hours=2))
    ingesting.process_all()
    assert len(tries) == settings.INGEST_MAX_ATTEMPTS
    assert all_states() == {"quarantined": 1}
