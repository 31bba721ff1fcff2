"""How many cases of each family a run has tried: printed at its end, and too few of them fail a run of everything.

A test says `cases("G9", 210)` after the cases have held; the ids are those of the reliability plan. Only tests that passed
are counted. A run of a part (a path, `-k`, `--deselect` and the like) is only told; it promised nothing.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

PROPERTY = "cases"
# The figures of the plan, by tier: what each run of the fast tests, and each run of the deep ones, must have tried.
FAST = {
    "A1": 200, "A2": 2000, "A5": 30, "A6": 60, "A7": 54, "A8": 12, "A9": 44, "A10": 201, "A11": 192, "A12": 8,
    "B1": 168, "B3": 30, "B5": 200, "C1": 80, "C2": 200, "C3": 40, "C5": 50, "C12": 40, "D1": 150, "D2": 40, "D3": 60, "D4": 16,
    "D5": 4, "E1": 30, "E2": 160, "E3": 3, "E4": 40, "E5": 480, "E6": 100, "E7": 1, "F1": 1000, "F2": 30, "F3": 100, "F4": 1000,
    "F5": 1, "G1": 1500, "G2": 400, "G4": 400, "G9": 200, "I2": 60, "J1": 84, "J2": 3200, "J3": 120, "J4": 100, "J5": 30,
    "K1": 700, "K2": 300, "K3": 2000, "K4": 10, "K6": 200_000, "L1": 90, "L2": 20, "P8": 485,
}  # fmt: skip
# Kills of PostgreSQL, faults of Redis, mutants of mail, connections reset, lines of security taken away.
DEEP = {"A3": 25, "C2": 1000, "A4": 15, "B4": 20_000, "I4": 50, "mutants": 90}
TIERS = {"not deep": FAST, "deep": DEEP, "": FAST | DEEP}
# Whoever gives one of these asked for a part.
PARTIAL = ("keyword", "deselect", "ignore", "ignore_glob", "collectonly", "setuponly", "setupplan")

_tried: Counter[str] = Counter()


@pytest.fixture
def cases(request: pytest.FixtureRequest) -> Callable[[str, int], None]:
    """Say how many cases of a family this test has tried."""

    def count(family: str, number: int) -> None:
        request.node.user_properties.append((PROPERTY, [family, number]))

    return count


def figures(config: pytest.Config) -> dict[str, int]:
    """What this run has promised, by family: the figures of its tier, or nothing if it is a run of a part."""
    everything = {(config.rootpath / name).resolve() for name in config.getini("testpaths")}
    asked = {Path(config.invocation_params.dir, argument).resolve() for argument in config.args}
    partial = asked != everything or any(config.getoption(name, None) for name in PARTIAL)
    return {} if partial else TIERS.get(config.getoption("markexpr"), {})


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """In the process that prints: the workers' reports come here, with what their tests have said."""
    if report.when == "call" and report.passed:
        for name, value in report.user_properties:
            if name == PROPERTY:
                _tried[value[0]] += value[1]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A whole run that passed, but has tried too little, has failed. A worker of it sees a share and judges nothing."""
    if hasattr(session.config, "workerinput") or session.exitstatus != pytest.ExitCode.OK:
        return
    if any(_tried[family] < figure for family, figure in figures(session.config).items()):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    promised = figures(terminalreporter.config)
    if not (_tried or promised):
        return
    terminalreporter.section("cases tried")
    for family in sorted({*_tried, *promised}, key=lambda name: (name[0], len(name), name)):
        figure = promised.get(family) or TIERS[""].get(family)
        wanted = f" of at least {figure:,}" if figure else ""
        short = family in promised and _tried[family] < promised[family]
        terminalreporter.write_line(f"{family:<5}{_tried[family]:>7,}{wanted}{'  TOO FEW' if short else ''}", red=short)
