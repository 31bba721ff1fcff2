"""`bin/with-services`: the command's exit code and signals are its own, and the command ends with it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.config.harness import CHECKOUT, environment, eventually

pytestmark = pytest.mark.xdist_group("embedded")

# Services are named, so that none are started: these tests are about the command.
NAMED = {"DATABASE_URL": "postgresql://elsewhere/inbox", "REDIS_URL": "redis://elsewhere"}

WAIT = """
import os, signal, sys, time
def leave(signum, frame):
    # Not print: the signal may come while the print of "ready" still holds its lock.
    os.write(1, f"got {signal.Signals(signum).name}\\n".encode())
    sys.exit(5)
signal.signal(signal.SIGTERM, leave)
signal.signal(signal.SIGINT, leave)
print("ready", flush=True)
time.sleep(60)
"""


def start(*command: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [CHECKOUT / "bin" / "with-services", "--no-migrate", *command],
        env=environment() | NAMED,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def outcome(*command: str) -> tuple[int, str, str]:
    process = start(*command)
    said, complained = process.communicate(timeout=20)
    return process.returncode, said, complained


@pytest.fixture
def waiting() -> "Iterator[subprocess.Popen[str]]":
    process = start(sys.executable, "-c", WAIT)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)])
def test_the_exit_code_is_the_commands(script: str, code: int) -> None:
    assert outcome("sh", "-c", script)[0] == code


def test_the_command_gets_its_arguments_and_the_services_it_was_given() -> None:
    assert outcome("sh", "-c", 'echo "$DATABASE_URL $1"', "sh", "--a b") == (
        0,
        f"{NAMED['DATABASE_URL']} --a b\n",
        "",
    )


def test_a_command_that_does_not_exist_is_one_sentence() -> None:
    code, _, complained = outcome("no-such-command")
    assert code == 127
    assert complained == "bin/with-services: cannot run no-such-command: No such file or directory\n"


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_signals_reach_the_command(waiting: "subprocess.Popen[str]", signum: signal.Signals) -> None:
    waiting.send_signal(signum)
    said, _ = waiting.communicate(timeout=10)
    assert (waiting.returncode, said) == (5, f"got {signum.name}\n")


def test_killing_it_ends_the_command(waiting: "subprocess.Popen[str]") -> None:
    waiting.kill()
    said, _ = waiting.communicate(timeout=10)  # the command held the pipe; this returns once it is gone too
    assert said == "got SIGTERM\n"


def test_a_ctrl_c_in_the_terminal_reaches_the_command_once() -> None:
    # A terminal sends SIGINT to the whole group; the command would be interrupted in its clean-up by a second.
    script = (
        "import time\nn=0\nfor turn in range(2):\n  try:\n    if not turn: print('ready', flush=True)\n    time.sleep(1)\n"
        "  except KeyboardInterrupt: n+=1\nprint(n)"
    )
    terminal, theirs = os.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", CHECKOUT / "bin" / "with-services", "--no-migrate", sys.executable, "-c", script],
        env=environment() | NAMED,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    assert eventually(lambda: b"ready" in os.read(terminal, 100))
    os.write(terminal, b"\x03")
    said = read_all(terminal)
    os.close(terminal)
    assert process.wait(timeout=10) == 0
    assert said.rstrip().endswith(b"1")


def test_scripts_explain_what_they_do_not_know() -> None:
    for command, complaint in (
        (["bin/setup", "--nonsense"], "unknown argument --nonsense; known are --dev and --browser."),
        (["bin/with-services"], "a COMMAND is needed"),
    ):
        done = run(command)
        assert done.returncode != 0
        assert complaint in done.stderr


def run(command: Sequence[str], cwd: Path = CHECKOUT) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, check=False)


def read_all(terminal: int) -> bytes:
    said = b""
    while True:
        try:
            chunk = os.read(terminal, 1000)
        except OSError:  # how a pseudo-terminal says that the other side is gone
            chunk = b""
        if not chunk:
            return said
        said += chunk
