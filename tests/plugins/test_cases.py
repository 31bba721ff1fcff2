"""The count of cases: summed over tests and workers, only of tests that held, and enforced on whole runs alone."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# No plug-in but the named ones: this suite needs none of ours, and they take seconds to load.
ALONE = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist"}
CONFTEST = """
pytest_plugins = ["tests.plugins.cases"]
from tests.plugins import cases
cases.FAST = {"X1": 5, "X2": 1}
cases.DEEP = {"X3": 2}
cases.TIERS = {"not deep": cases.FAST, "deep": cases.DEEP, "": cases.FAST | cases.DEEP}
"""
# The first counts what NUMBER says; the failing one is counted by nobody.
SUITE = """
import os, pytest

def test_first(cases):
    cases("X1", int(os.environ["NUMBER"]))

def test_second(cases):
    cases("X1", 2); cases("X2", 1); cases("X9", 7)

@pytest.mark.skipif("BREAK" not in os.environ, reason="asked for by the test of it")
def test_broken(cases):
    cases("X1", 100)
    assert False

@pytest.mark.deep
def test_deep(cases):
    cases("X3", int(os.environ["NUMBER"]))
"""
INI = """[pytest]
testpaths = suite
addopts = -m "not deep" -p no:cacheprovider
markers = deep: long
"""


@pytest.fixture
def run(tmp_path):
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "conftest.py").write_text(CONFTEST)
    (suite / "test_all.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text(INI)

    def call(*arguments: str, number: int = 3, **variables: str) -> tuple[int, dict[str, str]]:
        """Its exit status, and the printed line of each family."""
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=tmp_path,
            env=os.environ | ALONE | {"NUMBER": str(number)} | variables,
            capture_output=True,
            text=True,
        )
        lines = re.findall(r"^(X\d) +(.*)$", done.stdout, re.MULTILINE)
        return done.returncode, dict(lines)

    return call


ENOUGH = {"X1": "5 of at least 5", "X2": "1 of at least 1", "X9": "7"}
SHORT = ENOUGH | {"X1": "4 of at least 5  TOO FEW"}


@pytest.mark.parametrize(
    ("arguments", "number", "status", "lines"),
    [
        ([], 3, 0, ENOUGH),
        ([], 2, 1, SHORT),
        # Over workers, each of which has seen a share.
        (["-n", "2"], 3, 0, ENOUGH),
        (["-n", "2"], 2, 1, SHORT),
        (["suite"], 2, 1, SHORT),
        # The other tier has its own figures.
        (["-m", "deep"], 2, 0, {"X3": "2 of at least 2"}),
        (["-m", "deep"], 1, 1, {"X3": "1 of at least 2  TOO FEW"}),
        # A part promised nothing.
        (["-k", "second"], 2, 0, {"X1": "2 of at least 5", "X2": "1 of at least 1", "X9": "7"}),
        (["suite/test_all.py::test_first"], 2, 0, {"X1": "2 of at least 5"}),
        (["suite/test_all.py", "-n", "2"], 2, 0, SHORT | {"X1": "4 of at least 5"}),
        (["--deselect", "suite/test_all.py::test_second"], 2, 0, {"X1": "2 of at least 5"}),
    ],
)
def test_a_whole_run_with_too_few_cases_fails_and_a_part_does_not(run, arguments, number, status, lines):
    assert run(*arguments, number=number) == (status, lines)


def test_what_did_not_hold_is_not_counted(run):
    assert run(number=2, BREAK="1") == (1, SHORT)
