"""A pooler gives a session to whoever comes next (G5): nothing of the client before may be in it."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.isolation import pooler
from tests.resources.nine import World

TURNS = 150
WAYS = ["threads", "tasks"]


@pytest.mark.long
@pytest.mark.skipif(pooler.program() is None, reason="there is no PgBouncer here; bin/setup --dev says how to get it")
def test_nothing_of_another_workspace_is_seen_through_a_pool_of_two(ours: World, theirs: World, cases, tmp_path: Path):
    """Sixteen clients on two sessions, beside eight that are killed; all of them end units of work by exceptions."""
    places = [str(ours.id), str(theirs.id)]
    with pooler.pooling(tmp_path, sessions=2) as url:
        killed = _start(url, "threads", 100_000, places)
        running = [_start(url, way, TURNS, places) for way in WAYS]
        reports = [orjson.loads(killed.stdout.readline())]  # it is in the midst of it
        time.sleep(0.2)
        killed.kill()
        killed.communicate(timeout=10)
        for one in running:
            out, err = one.communicate(timeout=120)
            assert one.returncode == 0, err.decode()[-2000:]
            reports.append(orjson.loads(out.splitlines()[-1]))
    assert [found for report in reports for found in report["foreign"]] == []
    looks = sum(report["looks"] for report in reports)
    assert looks > 20_000
    cases("G5", looks)


def _start(url: str, way: str, turns: int, places: list[str]) -> Any:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.isolation.pooled", way, str(turns), *places],
        env=os.environ | {"DATABASE_URL": url}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
