"""How much a caller may ask: told in every answer, kept by all processes together, and never a reason to fail."""

import logging
import re
import subprocess
import sys

import pytest
import redis
import time_machine

from kernel import nudge, rates
from kernel.api.limits import Usage
from tests.agents.factories import office
from tests.api.conftest import Caller
from tests.architecture.code import ROOT


@pytest.fixture
def place(db):
    return office("acme")


@pytest.fixture
def few(settings):
    settings.API_RATE_LIMIT, settings.API_RATE_WINDOW_SECONDS = 5, 3600


def left(answer) -> int:
    """What the RateLimit header says is left; both headers are structured fields (RFC 9651)."""
    policy = re.fullmatch(r'"default";q=(\d+);w=(\d+)', answer["RateLimit-Policy"])
    usage = re.fullmatch(r'"default";r=(\d+);t=(\d+)', answer["RateLimit"])
    assert 0 < int(usage[2]) <= int(policy[2])
    return int(usage[1])


def test_an_answer_says_what_is_left_and_a_refusal_when_to_return(place, few):
    caller = Caller(place.id)
    assert [left(caller.get("/workspace")) for _ in range(3)] == [4, 3, 2]
    # Refusals and absent things count, too.
    assert left(caller.get(f"/agents/{place.id}")) == 1
    assert left(caller("POST", "/webhooks", {})) == 0
    for method in ("GET", "POST", "DELETE"):
        refused = caller(method, "/webhooks", {} if method == "POST" else None)
        assert refused.status_code == (429 if method != "DELETE" else 405)
    refused = caller.get("/workspace")
    problem = refused.json()
    assert (refused.status_code, problem["code"], left(refused)) == (429, "rate_limited", 0)
    assert 0 < int(refused["Retry-After"]) <= 3600
    assert refused["Retry-After"] in problem["detail"]


def test_one_callers_use_is_not_anothers(place, few):
    first, second = Caller(place.id), Caller(place.id)
    for _ in range(6):
        last = first.get("/workspace")
    assert last.status_code == 429
    assert left(second.get("/workspace")) == 4
    assert left(Caller(office("globex").id).get("/workspace")) == 4


def test_a_new_window_begins_anew(place, few):
    caller = Caller(place.id)
    with time_machine.travel("2026-11-05T09:00:00Z", tick=False) as clock:
        for _ in range(6):
            refused = caller.get("/workspace")
        assert refused.status_code == 429
        clock.shift(int(refused["Retry-After"]) - 1)
        assert caller.get("/workspace").status_code == 429
        clock.shift(1)
        assert left(caller.get("/workspace")) == 4


def test_no_limit_no_header(place, settings):
    settings.API_RATE_LIMIT = 0
    assert not Caller(place.id).get("/workspace").has_header("RateLimit")


ADD = """
import django; django.setup()
from kernel import rates
for _ in range(100):
    rates.add(rates.window("shared", seconds=86_400), 1)
"""


def test_all_processes_count_together(db):
    children = [subprocess.Popen([sys.executable, "-c", ADD], cwd=ROOT) for _ in range(2)]
    assert [child.wait(timeout=60) for child in children] == [0, 0]
    assert rates.add(rates.window("shared", seconds=86_400), 1) == 201


def test_without_redis_requests_go_on_and_it_is_said_once(place, few, monkeypatch, caplog):
    """Each process then counts for itself, and asks Redis again after a while."""
    away = redis.Redis.from_url("redis://127.0.0.1:1/0", socket_connect_timeout=0.5)
    there = nudge.client()
    caller, other = Caller(place.id), Caller(place.id)
    for _ in range(6):
        caller.get("/workspace")
    with caplog.at_level(logging.WARNING, logger="kernel.rates"), monkeypatch.context() as patch:
        patch.setattr(nudge, "client", lambda: away)
        answers = [caller.get("/workspace") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 200]
        assert left(other.get("/workspace")) == 4
    assert len([line for line in caplog.records if line.name == "kernel.rates"]) == 1
    monkeypatch.setattr(rates, "_PAUSE_SECONDS", 0)
    rates.begin_again()
    assert nudge.client() is there
    assert caller.get("/workspace").status_code == 429


def test_counts_end_with_their_windows(db):
    window = rates.window("brief", seconds=30)
    rates.add(window, 1)
    assert 0 < nudge.client().ttl(window.name) <= 60


def test_the_headers_never_promise_less_than_nothing():
    usage = Usage(5, rates.Window("x", 60, 7), 9)
    assert usage.headers() == {"RateLimit-Policy": '"default";q=5;w=60', "RateLimit": '"default";r=0;t=7'}
