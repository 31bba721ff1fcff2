"""`bin/with-services [OPTION...] COMMAND...`: run a command with the services up and the database migrated."""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType

from config.embedded.guard import die_with_parent
from config.embedded.processes import orderly_exit
from config.embedded.services import EmbeddedError, running

_ROOT = Path(__file__).resolve().parents[2]
# Those of the tests have a folder of their own, so that a power cut during a test costs nobody more than that folder.
_TESTS = _ROOT / "var" / "tests"


def main(arguments: Sequence[str]) -> int:
    """The command's exit code, or ours if it never ran."""
    parser = argparse.ArgumentParser(prog="bin/with-services", description=__doc__)
    parser.add_argument("--no-migrate", action="store_true", help="leave the database as it is")
    parser.add_argument(
        "--with-parent", action="store_true", help="end when the process that started this ends, even if it is killed"
    )
    parser.add_argument(
        "--for-tests", action="store_true", help="services of the tests' own, which trade durability for speed"
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    options = parser.parse_args(arguments)
    if not options.command:
        parser.error("a COMMAND is needed")
    if options.with_parent:
        die_with_parent(os.getppid(), signal.SIGTERM)
    try:
        root = _TESTS if options.for_tests else _ROOT
        services = running(needs_postgres=True, needs_valkey=True, root=root, is_disposable=options.for_tests)
        with orderly_exit(), services as urls:
            environment = os.environ | urls.environment()
            migrate = [sys.executable, str(_ROOT / "manage.py"), "migrate", "--verbosity", "0"]
            code = 0 if options.no_migrate else run(migrate, environment)
            return code or run(options.command, environment)
    except EmbeddedError as error:
        sys.stderr.write(f"bin/with-services: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def run(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run in the foreground, pass signals on, and return the exit code as a shell would."""
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def pass_on(signum: int, _frame: FrameType | None) -> None:
        if signum == signal.SIGINT and _terminal_is_ours():
            return  # the terminal sent it to the command as well; a second one would cut its clean-up short
        if child is None:
            early.append(signum)
        else:
            child.send_signal(signum)

    signals = [s for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(s) != signal.SIG_IGN]
    before = {signum: signal.signal(signum, pass_on) for signum in signals}
    try:
        child = subprocess.Popen(  # noqa: S603 - what the operator asked for
            argv,
            env=environment,
            preexec_fn=partial(die_with_parent, os.getpid(), signal.SIGTERM),  # noqa: PLW1509 - one thread only
        )
        for signum in early:
            child.send_signal(signum)
        code = child.wait()
    except OSError as error:
        sys.stderr.write(f"bin/with-services: cannot run {argv[0]}: {error.strerror}\n")
        return 127
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
    return code if code >= 0 else 128 - code


def _terminal_is_ours() -> bool:
    """True if a Ctrl-C reaches our whole process group, the command included."""
    with suppress(OSError):
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
        try:
            return os.tcgetpgrp(terminal) == os.getpgrp()
        finally:
            os.close(terminal)
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
