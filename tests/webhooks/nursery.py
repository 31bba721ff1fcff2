"""Dispatchers to be killed: a process that has everything loaded forks one for each line that it is given.

A line is a value of CRASH_AT; the answer is the exit code of the dispatcher that met it. A fork takes milliseconds where
a start takes a second, so that a test can afford a hundred deaths.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.conf import settings


class Nursery:
    """The process, from outside."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def die_at(self, point: str) -> int:
        """Run a dispatcher until a crash point kills it; its exit code, negative for a signal."""
        self._ask(f"{point}:kill")
        return self.outcome()

    def freeze_at(self, point: str) -> int:
        """Run a dispatcher until a crash point freezes it; its process id, to be continued and ended by a signal."""
        self._ask(f"{point}:stop")
        word, _, number = self._answer().partition(" ")
        assert word == "stopped", f"{point}: it was never reached"
        return int(number)

    def outcome(self) -> int:
        """How the last one ended."""
        return int(self._answer())

    def _ask(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@contextmanager
def nursery(**variables: str) -> Iterator[Nursery]:
    """A nursery with the environment of this process and `variables`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.webhooks.nursery"],
        cwd=settings.BASE_DIR,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings.test"} | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    try:
        yield Nursery(process)
        process.communicate(timeout=30)
    finally:
        # A test that failed may leave a dispatcher that nothing kills, or a frozen one.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _main() -> None:
    import django

    django.setup()
    from django.core.management import call_command

    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os.environ["CRASH_AT"] = line.strip()
            try:
                call_command("run_webhooks")
                os._exit(0)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            sys.stdout.write(f"stopped {child}\n")
            sys.stdout.flush()
            _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main()
