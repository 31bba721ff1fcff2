"""The demo as a newcomer runs it: real processes, real mail, real sockets; and nothing stays behind."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import urllib3

ABOVE_ZERO = ["replies_sent", "approvals_waiting", "ignored", "quarantined", "duplicates", "webhooks_verified"]


def start(tmp_path: Path, *options: str) -> subprocess.Popen:
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    environment["MAIL_LISTEN_PORT"] = "0"  # two demos at once must not choose the same one
    argv = [sys.executable, "manage.py", "demo", "--port", "0", "--folder", str(tmp_path), *options]
    return subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def family(process: subprocess.Popen) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def gone(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=20)
    return alive == []


@pytest.mark.xdist_group("demo")
def test_twice_the_demo_comes_out_clean(db, tmp_path):
    for _ in range(2):
        process = start(tmp_path, "--once")
        output, _ = process.communicate(timeout=240)
        assert process.returncode == 0, output[-3000:]
        counts = json.loads(output.strip().splitlines()[-1])
        assert (counts["lost"], counts["doubled"]) == (0, 0)
        assert all(counts[name] > 0 for name in ABOVE_ZERO), counts
        assert counts["webhooks_verified"] >= counts["webhooks_delivered"] > 0


@pytest.mark.xdist_group("demo")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_ended_demo_leaves_no_process_behind(db, tmp_path, number):
    process = start(tmp_path)
    said = []
    while not said or not said[-1].startswith("Stop with"):
        line = process.stdout.readline()
        assert line, "the demo ended early: " + "".join(said[-30:])
        said.append(line)
    address = next(line.split()[1] for line in said if line.startswith("Console"))
    assert urllib3.request("GET", address, redirect=False).status in (200, 302)
    outside = next(line.split()[1] for line in said if line.startswith("MCP"))
    assert urllib3.request("POST", outside, json={}, redirect=False).status == 401
    children = family(process)
    assert len(children) >= 6
    process.send_signal(number)
    process.wait(timeout=40)
    assert gone(children)
    process.stdout.close()
