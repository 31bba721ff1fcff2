"""The demo as a newcomer runs it: real processes, real mail, real sockets; and nothing stays behind."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
import urllib3

from inbox.models import Entry
from kernel.transactions import in_all_workspaces
from tests.config.harness import eventually

ABOVE_ZERO = ["replies_sent", "approvals_waiting", "ignored", "quarantined", "duplicates", "webhooks_verified"]


@contextmanager
def demo(tmp_path: Path, *options: str) -> Iterator[subprocess.Popen]:
    """One that is running. If its test fails, it ends all the same: it would work on the rows of the next ones."""
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    environment["MAIL_LISTEN_PORT"] = "0"  # two demos at once must not choose the same one
    argv = [sys.executable, "manage.py", "demo", "--port", "0", "--folder", str(tmp_path), *options]
    with subprocess.Popen(
        argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def family(process: subprocess.Popen) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def gone(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=20)
    return alive == []


def judge(counts: dict[str, float]) -> None:
    assert (counts["lost"], counts["doubled"]) == (0, 0)
    assert all(counts[name] > 0 for name in ABOVE_ZERO), counts
    assert counts["webhooks_verified"] >= counts["webhooks_delivered"] > 0


def told(text: str) -> dict[str, float]:
    """The counts that the invitation begins with, over as many lines as they take."""
    line = "received " + text.rpartition("received ")[2].partition("Console")[0]
    return {
        name.strip().replace(" ", "_"): float(count)
        for name, count in re.findall(r"([a-z ]+) ([\d.]+)", " ".join(line.split()))
    }


def end(process: subprocess.Popen, number: signal.Signals) -> None:
    """Send it a signal; it goes, and with it all that it has started."""
    children = family(process)
    assert len(children) >= 6
    process.send_signal(number)
    process.wait(timeout=40)
    assert gone(children)


@pytest.mark.long
@pytest.mark.xdist_group("demo")
def test_a_demo_invites_to_look_and_ends_when_it_is_asked(db, tmp_path):
    with demo(tmp_path) as process:
        said = []
        while not said or not said[-1].startswith("Stop with"):
            line = process.stdout.readline()
            assert line, "the demo ended early: " + "".join(said[-30:])
            said.append(line)
        address = next(line.split()[1] for line in said if line.startswith("Console"))
        assert urllib3.request("GET", address, redirect=False).status in (200, 302)
        outside = next(line.split()[1] for line in said if line.startswith("MCP"))
        assert urllib3.request("POST", outside, json={}, redirect=False).status == 401
        judge(told("".join(said)))
        end(process, signal.SIGINT)


@pytest.mark.deep
@pytest.mark.xdist_group("demo")
def test_a_second_demo_comes_out_as_clean_as_the_first(db, tmp_path):
    for _ in range(2):
        with demo(tmp_path, "--once") as process:
            output, _ = process.communicate(timeout=240)
            assert process.returncode == 0, output[-3000:]
            judge(json.loads(output.strip().splitlines()[-1]))


@pytest.mark.deep
@pytest.mark.xdist_group("demo")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_demo_that_is_ended_in_the_middle_of_its_work_leaves_no_process_behind(db, tmp_path, number):
    with demo(tmp_path) as process:
        assert eventually(some_mail_is_in, seconds=60)
        assert process.poll() is None
        end(process, number)


def some_mail_is_in() -> bool:
    with in_all_workspaces("a test looks whether the demo has begun"):
        return Entry.objects.exists()
