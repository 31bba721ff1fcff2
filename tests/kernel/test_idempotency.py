"""One effect per key (F1 to F3): racing calls, crashes, slow runs, other content, other callers."""

import threading
import time
from collections import Counter
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connections

from audit.models import AuditEvent
from audit.services import record
from kernel import clock, idempotency
from kernel.access import Principal
from kernel.context import Actor
from kernel.crash import VARIABLE, Crashed, crash_point
from kernel.idempotency import KeyMalformed, KeyReused, StillRunning, run_once
from kernel.models import IdempotencyRecord
from kernel.transactions import in_all_workspaces, in_workspace

HOUSE = uuid4()


def caller(name: str = "1", house=HOUSE) -> Principal:
    return Principal(workspace_id=house, actor=Actor("machine_key", name))


def effect(house=HOUSE, answer: bytes = b'{"id":1}'):
    """Work with a countable effect: one audit event."""

    def work() -> tuple[int, bytes]:
        record(workspace_id=house, action="test.effect", resource_kind="thing", resource_id=1)
        return 201, answer

    return work


def effects(house=HOUSE) -> int:
    with in_workspace(house):
        return AuditEvent.objects.filter(action="test.effect").count()


def call(key: str, content: object = None, *, who: Principal | None = None, operation: str = "POST /things", work=None):
    who = who or caller()
    return run_once(
        principal=who, operation=operation, key=key, content=content or {"a": 1}, work=work or effect(who.workspace_id)
    )


def test_twenty_parallel_identical_calls_have_one_effect(db):
    outcomes: Counter = Counter()
    start = threading.Barrier(20)

    def one() -> None:
        start.wait()
        for key in ("k1", "k2", "k3"):
            try:
                answer = call(key)
                outcomes[(answer.status, answer.body)] += 1
            except StillRunning:
                outcomes["409"] += 1
        connections.close_all()

    threads = [threading.Thread(target=one) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert effects() == 3
    assert set(outcomes) <= {(201, b'{"id":1}'), "409"}
    assert sum(outcomes.values()) == 60
    assert {call(key).replayed for key in ("k1", "k2", "k3")} == {True}


def test_the_same_content_in_other_words_is_the_same(db):
    first = call("k", {"a": 1, "b": [1, 2]})
    again = call("k", {"b": [1, 2], "a": 1})
    assert (first.replayed, again.replayed, again.body, again.status) == (False, True, first.body, 201)
    assert effects() == 1


@pytest.mark.parametrize("content", [{"a": 2}, {"a": "1"}, {"a": 1, "b": None}, [{"a": 1}], "a", {"a": [1]}])
def test_the_same_key_with_other_content_is_refused(db, content):
    call("k")
    with pytest.raises(KeyReused) as refusal:
        call("k", content)
    assert refusal.value.status == 422
    assert effects() == 1


def test_the_same_key_for_another_operation_is_refused(db):
    call("k")
    with pytest.raises(KeyReused):
        call("k", operation="POST /others")


def test_keys_belong_to_their_caller_and_workspace(db):
    other = uuid4()
    call("k")
    assert not call("k", who=caller("2")).replayed
    assert not call("k", who=caller("1", other)).replayed
    assert (effects(), effects(other)) == (2, 1)


def test_a_renewed_token_is_the_same_caller(db):
    def token(jti: str) -> Principal:
        return Principal(workspace_id=HOUSE, actor=Actor("token", jti), account=f"workspace:{HOUSE}")

    assert not call("k", who=token("first")).replayed
    assert call("k", who=token("second")).replayed


@pytest.mark.parametrize("key", ["", "x" * 256, "ключ", "a b", "a\nb", "a\x00", "\x7f", " ", "é"])
def test_malformed_keys_are_refused(db, key):
    with pytest.raises(KeyMalformed) as refusal:
        call(key)
    assert refusal.value.status == 400
    assert effects() == 0


def test_a_refused_request_may_be_corrected_under_the_same_key(db):
    def refuse() -> tuple[int, bytes]:
        effect()()
        raise idempotency.Invalid("not like this")

    with pytest.raises(idempotency.Invalid):
        call("k", {"a": "bad"}, work=refuse)
    assert effects() == 0
    assert not call("k", {"a": "good"}).replayed
    assert effects() == 1


@pytest.mark.parametrize("point", ["before", "after"])
def test_a_run_whose_process_died_leaves_its_key_free(db, children, monkeypatch, point):
    """F3: dead in the middle of its work, and between its work and its commit."""

    def work() -> tuple[int, bytes]:
        crash_point("test.before")
        answer = effect()()
        crash_point("test.after")
        return answer

    monkeypatch.setenv(VARIABLE, f"test.{point}:kill")
    children.wait([children.start(lambda: call("k", work=work))], 10)
    monkeypatch.delenv(VARIABLE)
    assert not soon("k").replayed
    assert call("k").replayed
    assert effects() == 1


def soon(key: str) -> idempotency.Answer:
    """As a caller who is told to try again does: the database notices a moment later that a process is gone."""
    ends = time.monotonic() + 10
    while True:
        try:
            return call(key)
        except StillRunning:
            assert time.monotonic() < ends, "the key was never free"
            time.sleep(0.01)


def test_a_crash_that_raises_leaves_the_key_free(db, monkeypatch):
    def work() -> tuple[int, bytes]:
        crash_point("test.mid")
        return effect()()

    monkeypatch.setenv(VARIABLE, "test.mid:raise")
    with pytest.raises(Crashed):
        call("k", work=work)
    monkeypatch.delenv(VARIABLE)
    assert not call("k").replayed
    assert effects() == 1


def test_a_run_has_its_key_for_as_long_as_it_takes(db):
    """Meanwhile everybody else is told so, whatever they send; afterwards they get its answer."""
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> tuple[int, bytes]:
        answer = effect()()
        begun.set()
        assert go_on.wait(10)
        return answer

    def runs() -> None:
        call("k", work=slow)
        connections.close_all()

    first = threading.Thread(target=runs)
    first.start()
    assert begun.wait(10)
    for content in ({"a": 1}, {"a": 2}):
        with pytest.raises(StillRunning):
            call("k", content)
    assert not call("other").replayed
    go_on.set()
    first.join()
    assert call("k").replayed
    assert effects() == 2


def test_an_answer_is_read_while_another_reads_it(db):
    """Who gets a kept answer holds nothing that would turn the next one away."""
    call("k")
    with in_workspace(HOUSE):
        assert call("k").replayed
        other = []

        def reads() -> None:
            other.append(call("k").replayed)
            connections.close_all()

        thread = threading.Thread(target=reads)
        thread.start()
        thread.join()
        assert other == [True]


def test_kept_answers_are_sealed(db):
    """Some hold a secret that is shown once; a dump of the database must not show it again (K4)."""
    secret = b'{"secret":"whsec_c2VjcmV0c2VjcmV0"}'
    call("k", work=effect(answer=secret))
    with in_workspace(HOUSE):
        (kept,) = IdempotencyRecord.objects.values_list("response_body", flat=True)
    assert b"whsec" not in bytes(kept)
    assert call("k").body == secret


def test_records_are_pruned_after_their_time_and_not_before(db):
    call("k")
    assert idempotency.prune() == 0
    assert call("k").replayed
    with in_all_workspaces("a test turns the clock"):
        IdempotencyRecord.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    assert idempotency.prune() == 1
    assert not call("k").replayed
