"""Every line of the table in tests/deep/mutants.py is missed when it is gone: its tests fail, and pass while it is there.

The checkout is copied; in the copy one line is taken away, and the tests run there, in a process, a database and a Redis
database of their own. Only tests that fail count: an error on the way to them would say nothing about the line.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from tests.config.harness import CHECKOUT
from tests.deep.mutant import Mutant
from tests.deep.mutants import MUTANTS

# Beyond the databases of the outer run's workers.
FIRST_WORKER = 8
# Of the program, not of what the mutant lets through.
_BROKEN = re.compile(
    r"^E +(?:SyntaxError|IndentationError|NameError|UnboundLocalError|ImportError|ModuleNotFoundError)\b", re.MULTILINE
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout as it is, with the same programs."""
    place = tmp_path_factory.mktemp("mutants") / "checkout"
    shutil.copytree(CHECKOUT, place, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv", "var", ".*_cache"))
    (place / ".venv").symlink_to((CHECKOUT / ".venv").resolve())
    return place


@contextmanager
def mutated(copy: Path, mutant: Mutant) -> Iterator[None]:
    """The copy without one line. What was compiled of the file goes with it: a change of few seconds' age may not show."""
    path = copy / mutant.path
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(mutant.applied(text), encoding="utf-8")
        _forget_compiled(path)
        yield
    finally:
        path.write_text(text, encoding="utf-8")
        _forget_compiled(path)


def _forget_compiled(path: Path) -> None:
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def run(copy: Path, *arguments: str, template: str = "", seconds: float = 240) -> subprocess.CompletedProcess[str]:
    """The tests of the copy, on `template` or on a database that the copy's own migrations make."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TEST_TEMPLATE"))}
    outer = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    environment = kept | {
        "DATABASE_URL": settings.DATABASE_URL,
        "DATABASE_OWNER_URL": settings.DATABASE_OWNER_URL,
        "REDIS_URL": settings.REDIS_URL,
        "PYTEST_XDIST_WORKER": f"gw{FIRST_WORKER + outer}",
        "PYTHONPATH": str(copy),
        **({"TEST_TEMPLATE": template} if template else {}),
    }
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=short", "-p", "no:cacheprovider", "-p", "no:randomly",
         f"--basetemp={copy.parent / 'run'}", *arguments],
        cwd=copy, env=environment, capture_output=True, text=True, timeout=seconds,
    )  # fmt: skip


def test_the_table_is_true():
    """In every run: the lines are where the table says, and so are their tests."""
    assert len({mutant.lost for mutant in MUTANTS}) == len(MUTANTS) >= 28
    for mutant in MUTANTS:
        text = mutant.applied((CHECKOUT / mutant.path).read_text(encoding="utf-8"))
        if mutant.path.endswith(".py"):
            compile(text, mutant.path, "exec")
        assert mutant.edits, mutant.lost
        assert mutant.tests, mutant.lost
        for test in mutant.tests:
            path, _, name = test.partition("::")
            assert f"def {name.partition('[')[0]}" in (CHECKOUT / path).read_text(encoding="utf-8"), test


@pytest.mark.deep
@pytest.mark.timeout(900)
def test_the_tests_of_the_table_pass_on_what_is_there(copy, template_database):
    named = dict.fromkeys(test for mutant in MUTANTS for test in mutant.tests)
    done = run(copy, *named, template=template_database, seconds=850)
    assert done.returncode == pytest.ExitCode.OK, done.stdout[-5_000:]


@pytest.mark.deep
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.lost)
def test_without_the_line_its_tests_fail(copy, template_database, mutant, cases):
    with mutated(copy, mutant):
        done = run(copy, "-x", *mutant.tests, template="" if mutant.changes_schema else template_database)
    told = done.stdout[-5_000:] + done.stderr[-2_000:]
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, f"it survived, or nothing could be told:\n{told}"
    assert re.search(r"^FAILED ", done.stdout, re.MULTILINE), f"no test failed, something before it did:\n{told}"
    assert not _BROKEN.search(done.stdout), f"it does not fail by what it lets through:\n{told}"
    cases("mutants", 1)
