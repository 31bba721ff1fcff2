"""One effect per Idempotency-Key, at the API's door (F1 to F5): racing, repeated, changed, crashed and rolled back."""

import threading
import time
from collections import Counter, defaultdict
from uuid import uuid4

import orjson
import pytest
from django.db import connection, connections

from config.demo.sink import Sink
from inbox.models import Email
from inbox.services import sending
from kernel.crash import VARIABLE
from kernel.transactions import in_all_workspaces, in_workspace
from tests.agents import forking
from tests.agents.factories import office, play, receive, work
from tests.api.conftest import Caller
from webhooks.models import Webhook

HOOK = {"url": "https://example.com/hook", "slugs": ["email.*"], "label": "one"}


@pytest.fixture
def place(db, settings):
    settings.API_RATE_LIMIT = 0
    return office("acme", autonomy="draft")


def made(place) -> int:
    with in_workspace(place.id):
        return Webhook.objects.count()


def records() -> list[tuple]:
    with in_all_workspaces("a test looks at the plumbing"), connection.cursor() as cursor:
        cursor.execute("SELECT r::text FROM kernel_idempotencyrecord r ORDER BY id")
        return cursor.fetchall()


def race(count: int, action) -> None:
    start = threading.Barrier(count)

    def run(number: int) -> None:
        start.wait()
        try:
            action(number)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=[number]) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_fifty_keys_by_twenty_at_once_have_fifty_effects(place, cases):
    """F1: 1,000 identical POSTs; each is the one that does it, or a replay of it, or told that it still runs."""
    caller, keys = Caller(place.id), [f"key-{number}" for number in range(50)]
    statuses, bodies, lock = Counter(), defaultdict(set), threading.Lock()
    together = threading.Barrier(20)

    def ask(_number: int) -> None:
        for key in keys:
            together.wait()
            answer = caller("POST", "/webhooks", HOOK, Idempotency_Key=key)
            with lock:
                statuses[answer.status_code] += 1
                if answer.status_code == 201:
                    bodies[key].add(answer.content)
                else:
                    assert answer.json()["code"] == "idempotency_key_in_use"

    race(20, ask)
    print(f"{statuses.total()} racing POSTs on {len(keys)} keys: {dict(statuses)}")
    assert statuses.total() == 1_000
    assert set(statuses) <= {201, 409}
    assert {key: len(found) for key, found in bodies.items()} == dict.fromkeys(keys, 1)
    assert made(place) == 50
    cases("F1", statuses.total())


def test_a_key_is_for_one_content_of_one_caller_at_one_address(place, cases):
    """F2: other content is refused, the same content in other words is the same, other callers are independent."""
    first, second, abroad = Caller(place.id), Caller(place.id), Caller(office("globex").id)
    path = "/webhooks"
    once = first("POST", path, HOOK, Idempotency_Key="k")
    same = [
        orjson.dumps(dict(reversed(HOOK.items()))), orjson.dumps(HOOK, option=orjson.OPT_INDENT_2),
        b"  " + orjson.dumps(HOOK) + b"\n", orjson.dumps(HOOK).replace(b"one", b"\\u006fne"),
        orjson.dumps(HOOK, option=orjson.OPT_SORT_KEYS),
    ]  # fmt: skip
    for body in same:
        answer = first("POST", path, body, Idempotency_Key="k")
        assert (answer.status_code, answer.content, answer["Idempotency-Replayed"]) == (201, once.content, "true"), body
    other = [
        HOOK | {"label": "two"}, HOOK | {"label": "One"}, HOOK | {"label": "one "}, HOOK | {"ordered": False},
        HOOK | {"slugs": ["email.*", "email.*"]}, HOOK | {"rate_per_second": None}, {}, HOOK | {"custom_metadata": {}},
    ]  # fmt: skip
    for body in other:
        answer = first("POST", path, body, Idempotency_Key="k")
        assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused"), body
    for address in (f"/webhooks/{once.json()['id']}/disable", "/agents", f"/webhooks/{once.json()['id']}/test"):
        assert first("POST", address, HOOK, Idempotency_Key="k").json()["code"] == "idempotency_key_reused"
    assert made(place) == 1
    for caller in (second, abroad):
        answer = caller("POST", path, HOOK, Idempotency_Key="k")
        assert (answer.status_code, answer.has_header("Idempotency-Replayed")) == (201, False)
        assert answer.json()["id"] != once.json()["id"]
    for key in ("", " ", "x" * 256, "a b", "\u00e9", "ключ", "a\tb", "\x7f", "a\u2028b", "💥"):
        answer = first("POST", path, HOOK, Idempotency_Key=key)
        assert (answer.status_code, answer.json()["code"]) == (400, "idempotency_key_malformed"), repr(key)
    assert first("POST", path, HOOK, Idempotency_Key="x" * 255).status_code == 201
    assert made(place) == 3
    # On other methods it means nothing.
    assert first.get(path, Idempotency_Key="k").status_code == 200
    label = {"label": "patched"}
    assert first("PATCH", f"{path}/{once.json()['id']}", label, Idempotency_Key="k").json()["label"] == "patched"
    # Same contents, other contents, other addresses, other callers, malformed keys, the longest, other methods.
    cases("F2", len(same) + len(other) + 3 + 2 + 10 + 1 + 2)


def test_the_same_key_of_two_callers_is_two_mails(place):
    """Nobody's mail is taken for another's because both count their keys from one."""
    mail = {"from": {"address": "ada@customer.test"}, "to": [{"address": "support@acme.test"}], "subject": "First"}
    first, second = Caller(place.id), Caller(place.id)
    one = first("POST", "/emails", mail, Idempotency_Key="1")
    two = second("POST", "/emails", mail | {"subject": "Second"}, Idempotency_Key="1")
    again = first("POST", "/emails", mail, Idempotency_Key="1")
    assert (one.status_code, two.status_code, again.json()) == (202, 202, one.json())
    assert one.json()["id"] != two.json()["id"]
    with in_workspace(place.id):
        assert Email.objects.count() == 2


# Whether the effect is there when the process dies at this point.
POINTS = {
    "idempotency.begun": False,
    "idempotency.worked": False,
    "idempotency.committed": True,
    "idempotency.answered": True,
}


def test_a_process_that_dies_leaves_one_effect_and_no_key_behind(place, cases):
    """F3: killed at four points, 25 times each: whoever asks again gets the one effect."""
    caller = Caller(place.id)

    def ask(key: str):
        # The database notices a moment later that a process is gone; until then its request still runs.
        ends = time.monotonic() + 10
        while (answer := caller("POST", "/webhooks", HOOK, Idempotency_Key=key)).status_code == 409:
            assert time.monotonic() < ends, "the key was never free"
            time.sleep(0.01)
        return answer

    for point, is_done in POINTS.items():
        for number in range(25):
            key, before = f"{point}-{number}", made(place)
            forking.killed_at(point, lambda key=key: caller("POST", "/webhooks", HOOK, Idempotency_Key=key))
            answers = [ask(key) for _ in range(2)]
            assert [answer.status_code for answer in answers] == [201, 201]
            assert [answer.has_header("Idempotency-Replayed") for answer in answers] == [is_done, True]
            assert answers[0].content == answers[1].content
            assert made(place) == before + 1
    cases("F3", 25 * len(POINTS))


def test_what_is_done_stays_done(place, cases):
    """F4: 1,000 racing retries, right ones and wrong ones, change nothing about a kept answer."""
    caller, keys = Caller(place.id), [f"key-{number}" for number in range(5)]
    kept = {key: caller("POST", "/webhooks", HOOK, Idempotency_Key=key).content for key in keys}
    before, statuses, lock = records(), Counter(), threading.Lock()

    def ask(number: int) -> None:
        for turn in range(50):
            key = keys[turn % len(keys)]
            wrong = (number + turn) % 4 == 0
            answer = caller("POST", "/webhooks", HOOK | {"label": "x"} if wrong else HOOK, Idempotency_Key=key)
            with lock:
                statuses[answer.status_code] += 1
            assert answer.status_code == (422 if wrong else 201)
            assert wrong or answer.content == kept[key]

    race(20, ask)
    assert statuses == {201: 750, 422: 250}
    assert records() == before
    assert made(place) == 5
    cases("F4", statuses.total())


def test_what_is_rolled_back_has_reached_nobody(place, settings, monkeypatch, cases):
    """F5: an approval that sends mail: undone, nothing leaves; killed after its commit, one mail leaves, ever."""
    with Sink() as sink:
        settings.MAIL_TRANSPORT, settings.MAIL_SMTP_HOST, settings.MAIL_SMTP_PORT = "smtp", "127.0.0.1", sink.port
        settings.MAIL_SMTP_TLS = "none"
        caller = Caller(place.id)
        play()
        receive(place)
        work()
        path = f"/approvals/{caller.get('/approvals?state=pending').json()['data'][0]['id']}/approve"

        def settle() -> int:
            work()
            while sending.send_due():
                pass
            return len(sink.ledger.messages)

        with monkeypatch.context() as patch:
            patch.setenv(VARIABLE, "idempotency.worked:raise")
            assert caller("POST", path, {}, Idempotency_Key="once").status_code == 500
        assert caller.get("/approvals?state=pending").json()["data"]
        assert (records(), settle()) == ([], 0)
        forking.killed_at("idempotency.committed", lambda: caller("POST", path, {}, Idempotency_Key="once"))
        assert settle() == 1
        for _ in range(3):
            again = caller("POST", path, {}, Idempotency_Key="once")
            assert (again.status_code, again["Idempotency-Replayed"]) == (200, "true")
            assert settle() == 1
        assert caller("POST", path, {}, Idempotency_Key=str(uuid4())).status_code == 409
        assert settle() == 1
        cases("F5", 1 + 1 + 3 + 1)
