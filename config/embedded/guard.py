"""Run one program and see to it that neither it nor its descendants outlive those who need them.

A guard stands between a process of ours and each program it starts. It holds the reading end of a *lifeline*:
a pipe, or a named one, that only those who need the program hold open for writing. However they end, Ctrl-C or
`kill -9`, the kernel closes their end; the guard sees the end of file and stops the program. Closing the
lifeline is therefore also the ordinary way to ask for a stop. A named lifeline has several writers: the
program stops when the last of them lets go.

Two more deaths are covered. When the program itself dies, what it left behind is ended, even a grandchild in
a session of its own, since on Linux orphans are handed to the guard. When the guard is killed, the kernel
sends the program its stop signal (the parent-death signal).

This file runs by itself, `python -I -S guard.py OPTIONS PROGRAM ARGUMENT...`, with nothing but the standard
library, so that it costs 20 ms and imports nothing of the project.
"""

import ctypes
import json
import os
import select
import signal
import sys
import time
from typing import NoReturn, TypedDict

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_SWEEP_SECONDS = 5.0
_LINUX = sys.platform == "linux"


class Options(TypedDict):
    """What a guard is told. `account` is the user and group to run as; `name` the path of a named lifeline."""

    lifeline: int
    name: str | None
    stop_signal: int
    grace: float
    account: tuple[int, int] | None


def _prctl(option: int, value: int) -> None:
    """Only Linux has these calls; elsewhere the lifeline alone does the work."""
    if _LINUX:
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def die_with_parent(parent: int, signum: int) -> None:
    """Ask the kernel for `signum` when the parent dies. A change of user clears this, so it comes after one.

    The kernel means the *thread* that forked. A guard has one thread, so here they are the same.
    """
    _prctl(_PR_SET_PDEATHSIG, signum)
    if os.getppid() != parent:  # it died before the call
        os.kill(os.getpid(), signum)


class Guard:
    """The program, its lifeline, and the wish to stop."""

    def __init__(self, options: Options, argv: list[str]) -> None:
        self.options = options
        self.status: int | None = None
        self.stopping = False
        # Any signal makes the pipe readable, so that one `select` waits for signals and lifeline alike.
        self.woken, wake = os.pipe()
        os.set_blocking(self.woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(signum, self._ask_to_stop)
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        guard = os.getpid()
        self.child = os.fork()
        if self.child == 0:
            self._become(argv, guard)

    def _ask_to_stop(self, *_: object) -> None:
        self.stopping = True

    def _become(self, argv: list[str], guard: int) -> NoReturn:
        """In the child: take a session and the account of its own, then turn into the program."""
        try:
            signal.set_wakeup_fd(-1)
            for signum in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
                signal.signal(signum, signal.SIG_DFL)
            os.close(self.options["lifeline"])  # else it would look as if a guard still listened
            os.setsid()
            if self.options["account"]:
                user, group = self.options["account"]
                os.setgroups([])
                os.setgid(group)
                os.setuid(user)
            die_with_parent(guard, self.options["stop_signal"])
            os.execvp(argv[0], argv)  # noqa: S606 - starting the program is the purpose; no shell is wanted
        except OSError as error:
            sys.stderr.write(f"FATAL: cannot run {argv[0]}: {error}\n")
        finally:
            sys.stderr.flush()
            os._exit(127)

    def run(self) -> int:
        """Wait for the program, or for the moment when nobody needs it; return its exit code as a shell would."""
        while self._runs() and not self._unwanted():
            self._wait(None)
        if self._runs():
            os.kill(self.child, self.options["stop_signal"])
        deadline = time.monotonic() + self.options["grace"]
        while self._runs() and time.monotonic() < deadline:
            self._wait(deadline)
        self._sweep()
        code = os.waitstatus_to_exitcode(self.status or 0)
        return code if code >= 0 else 128 - code

    def _runs(self) -> bool:
        return self.status is None

    def _wait(self, deadline: float | None) -> None:
        """Sleep until a signal, the end of the lifeline or the deadline, then reap whoever ended."""
        lifeline = [self.options["lifeline"]] if deadline is None else []
        pause = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([self.woken, *lifeline], [], [], pause)
        if self.woken in ready:
            os.read(self.woken, 4096)
        while self._reap():
            pass

    def _reap(self) -> bool:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == self.child:
            self.status = status
        return pid != 0

    def _unwanted(self) -> bool:
        """True once the last writer let go.

        The name is moved away first: whoever opened it before that moment still counts as a writer, whoever
        comes later finds no name and waits for the program to end.
        """
        if self.stopping:
            return True
        if not self._at_end():
            return False
        name = self.options["name"]
        if name is None or not _renamed(name, f"{name}.closing") or self._at_end():
            return True
        _renamed(f"{name}.closing", name)
        return False

    def _at_end(self) -> bool:
        fd = self.options["lifeline"]
        readable, _, _ = select.select([fd], [], [], 0)
        return bool(readable) and os.read(fd, 1) == b""

    def _sweep(self) -> None:
        """End what is left: a gentle signal, and after some seconds the one nobody can refuse."""
        deadline = time.monotonic() + min(_SWEEP_SECONDS, self.options["grace"])
        signum = signal.SIGKILL if self._runs() else signal.SIGTERM
        while self._signal_rest(signum):
            self._wait(time.monotonic() + 0.05)
            if signum == signal.SIGTERM and time.monotonic() > deadline:
                signum = signal.SIGKILL

    def _signal_rest(self, signum: int) -> bool:
        """Signal all descendants; outside Linux only those that stayed in the program's own group."""
        rest = [(os.kill, pid) for pid in descendants(os.getpid())] if _LINUX else [(os.killpg, self.child)]
        alive = False
        for send, target in rest:
            try:
                send(target, signum)
                alive = True
            except (ProcessLookupError, PermissionError):
                continue
        return alive


def _renamed(old: str, new: str) -> bool:
    """Somebody may have deleted the folder under us; then nobody can come by that name any more."""
    try:
        os.rename(old, new)
    except OSError:
        return False
    return True


def descendants(ancestor: int) -> list[int]:
    """All living processes below this one, read from /proc."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                # The name before the last bracket may itself hold blanks and brackets.
                state, parent = stat.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            children.setdefault(int(parent), []).append(int(entry))
    found: list[int] = []
    row = [ancestor]
    while row:
        row = [pid for parent in row for pid in children.get(parent, [])]
        found += row
    return found


if __name__ == "__main__":
    sys.exit(Guard(json.loads(sys.argv[1]), sys.argv[2:]).run())
