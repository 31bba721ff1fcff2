"""Mail of which an inbox that is off keeps nothing, when the same mail then comes for another inbox."""

import hashlib
import threading

import pytest
from django.db import connection

from inbox.models import Email, Entry, InboundMessage
from inbox.services import inboxes, ingesting
from kernel.transactions import in_workspace
from tests.factories.world import deliver, hand_in, house, mail
from tests.resources.nine import Caller


def switch_off(place, inbox) -> None:
    inboxes.change(workspace_id=place.id, inbox_id=inbox.id, changes={"active": False})


def held(place) -> tuple[str, bytes, int, bytes]:
    with in_workspace(place.id):
        row = InboundMessage.objects.get()
        return row.state, bytes(row.raw), row.size, bytes(row.sha256)


@pytest.mark.parametrize("further", ["active", "drops", "alias", "same", "routed"])
def test_a_dropped_mail_that_comes_for_a_further_inbox_has_its_bytes_again_and_else_stays_forgotten(
    db, settings, further
):
    """Whatever may follow a mail of which nothing was kept; each time it is the same mail."""
    settings.INGEST_LEASE_SECONDS = 0
    place = house(policy={"when_inactive": "drop"})
    switch_off(place, place.inbox)
    raw = mail(subject="Both")
    digest = hashlib.sha256(raw).digest()
    deliver(raw, "support@acme.test", *(["sales@acme.test"] if further == "routed" else []), provider_id="m")
    assert held(place) == ("done", b"", len(raw), digest)
    recipient = {"alias": "support+x@acme.test", "same": "support@acme.test"}.get(further, "sales@acme.test")
    if recipient == "sales@acme.test":
        sales = inboxes.open_inbox(workspace_id=place.id, address=recipient, policy={"when_inactive": "drop"})
        if further == "drops":
            switch_off(place, sales)
    accepted = hand_in(raw, recipient, provider_id="m")
    keeps = further in ("active", "routed")
    # 250 was said: by now the bytes are there for whoever is to read them.
    assert held(place)[:2] == (("stored", raw) if recipient == "sales@acme.test" else ("done", b""))
    ingesting.process_all()
    assert held(place) == ("done", raw if keeps else b"", len(raw), digest)
    with in_workspace(place.id):
        assert list(Entry.objects.values_list("subject", flat=True)) == (["Both"] if keeps else [])
        if keeps:
            assert Email.objects.get(inbox_id=sales.id).state == "threaded"
    if keeps:
        email_id = next(row.email_id for row in accepted if row.inbox_id == sales.id)
        answer = Caller(place.id)("GET", f"/emails/{email_id}/raw")
        assert (b"".join(answer.streaming_content) if answer.streaming else answer.content) == raw


def test_dropping_and_a_further_inbox_at_once_never_make_an_empty_mail(db, settings):
    """Whichever of the two comes first: the inbox that is open has all of the mail."""
    settings.INGEST_LEASE_SECONDS = 0
    place = house(policy={"when_inactive": "drop"})
    inboxes.open_inbox(workspace_id=place.id, address="sales@acme.test")
    switch_off(place, place.inbox)
    for number in range(20):
        raw = mail(subject=f"Both {number}", sender=f"p{number}@customer.test")
        hand_in(raw, "support@acme.test", provider_id=f"m{number}")
        start = threading.Barrier(2)

        def further(raw=raw, number=number, start=start) -> None:
            start.wait()
            hand_in(raw, "sales@acme.test", provider_id=f"m{number}")
            connection.close()

        other = threading.Thread(target=further)
        other.start()
        start.wait()
        ingesting.process_all()
        other.join()
        ingesting.process_all()
    with in_workspace(place.id):
        assert sorted(Entry.objects.values_list("subject", flat=True)) == sorted(f"Both {n}" for n in range(20))
