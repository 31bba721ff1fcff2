"""Starting programs under a guard, and the small things every started program needs: a port, a log file."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

from config.embedded import guard

LOG_LIMIT = 10_000_000
HOST = "127.0.0.1"


class EmbeddedError(Exception):
    """A service could not be started. The message is one sentence that says what to do."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """What to run and how to end it: `grace` seconds after `stop_signal` it is killed."""

    argv: Sequence[str]
    env: Mapping[str, str]
    stop_signal: signal.Signals = signal.SIGTERM
    grace: float = 10.0
    account: tuple[int, int] | None = None
    cwd: Path | None = None


def start(
    program: Program,
    *,
    lifeline: int,
    name: Path | None = None,
    output: int | IO[bytes],
    keep: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Run the program under a guard that reads `lifeline`; the descriptors in `keep` stay open in the program.

    The guard has a session of its own, so a Ctrl-C in the terminal reaches us alone and we end it in order.
    """
    options = guard.Options(
        lifeline=lifeline,
        name=str(name) if name else None,
        stop_signal=program.stop_signal,
        grace=program.grace,
        account=program.account,
    )
    return subprocess.Popen(  # noqa: S603 - our own interpreter and our own programs, no shell
        [sys.executable, "-I", "-S", guard.__file__, json.dumps(options), *program.argv],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=dict(program.env),
        cwd=program.cwd,
        pass_fds=(lifeline, *keep),
        start_new_session=True,
    )


def run(program: Program, *, keep: Sequence[int]) -> tuple[int, str]:
    """Run a program that ends by itself; its exit code and what it said. It is stopped if we end before it."""
    reader, lifeline = os.pipe()
    try:
        guard = start(program, lifeline=reader, output=subprocess.PIPE, keep=keep)
    finally:
        os.close(reader)
    try:
        said, _ = guard.communicate()
    finally:
        os.close(lifeline)
    return guard.returncode, said.decode(errors="replace")


def bare_environment() -> dict[str, str]:
    """What a service needs of our environment: no secrets, and nothing of PG* or LC_* that would change it."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "PATH") if name in os.environ}
    return kept | {"LC_ALL": "C"}


def rotate(log: Path) -> int:
    """Move a log that grew too large aside, to be kept once as `.1`; return the size of what stays."""
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        size = log.stat().st_size
    except FileNotFoundError:
        return 0
    if size <= LOG_LIMIT:
        return size
    log.replace(log.with_name(f"{log.name}.1"))
    return 0


def open_log(path: Path) -> IO[bytes]:
    """Open a log for appending."""
    rotate(path)
    return path.open("ab", buffering=0)


def free_port(preferred: int | None) -> int:
    """The preferred port if nobody listens there, else one the kernel picks.

    Somebody may take it before the service does, hence callers try again.
    """
    for port in (preferred, 0):
        if port is None:
            continue
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError):
                probe.bind((HOST, port))
                return int(probe.getsockname()[1])
    raise EmbeddedError(f"No port is free on {HOST}; end some of the programs that listen there.")


_ENDINGS = (signal.SIGTERM, signal.SIGHUP)


def _leave(signum: int, _frame: FrameType | None) -> NoReturn:
    for ending in _ENDINGS:  # a second signal must not interrupt the orderly end that the first one began
        signal.signal(ending, signal.SIG_IGN)
    raise SystemExit(128 + signum)


@contextmanager
def orderly_exit() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the stack as Ctrl-C does, so that `finally` and `with` do their work.

    Without this nothing would be left running either, but we would be gone before the children are. A signal
    that is being ignored stays so: that is how `nohup` works.
    """
    in_charge = threading.current_thread() is threading.main_thread()  # others may not set handlers
    before = {signum: signal.getsignal(signum) for signum in _ENDINGS} if in_charge else {}
    for signum, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(signum, _leave)
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler or signal.SIG_DFL)
