"""Named crash points: where a test may kill, stop or break the process, to prove that nothing is lost there.

Compiled out by CRASH_POINTS_ENABLED, which only the test settings switch on (`doctor --deploy` names it elsewhere).
"""

import os
import signal

from django.conf import settings

VARIABLE = "CRASH_AT"


class Crashed(RuntimeError):
    """Raised by a crash point whose action is `raise`."""


def crash_point(name: str) -> None:
    """Do what CRASH_AT says when it names this point: `name:kill`, `name:stop` (SIGSTOP) or `name:raise`."""
    if not settings.CRASH_POINTS_ENABLED:
        return
    wanted, _, action = os.environ.get(VARIABLE, "").partition(":")
    if wanted != name:
        return
    if action == "raise":
        raise Crashed(name)
    os.kill(os.getpid(), signal.SIGSTOP if action == "stop" else signal.SIGKILL)
