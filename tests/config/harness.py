"""Real services started by real processes, so that those processes can be killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

CHECKOUT = Path(__file__).resolve().parents[2]

HOLD = """
import json, sys
from pathlib import Path
from config.embedded.processes import orderly_exit
from config.embedded.services import EmbeddedError, running
try:
    with orderly_exit(), running(needs_postgres=True, needs_valkey="valkey" in sys.argv, root=Path(sys.argv[1])) as urls:
        print(json.dumps(urls.environment()), flush=True)
        sys.stdin.read()
except EmbeddedError as error:
    print(json.dumps({"error": str(error)}), flush=True)
"""


def environment() -> dict[str, str]:
    """Ours, without the services the tests themselves may run on."""
    skipped = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL")
    return {k: v for k, v in os.environ.items() if k not in skipped} | {"PYTHONPATH": str(CHECKOUT)}


class Python:
    """A Python process of ours that says one line when it is ready and ends when its input does."""

    def __init__(self, code: str, *arguments: object, before: Sequence[str] = ()) -> None:
        self.process = subprocess.Popen(
            [*before, sys.executable, "-c", code, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            text=True,
            cwd="/",
        )

    def said(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline() or "null")

    def finish(self) -> int:
        """Let it end by itself."""
        self.process.communicate(timeout=30)
        return self.process.returncode

    def send(self, signum: signal.Signals) -> int:
        self.process.send_signal(signum)
        return self.finish()

    def __enter__(self) -> "Python":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=30)


def hold(root: Path, *arguments: str, before: Sequence[str] = ()) -> Python:
    """A process that uses the services below `root`."""
    return Python(HOLD, root, *arguments, before=before)


def processes_at(*folders: Path) -> list[str]:
    """What runs in these folders or was told their names."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            place = f"{command} in {(entry / 'cwd').readlink()}/"
        except OSError:
            continue
        if any(f"{folder}/" in place for folder in folders):
            found.append(f"{entry.name} {place}")
    return found


def eventually(condition: Callable[[], Any], seconds: float = 10) -> Any:
    """The first truthy answer, or the last answer when time is up."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return answer


def nothing_left(*folders: Path) -> bool:
    return bool(eventually(lambda: not processes_at(*folders)))


def query(url: str, statement: str) -> Any:
    with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchone()[0] if cursor.description else None  # type: ignore[index]


def state(root: Path, service: str = "postgres") -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((root / "var" / "embedded" / f"{service}.json").read_text())
    return loaded


def kill(pids: Iterable[int], signum: signal.Signals = signal.SIGKILL) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):  # it may end by itself between the look and the signal
            os.kill(pid, signum)
