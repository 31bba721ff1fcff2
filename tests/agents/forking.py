"""Workers that can be killed: children of a parent in which everything is loaded, so that a kill costs milliseconds."""

import os
import signal
import threading
import time
import traceback
from collections.abc import Callable

from django.db import connections

from kernel import nudge
from kernel.crash import VARIABLE


def start(work: Callable[[], object], *, crash_at: str = "") -> int:
    """Run `work` in a child process of its own; its process id."""
    connections.close_all()
    # A late wake-up in the middle of its call would leave the child a lock that nobody opens.
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join()
    nudge.client().close()
    child = os.fork()
    if child:
        return child
    try:
        os.environ[VARIABLE] = crash_at
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def ended(child: int) -> str:
    """How a child ended: `exit 0`, `signal 9`…"""
    _, status = os.waitpid(child, 0)
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"


def killed_at(point: str, work: Callable[[], object]) -> None:
    """Run `work` in a child that dies by SIGKILL at a crash point; fails when it never came there."""
    how = ended(start(work, crash_at=f"{point}:kill"))
    assert how == f"signal {signal.SIGKILL.value}", f"{point}: {how}"


def frozen_at(point: str, work: Callable[[], object]) -> int:
    """Run `work` in a child that a crash point freezes (SIGSTOP); its process id. Fails when it never came there."""
    child = start(work, crash_at=f"{point}:stop")
    _, status = os.waitpid(child, os.WUNTRACED)
    assert os.WIFSTOPPED(status), f"{point}: it was never reached"
    return child


def thaw(child: int) -> str:
    """Let a frozen child go on; how it ended."""
    os.kill(child, signal.SIGCONT)
    return ended(child)


def wait_until(holds: Callable[[], bool], *, seconds: float = 5.0) -> None:
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.01)
