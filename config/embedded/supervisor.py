"""Long-running processes side by side: web, workers, beat, mail. Used by `manage.py up` and `manage.py demo`.

    with Supervisor(children, logs=root / "var" / "log", terminal=sys.stdout) as supervisor:
        supervisor.wait()

Inside the block a crashed child comes back after 1, 2, 4 ... 30 seconds. Ctrl-C, SIGTERM, SIGHUP or an exception
end the block, and then all children are stopped: each gets SIGTERM at once, the last started first, and 10
seconds for it, or as many as it says that it needs. Every child has a guard (see guard.py), so `kill -9` of the supervisor leaves nothing either.
"""

import os
import selectors
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Self, TextIO

from config.embedded import processes

_FIRST_DELAY, _LONGEST_DELAY = 1.0, 30.0
_STEADY = 60.0
_CHUNK = 65536


@dataclass(frozen=True, kw_only=True)
class Child:
    """A process to keep alive; `env` is added to our own environment, `grace` is its time to end in order."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    grace: float | None = None


class _Running:
    """One child: its process, its pipe, and when to start it again."""

    def __init__(self, child: Child, log: IO[bytes], grace: float) -> None:
        self.child = child
        self.log = log
        self.grace = grace if child.grace is None else child.grace
        self.delay = _FIRST_DELAY
        self.due = 0.0
        self.begun = 0.0
        self.rest = b""
        self.lifeline: int | None = None
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> IO[bytes]:
        """Run it; what it says comes out of the pipe returned."""
        reader, self.lifeline = os.pipe()
        program = processes.Program(argv=self.child.argv, env=os.environ | self.child.env, grace=self.grace)
        try:
            self.process = processes.start(program, lifeline=reader, output=subprocess.PIPE)
        finally:
            os.close(reader)
        self.begun = time.monotonic()
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        return self.process.stdout

    def lines(self, said: bytes) -> list[bytes]:
        """Whole lines; what is left over too if this was the last, or if a line seems never to end."""
        *whole, self.rest = (self.rest + said).split(b"\n")
        if self.rest and (not said or len(self.rest) > _CHUNK):
            whole.append(self.rest)
            self.rest = b""
        return whole

    def ended(self) -> str:
        """Take note that it is gone; it is due again after a delay that grows while it keeps crashing."""
        assert self.process is not None
        code = self.process.wait()
        self.let_go()
        now = time.monotonic()
        if now - self.begun > _STEADY:
            self.delay = _FIRST_DELAY
        delay, self.delay = self.delay, min(self.delay * 2, _LONGEST_DELAY)
        self.due, self.process = now + delay, None
        return f"ended with exit code {code}, starts again in {delay:.0f} s"

    def let_go(self) -> None:
        """Close the lifeline: the guard stops what still runs."""
        if self.lifeline is not None:
            os.close(self.lifeline)
            self.lifeline = None


class Supervisor:
    """Keeps children alive while its `with` block lasts. One thread watches; the block is free to do other work."""

    def __init__(
        self,
        children: Sequence[Child],
        *,
        logs: Path,
        terminal: TextIO | None = None,
        grace: float = 10.0,
    ) -> None:
        self._terminal = terminal
        self._exit = ExitStack()
        self._children = [
            _Running(child, self._exit.enter_context(processes.open_log(logs / f"{child.name}.log")), grace)
            for child in children
        ]
        self._width = max((len(child.name) for child in children), default=0)
        self._selector = selectors.DefaultSelector()
        self._stopping = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="supervisor")

    def __enter__(self) -> Self:
        self._exit.enter_context(processes.orderly_exit())
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def wait(self) -> None:
        """Sleep until somebody calls `stop`, or until Ctrl-C, SIGTERM or SIGHUP: the ordinary way to end."""
        with suppress(KeyboardInterrupt, SystemExit):
            self._stopped.wait()

    def stop(self) -> None:
        """End all children and return when they are gone. May be called from any thread, also twice.

        A second Ctrl-C changes nothing: the children have little time as it is, and need it to end in order.
        """
        self._stopping.set()
        # Not by `join`: Python 3.11 takes a thread for ended when a signal interrupts that.
        while not self._stopped.is_set():
            with suppress(KeyboardInterrupt, SystemExit):
                self._stopped.wait()
        self._thread.join()
        self._exit.close()

    def guards(self) -> dict[str, int]:
        """The process id of each running child's guard, for a status page; a child that waits is missing."""
        return {each.child.name: each.process.pid for each in self._children if each.process}

    def _watch(self) -> None:
        try:
            while not self._stopping.is_set():
                self._start_due()
                self._pump(0.1)
            for each in reversed(self._children):
                each.let_go()
            # A guard needs its grace and some seconds at most; should one hang, it hangs without us.
            deadline = time.monotonic() + max((each.grace for each in self._children), default=0.0) + 10
            while self._selector.get_map() and time.monotonic() < deadline:
                self._pump(0.1)
        finally:
            for each in self._children:
                each.let_go()
            self._selector.close()
            self._stopped.set()

    def _start_due(self) -> None:
        for each in self._children:
            if each.process is None and time.monotonic() >= each.due:
                self._selector.register(each.start(), selectors.EVENT_READ, each)
                self._say(each, b"started")

    def _pump(self, pause: float) -> None:
        """Pass on what was said. The end of the output is the end of the child: its guard held the pipe too."""
        for key, _ in self._selector.select(pause):
            each: _Running = key.data
            said = os.read(key.fd, _CHUNK)
            for line in each.lines(said):
                self._say(each, line)
            if not said:
                self._selector.unregister(key.fileobj)
                self._finish(each)

    def _finish(self, each: _Running) -> None:
        assert each.process is not None
        assert each.process.stdout is not None
        each.process.stdout.close()
        ended = each.ended()
        self._say(each, b"stopped" if self._stopping.is_set() else ended.encode())

    def _say(self, each: _Running, line: bytes) -> None:
        """To the log as it is, so that structured lines stay so; to the terminal with the name in front."""
        with suppress(OSError):  # a full disk must not take the children down
            each.log.write(line + b"\n")
        if self._terminal:
            with suppress(OSError, ValueError):  # nor a terminal that went away
                name = each.child.name.ljust(self._width)
                self._terminal.write(f"{name} | {line.decode(errors='replace')}\n")
                self._terminal.flush()
