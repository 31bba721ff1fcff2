"""The supervisor keeps its children alive while it lives, and not a moment longer."""

import io
import json
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from config.embedded import processes
from config.embedded.supervisor import Child, Supervisor
from tests.config.harness import Python, eventually, kill, nothing_left, processes_at

pytestmark = pytest.mark.xdist_group("embedded")

SUPERVISE = """
import json, sys, time
from pathlib import Path
from config.embedded.supervisor import Child, Supervisor
folder = Path(sys.argv[1])
children = [Child(name=name, argv=[sys.executable, "-uc", code, f"{folder}/"]) for name, code in json.loads(sys.argv[2])]
with Supervisor(children, logs=folder / "log", grace=float(sys.argv[3])) as supervisor:
    while len(supervisor.guards()) < len(children):
        time.sleep(0.01)
    print(json.dumps(supervisor.guards()), flush=True)
    supervisor.wait()
"""

POLITE = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(print("tidied up")))
print("ready")
time.sleep(60)
"""

SLOW = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (time.sleep(1), sys.exit(print("tidied up"))))
print("ready")
time.sleep(60)
"""

STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready")
time.sleep(60)
"""

# One child in the same group, one in a session of its own; both deaf to SIGTERM.
PARENT = """
import subprocess, sys, time
code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready'); time.sleep(60)"
for apart in (False, True):
    subprocess.Popen([sys.executable, "-uc", code, *sys.argv[1:]], start_new_session=apart)
time.sleep(60)
"""


def supervise(folder: Path, *codes: str, grace: float = 10) -> Python:
    return Python(SUPERVISE, folder, json.dumps([(f"child{i}", code) for i, code in enumerate(codes)]), grace)


def log(folder: Path, name: str = "child0") -> str:
    path = folder / "log" / f"{name}.log"
    return path.read_text() if path.exists() else ""


def python(name: str, code: str) -> Child:
    return Child(name=name, argv=[sys.executable, "-uc", code])


class TestOutput:
    def test_lines_go_to_the_log_as_they_are_and_to_the_terminal_with_a_name(self, tmp_path: Path) -> None:
        terminal = io.StringIO()
        child = Child(
            name="web",
            argv=[
                sys.executable,
                "-uc",
                "import os; print(os.environ['A'] * 3); os.write(2, b'no end'); input()",
            ],
            env={"A": "b"},
        )
        with Supervisor([child, python("mailer", "raise SystemExit(3)")], logs=tmp_path, terminal=terminal):
            assert eventually(lambda: "EOF" in terminal.getvalue() and "code 3" in terminal.getvalue())
        said = (tmp_path / "web.log").read_text().splitlines()
        assert said[:2] == ["started", "bbb"]
        assert said[2].startswith("no endTraceback")
        assert "web    | bbb\n" in terminal.getvalue()
        assert "mailer | ended with exit code 3, starts again in 1 s\n" in terminal.getvalue()

    def test_a_large_log_is_moved_aside_at_the_start(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(processes, "LOG_LIMIT", 10)
        (tmp_path / "web.log").write_text("long ago " * 10)
        with Supervisor([python("web", "print('now')")], logs=tmp_path):
            assert eventually(lambda: "now" in (tmp_path / "web.log").read_text())
        assert "long ago" not in (tmp_path / "web.log").read_text()
        assert "long ago" in (tmp_path / "web.log.1").read_text()

    def test_a_terminal_that_went_away_is_no_reason_to_stop(self, tmp_path: Path) -> None:
        terminal = io.StringIO()
        terminal.close()
        with Supervisor([python("web", "print('now')")], logs=tmp_path, terminal=terminal):
            assert eventually(lambda: "now" in (tmp_path / "web.log").read_text())


class TestRestarts:
    def test_a_crashed_child_comes_back_later_and_later_while_others_go_on(self, tmp_path: Path) -> None:
        children = [
            python("crash", "raise SystemExit(1)"),
            python("steady", POLITE),
            Child(name="typo", argv=["/no"]),
        ]
        with Supervisor(children, logs=tmp_path) as supervisor:
            steady = eventually(lambda: supervisor.guards().get("steady"))
            assert eventually(lambda: "again in 4 s" in (tmp_path / "crash.log").read_text())
            assert supervisor.guards()["steady"] == steady
            begin = time.monotonic()
        assert time.monotonic() - begin < 2, "a child that waits for its turn does not hold up the end"
        said = (tmp_path / "crash.log").read_text().splitlines()
        assert said == [
            "started", "ended with exit code 1, starts again in 1 s",
            "started", "ended with exit code 1, starts again in 2 s",
            "started", "ended with exit code 1, starts again in 4 s",
        ]  # fmt: skip
        assert "FATAL: cannot run /no: [Errno 2] No such file or directory" in (tmp_path / "typo.log").read_text()


class TestTheEnd:
    @pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    def test_a_signal_ends_all_children_in_order(self, tmp_path: Path, signum: signal.Signals) -> None:
        with supervise(tmp_path, POLITE, POLITE) as supervisor:
            wait_ready(tmp_path, supervisor, 2)
            assert supervisor.send(signum) == 0
            assert not processes_at(tmp_path)
        for name in ("child0", "child1"):
            assert log(tmp_path, name).splitlines() == ["started", "ready", "tidied up", "stopped"]

    @pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    def test_impatience_changes_nothing(self, tmp_path: Path, signum: signal.Signals) -> None:
        with supervise(tmp_path, SLOW, POLITE) as supervisor:
            wait_ready(tmp_path, supervisor, 2)
            for _ in range(3):
                supervisor.process.send_signal(signum)
                time.sleep(0.2)
            assert supervisor.send(signum) == 0
        for name in ("child0", "child1"):
            assert log(tmp_path, name).splitlines() == ["started", "ready", "tidied up", "stopped"]

    def test_who_does_not_listen_is_killed_after_the_grace(self, tmp_path: Path) -> None:
        with supervise(tmp_path, STUBBORN, POLITE, grace=0.5) as supervisor:
            wait_ready(tmp_path, supervisor, 2)
            begin = time.monotonic()
            assert supervisor.send(signal.SIGTERM) == 0
            assert 0.4 < time.monotonic() - begin < 3
            assert not processes_at(tmp_path)

    def test_a_child_that_needs_longer_has_longer(self, tmp_path: Path) -> None:
        child = Child(name="slow", argv=[sys.executable, "-uc", SLOW], grace=20)
        with Supervisor([child], logs=tmp_path / "log", grace=0.2):
            assert eventually(lambda: "ready" in log(tmp_path, "slow"))
        assert "tidied up" in log(tmp_path, "slow")

    def test_killing_the_supervisor_leaves_nothing_not_even_grandchildren(self, tmp_path: Path) -> None:
        with supervise(tmp_path, POLITE, PARENT, grace=0.5) as supervisor:
            wait_ready(tmp_path, supervisor, 1)
            assert eventually(lambda: log(tmp_path, "child1").count("ready") == 2)
            supervisor.send(signal.SIGKILL)
        assert nothing_left(tmp_path)

    def test_killing_a_child_ends_what_it_left_behind(self, tmp_path: Path) -> None:
        with supervise(tmp_path, PARENT, grace=0.5) as supervisor:
            guard = supervisor.said()["child0"]
            assert eventually(lambda: log(tmp_path).count("ready") == 2)
            child, *_ = children_of(guard)
            kill([child])
            assert eventually(lambda: "ended with exit code 137" in log(tmp_path))
            assert supervisor.send(signal.SIGTERM) == 0
        assert nothing_left(tmp_path)

    def test_killing_a_guard_ends_its_child_and_starts_it_anew(self, tmp_path: Path) -> None:
        with supervise(tmp_path, POLITE) as supervisor:
            guards = wait_ready(tmp_path, supervisor, 1)
            kill(guards)
            assert eventually(lambda: log(tmp_path).count("ready") == 2)
            assert log(tmp_path).count("tidied up") == 1
            assert supervisor.send(signal.SIGTERM) == 0
        assert nothing_left(tmp_path)

    def test_an_error_in_the_block_ends_the_children(self, tmp_path: Path) -> None:
        def fail() -> None:
            with Supervisor([python("web", POLITE)], logs=tmp_path):
                assert eventually(lambda: "ready" in (tmp_path / "web.log").read_text())
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert "tidied up\nstopped\n" in (tmp_path / "web.log").read_text()


def wait_ready(folder: Path, supervisor: Python, count: int) -> Sequence[int]:
    guards = supervisor.said()
    for number in range(count):
        assert eventually(lambda name=f"child{number}": "ready" in log(folder, name))
    return list(guards.values())


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
