"""Twenty thousand mutants (B4): each is read in bounded time and memory, and each is kept, and filed or put aside."""

from __future__ import annotations

from collections import Counter

import pytest

from inbox.mime.child import ParserChild
from inbox.models import Email, Entry, InboundMessage
from inbox.services import ingesting
from kernel.transactions import in_workspace
from tests.factories.world import hand_in, house
from tests.inbox.mime.mutants import mutants
from tests.inbox.mime.test_mime_bombs import CPU_SECONDS, RSS_KIB, cpu_seconds, peak_kib

COUNT, SEED = 20_000, 4
pytestmark = [pytest.mark.deep, pytest.mark.long, pytest.mark.timeout(1_200)]


def test_every_mutant_is_read_in_bounded_time_and_memory(cases):
    """By the child that reads mail in production; what it raises, or dies of, raises here."""
    child = ParserChild(cpu_seconds=CPU_SECONDS)
    states: Counter[str] = Counter()
    slowest = largest = 0.0
    try:
        child.warm_up()
        for raw in mutants(COUNT, seed=SEED):
            pid, before = child.pid, cpu_seconds(child.pid)
            mail = child.parse(raw)
            states[mail.status] += 1
            assert mail.status == "parsed" or mail.reason
            assert not (mail.reason or "").startswith("unreadable"), raw
            if child.pid == pid:  # it is replaced now and then, with another clock
                slowest = max(slowest, cpu_seconds(pid) - before)
                largest = max(largest, peak_kib(pid))
    finally:
        child.close()
    assert slowest <= CPU_SECONDS
    assert largest <= RSS_KIB
    cases("B4", COUNT)
    print(f"\n{COUNT} mutants: {dict(states)}; at most {slowest:.2f} s and {largest / 1024:.0f} MB each")


def test_no_mutant_is_dropped(db, settings):
    """Through the whole ingest: none fails to be filed, none comes back to be tried again."""
    settings.INGEST_LEASE_SECONDS = 60.0
    place = house()
    for number, raw in enumerate(mutants(COUNT, seed=SEED)):
        hand_in(raw, provider_id=f"m{number}")
    ingesting.process_all()
    with in_workspace(place.id):
        messages = Counter(InboundMessage.objects.values_list("state", "reason", "attempts"))
        emails = Counter(Email.objects.values_list("state", flat=True))
        entries = Entry.objects.count()
    assert {(state, attempts) for state, _, attempts in messages} <= {("done", 1), ("quarantined", 1)}, messages
    assert not [reason for state, reason, _ in messages if state == "quarantined" and "parser gave up" in reason]
    assert emails.total() == messages.total() == COUNT
    assert set(emails) <= {"threaded", "ignored", "quarantined"}
    assert entries > COUNT / 2
    print(f"\n{COUNT} mutants handed in: {dict(emails)}")
