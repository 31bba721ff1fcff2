"""Temporary checkouts for the embedded services."""

import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.config.harness import hold, nothing_left, state


def _as_in_a_terminal() -> None:
    """Whoever started us may ignore signals (nohup, a shell's background job); our children must not inherit that."""
    for signum in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(signum) == signal.SIG_IGN:
            signal.signal(signum, signal.default_int_handler if signum == signal.SIGINT else signal.SIG_DFL)


_as_in_a_terminal()


def forget(root: Path) -> None:
    """Remove a temporary checkout and the folder outside it, if root needed one."""
    if (root / "var" / "embedded" / "postgres.json").exists():
        shutil.rmtree(state(root)["home"], ignore_errors=True)
    shutil.rmtree(root)


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    """A checkout any account may pass through, with data already made, so that starts are quick."""
    folder = Path(tempfile.mkdtemp(prefix="embedded shared "))  # the blanks are on purpose
    folder.chmod(0o755)
    with hold(folder) as first:
        assert "DATABASE_URL" in first.said()
        assert first.finish() == 0
    yield folder
    assert nothing_left(folder)
    forget(folder)


@pytest.fixture
def private() -> Iterator[Path]:
    """A checkout nobody else may look into."""
    folder = Path(tempfile.mkdtemp(prefix="embedded-private-"))
    yield folder
    assert nothing_left(folder)
    forget(folder)


@pytest.fixture(autouse=True)
def no_services_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
