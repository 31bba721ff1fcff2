"""Start a service or adopt the one that already runs, and let go of it afterwards.

Two files in the service's folder carry the whole protocol:

`lock`      held by the running service itself, which inherits it. Whoever gets it knows that nothing runs, even
            after crashes and whatever the process ids say, and is the only one who may start the service.
`lifeline`  the named pipe its guard reads. Everyone who uses the service holds it open for writing: the starter
            and all who adopt. When the last of them ends, in whichever way, the guard stops the service.

So it makes no difference who started first: a service stops when nobody uses it any more.
"""

import fcntl
import os
import subprocess
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from config.embedded import processes
from config.embedded.processes import EmbeddedError, Program
from config.embedded.state import State, load, save

_PAUSE = 0.02
_PATIENCE = 60.0
_PORTS_TRIED = 5


class Service(Protocol):
    """One service: where it lives, how it is run, and how one tells that it is there."""

    @property
    def title(self) -> str:
        """Its name for people."""

    @property
    def home(self) -> Path:
        """The folder of its data, lock and lifeline."""

    @property
    def log(self) -> Path:
        """Where its output goes."""

    @property
    def state_file(self) -> Path:
        """Where its state is kept."""

    def open(self, state: State | None, lock: int) -> State:
        """Make the data ready to be served. A program run for that keeps the lock, lest it be overtaken."""

    def program(self, state: State) -> Program:
        """What to run, for the port in the state."""

    def answers(self, state: State) -> bool:
        """True if the service of this state accepts our password now."""

    def finish(self, state: State) -> None:
        """Complete what needs the running service; called once it answers, with the lock held."""

    def usable(self, state: State) -> bool:
        """True if there is nothing left to finish."""


@dataclass(kw_only=True)
class Attachment:
    """Our use of a running service; `guard` is set if we started it."""

    service: Service
    state: State
    lifeline: int
    guard: subprocess.Popen[bytes] | None = None

    def release(self) -> None:
        """Let go; if nobody else uses the service, wait until it is gone."""
        os.close(self.lifeline)
        deadline = time.monotonic() + _PATIENCE
        while not _in_use(self.service.home) and time.monotonic() < deadline:
            lock = _try_lock(self.service.home)
            if lock is not None:
                os.close(lock)
                if self.guard:
                    self.guard.wait()
                return
            time.sleep(_PAUSE)


def attach(service: Service) -> Attachment:
    """Whatever the others do meanwhile, come back with the service running and in use by us."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        lock = _try_lock(service.home)
        if lock is not None:
            try:
                return _start(service, lock)
            finally:
                os.close(lock)
        attachment = _adopt(service)
        if attachment:
            return attachment
        time.sleep(_PAUSE)  # it is starting or stopping
    raise EmbeddedError(
        f"{service.title} seems to run on {service.home} but does not answer: end that process, then try again."
    )


def _adopt(service: Service) -> Attachment | None:
    state = load(service.state_file)
    if state is None or not service.usable(state):
        return None
    try:
        lifeline = os.open(service.home / "lifeline", os.O_WRONLY | os.O_NONBLOCK)
    except OSError:  # no such name, or no guard that reads it
        return None
    if service.answers(state):
        return Attachment(service=service, state=state, lifeline=lifeline)
    os.close(lifeline)
    return None


def _start(service: Service, lock: int) -> Attachment:
    state = service.open(load(service.state_file), lock)
    for _ in range(_PORTS_TRIED):
        state.port = processes.free_port(state.port)
        attachment = _launch(service, state, lock)
        if attachment:
            return attachment
        state.port = None
    raise EmbeddedError(f"{service.title} found no free port in {_PORTS_TRIED} attempts: try again.")


def _launch(service: Service, state: State, lock: int) -> Attachment | None:
    """Start the service on the chosen port; None if somebody took that port at the last moment."""
    begin = processes.rotate(service.log)
    lifeline, guard = _guarded(service, state, lock)
    with ExitStack() as undo:
        undo.callback(_abandon, lifeline, guard)
        if _answered(service, state, guard):
            service.finish(state)
            state.guard = guard.pid
            save(service.state_file, state)
            undo.pop_all()
            return Attachment(service=service, state=state, lifeline=lifeline, guard=guard)
    _explain(service, service.log.read_bytes()[begin:].decode(errors="replace"))
    return None


def _guarded(service: Service, state: State, lock: int) -> tuple[int, subprocess.Popen[bytes]]:
    """Run the service with a new lifeline; our end of it and the guard."""
    program, name = service.program(state), service.home / "lifeline"
    reader, lifeline = _new_lifeline(name)
    try:
        with processes.open_log(service.log) as log:
            guard = processes.start(program, lifeline=reader, name=name, output=log, keep=(lock,))
    except BaseException:
        os.close(lifeline)
        raise
    finally:
        os.close(reader)
    return lifeline, guard


def _abandon(lifeline: int, guard: subprocess.Popen[bytes]) -> None:
    os.close(lifeline)
    guard.wait()


def _answered(service: Service, state: State, guard: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + _PATIENCE
    while guard.poll() is None and time.monotonic() < deadline:
        if service.answers(state):
            return True
        time.sleep(_PAUSE)
    return False


def _explain(service: Service, said: str) -> None:
    """Raise what the service said, unless it was only about the port."""
    if "address already in use" in said.lower():
        return
    lines = [line for line in said.splitlines() if "FATAL" in line or "rror" in line] or said.splitlines()
    reason = lines[0].strip() if lines else "it said nothing"
    raise EmbeddedError(f"{service.title} did not start ({reason}); see {service.log}.")


def _new_lifeline(path: Path) -> tuple[int, int]:
    """A fresh named pipe, its reading and its writing end."""
    for stale in (path, path.with_name(f"{path.name}.closing")):
        stale.unlink(missing_ok=True)
    os.mkfifo(path, 0o600)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    return reader, os.open(path, os.O_WRONLY)


def _in_use(home: Path) -> bool:
    """True while somebody holds the lifeline: reading it then finds nothing, instead of the end."""
    try:
        reader = os.open(home / "lifeline", os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return False
    try:
        return os.read(reader, 1) != b""
    except BlockingIOError:
        return True
    finally:
        os.close(reader)


def _try_lock(home: Path) -> int | None:
    lock = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock
