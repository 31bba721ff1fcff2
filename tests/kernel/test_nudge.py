"""Wake-ups: many are few, none is forgotten, and Redis being away costs nothing but speed."""

import time

import pytest

from kernel import nudge

TASK = "tests.nothing"


@pytest.fixture
def sent(monkeypatch):
    tasks: list[str] = []
    monkeypatch.setattr(nudge.current_app, "send_task", tasks.append)
    nudge._forget()
    return tasks


def test_a_burst_is_one_task_until_the_task_begins(sent):
    for _ in range(200):
        nudge.wake(TASK)
    time.sleep(nudge._GAP_SECONDS * 3)
    assert sent == [TASK]


def test_what_commits_after_the_task_began_wakes_again_even_within_the_gap(sent):
    nudge.wake(TASK)
    nudge.taken(TASK)
    nudge.wake(TASK)
    time.sleep(nudge._GAP_SECONDS * 4)
    assert sent == [TASK, TASK]


def test_redis_being_away_is_no_error(sent, settings, monkeypatch):
    import redis

    away = redis.Redis(port=1, socket_connect_timeout=0.1)
    monkeypatch.setattr(nudge, "client", lambda: away)
    nudge.wake(TASK)
    nudge.taken(TASK)
    assert sent == []
