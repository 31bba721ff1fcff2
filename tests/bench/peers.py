"""Other people's software that does the same work, each in an environment of its own below var/bench/peers."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from config.env import VAR
from tests.bench.crew import Crew, Failed, Member
from tests.bench.scratch import Scratch, libpq, owner_url

PEERS = VAR / "bench" / "peers"
DRIVERS = Path(__file__).parent / "drivers"


class Absent(RuntimeError):
    """A peer that cannot be had here; the text says why."""


@dataclass(frozen=True)
class Peer:
    """A driver in tests/bench/drivers and what it needs from PyPI."""

    name: str
    title: str
    requirements: tuple[str, ...]


HELPDESK = Peer("helpdesk", "django-helpdesk", ("django-helpdesk~=2.6.0", "psycopg[binary]"))
HYPERKITTY = Peer("hyperkitty", "HyperKitty batch", ("HyperKitty~=1.3.12", "mailman~=3.3.10", "psycopg[binary]"))
MAILBOX = Peer("mailbox", "django-mailbox", ("django-mailbox~=4.10.1", "django~=5.2.0", "psycopg[binary]"))


def installed(peer: Peer, say: Callable[[str], None]) -> Path:
    """The interpreter of the peer's environment, which is made on first use. Raises Absent."""
    home = PEERS / peer.name
    marker, python = home / "requirements.txt", home / "bin" / "python"
    wanted = "\n".join(peer.requirements)
    if marker.exists() and marker.read_text() == wanted and python.exists():
        return python
    say(f"installing {peer.title} into var/bench/peers/{peer.name}")
    shutil.rmtree(home, ignore_errors=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, capture_output=True, text=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.requirements]
        subprocess.run(pip, check=True, capture_output=True, text=True, timeout=900)
    except subprocess.CalledProcessError as error:
        lines = [line for line in (error.stderr or "").splitlines() if not line.startswith("WARNING")]
        raise Absent(lines[-1] if lines else f"pip ended with status {error.returncode}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Absent(f"{type(error).__name__}: {error}") from error
    marker.write_text(wanted)
    return python


@contextmanager
def at_work(peer: Peer, scratch: Scratch, say: Callable[[str], None]) -> Iterator[Crew]:
    """One process of the peer on a database of its own, migrated and ready. Raises Absent."""
    python = installed(peer, say)
    with ExitStack() as stack:
        database = stack.enter_context(scratch.empty(peer.name))
        environment = libpq(owner_url(database)) | {"BENCH_HOME": str(PEERS / peer.name)}
        environment |= {"DJANGO_SETTINGS_MODULE": "", "PYTHONPATH": "", "PYTHONWARNINGS": "ignore"}
        argv = [str(python), str(DRIVERS / f"drive_{peer.name}.py")]
        try:
            crew = Crew([Member(argv, environment, log=PEERS / f"{peer.name}.log")])
        except Failed as error:
            raise Absent(f"it does not start: {error}") from error
        stack.enter_context(crew)
        yield crew
