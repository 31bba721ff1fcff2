"""Who works on a message, and for how long: a further inbox is served at once, and a long batch by one worker."""

import threading
from datetime import timedelta

import pytest
from django.db import connection

from inbox.models import Email, Entry, InboundMessage
from inbox.services import filing, inboxes, ingesting
from kernel import clock
from kernel.crash import crash_point
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tests.agents import forking
from tests.factories.world import deliver, hand_in, house, mail
from tests.inbox.test_costly_html import GROWING, written

RAW = mail(to="support@acme.test, billing@acme.test")


def two_inboxes():
    acme = house()
    inboxes.open_inbox(workspace_id=acme.id, address="billing@acme.test")
    return acme


def assert_both_have_it_once(place):
    with in_workspace(place.id):
        assert InboundMessage.objects.get().state == "done"
        assert set(Email.objects.values_list("state", flat=True)) == {"threaded"}
        counts = Email.objects.count(), Entry.objects.values("inbox_id").distinct().count(), Entry.objects.count()
        assert counts == (2, 2, 2)
        assert OutboxEvent.objects.filter(slug="email.received").count() == 2


@pytest.fixture
def long_lease(settings):
    settings.INGEST_LEASE_SECONDS = 600


def test_a_further_inbox_of_a_mail_that_is_done_does_not_wait_for_its_lease(db, long_lease):
    acme = two_inboxes()
    deliver(RAW, "support@acme.test", provider_id="one")
    deliver(RAW, "billing@acme.test", provider_id="one")
    assert_both_have_it_once(acme)


@pytest.mark.parametrize("point", ["ingest.claimed", "ingest.parsed"])
def test_a_further_inbox_of_a_mail_that_is_worked_on_does_not_wait_for_its_lease(db, long_lease, point):
    acme = two_inboxes()
    hand_in(RAW, "support@acme.test", provider_id="one")
    worker = forking.frozen_at(point, ingesting.process_all)
    deliver(RAW, "billing@acme.test", provider_id="one")
    assert_both_have_it_once(acme)
    assert forking.thaw(worker) == "exit 0"
    assert_both_have_it_once(acme)


@pytest.fixture
def decided(monkeypatch):
    """A crash point between what is decided about a mail and its filing."""
    real = filing.file

    def file(jobs):
        crash_point("decided")
        return real(jobs)

    monkeypatch.setattr(filing, "file", file)
    return "decided"


def test_who_has_not_seen_the_further_inbox_closes_nothing_before_another_worker_has_it(db, long_lease, decided):
    acme = two_inboxes()
    hand_in(RAW, "support@acme.test", provider_id="one")
    worker = forking.frozen_at(decided, ingesting.process_due)
    hand_in(RAW, "billing@acme.test", provider_id="one")
    assert forking.thaw(worker) == "exit 0"
    ingesting.process_all()
    assert_both_have_it_once(acme)


def test_who_has_not_seen_the_further_inbox_closes_nothing_when_another_worker_has_it(db, long_lease, decided):
    acme = two_inboxes()
    hand_in(RAW, "support@acme.test", provider_id="one")
    first = forking.frozen_at(decided, ingesting.process_due)
    hand_in(RAW, "billing@acme.test", provider_id="one")
    second = forking.frozen_at("ingest.claimed", ingesting.process_due)
    assert forking.thaw(first) == "exit 0"
    with in_workspace(acme.id):
        assert InboundMessage.objects.get().state == "stored"
    assert forking.thaw(second) == "exit 0"
    assert_both_have_it_once(acme)


def test_a_batch_of_costly_mails_that_outlasts_its_lease_is_one_workers(db, settings):
    settings.INGEST_LEASE_SECONDS, settings.INGEST_THREADS = 1.5, 1
    acme, page, mails = house(), GROWING["very deep"](), 3
    for number in range(mails):
        hand_in(written(page, text=f"Where is order {number}?"))
    taken, over = [], threading.Event()

    def another_worker():
        while not over.wait(0.1):
            taken.append(ingesting.process_due())
        connection.close()

    other = threading.Thread(target=another_worker)
    began = clock.now()
    worker = forking.start(ingesting.process_due)
    forking.wait_until(lambda: all_claimed(acme))
    other.start()
    assert forking.ended(worker) == "exit 0"
    took = clock.now() - began
    over.set()
    other.join()
    assert took > timedelta(seconds=settings.INGEST_LEASE_SECONDS)
    assert set(taken) == {0}
    with in_workspace(acme.id):
        assert list(InboundMessage.objects.values_list("state", "attempts")) == [("done", 1)] * mails
        assert Entry.objects.count() == mails


def all_claimed(place) -> bool:
    with in_workspace(place.id):
        return not InboundMessage.objects.filter(attempts=0).exists()


def test_what_is_to_be_tried_again_is_tried_in_its_time_while_its_batch_goes_on(db, settings, monkeypatch):
    """A lease that is prolonged is that of what is still worked on."""
    settings.INGEST_LEASE_SECONDS, settings.INGEST_THREADS, settings.INGEST_RETRY_SECONDS = 1, 1, 0.2
    acme = house()
    hand_in(mail(subject="fails"))
    hand_in(written(GROWING["very deep"](), text="Where is order 1?"))
    real, failed = ingesting.parse, []

    def parse(raw):
        if b"fails" in raw and not failed:
            failed.append(raw)
            raise ValueError("once")
        return real(raw)

    monkeypatch.setattr(ingesting, "parse", parse)
    ingesting.process_due(limit=2)
    with in_workspace(acme.id):
        assert sorted(InboundMessage.objects.values_list("state", "attempts")) == [("done", 1), ("done", 2)]
