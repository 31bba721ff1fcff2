"""How many cases of each family a run has tried, printed at its end.

A test says `cases("G9", 210)` after the cases have held; the ids are those of the reliability plan. Only tests that passed
are counted, and a family that stayed below its figure is marked, which means something for a run of the whole suite.
"""

from collections import Counter
from collections.abc import Callable

import pytest

PROPERTY = "cases"
# The figures of the plan, for families that count cases (not rounds, seconds or kills of the deep tier).
GOALS = {
    "A1": 200, "A2": 2000, "A5": 30, "A6": 60, "A7": 54, "A8": 12, "A9": 44, "A10": 201, "A11": 192, "A12": 8,
    "B1": 168, "B3": 30, "B5": 200, "C1": 80, "C3": 40, "C12": 40, "D1": 150, "D2": 40,
    "D3": 60, "D4": 16, "D5": 4, "E1": 30, "E2": 160, "E3": 3, "E4": 40,
    "E5": 480, "F1": 1000, "F2": 30, "F3": 100, "G1": 1500, "G2": 400, "G4": 400, "G9": 200, "L1": 90, "L2": 20,
    "P8": 485,
}  # fmt: skip

_tried: Counter[str] = Counter()


@pytest.fixture
def cases(request: pytest.FixtureRequest) -> Callable[[str, int], None]:
    """Say how many cases of a family this test has tried."""

    def count(family: str, number: int) -> None:
        request.node.user_properties.append((PROPERTY, [family, number]))

    return count


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """In the process that prints: the workers' reports come here, with what their tests have said."""
    if report.when == "call" and report.passed:
        for name, value in report.user_properties:
            if name == PROPERTY:
                _tried[value[0]] += value[1]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _tried:
        return
    terminalreporter.section("cases tried")
    for family in sorted(_tried, key=lambda name: (name[0], len(name), name)):
        goal = GOALS.get(family)
        wanted = f" of at least {goal:,}" if goal else ""
        short = "  (below its figure)" if goal and _tried[family] < goal else ""
        terminalreporter.write_line(f"{family:<5}{_tried[family]:>7,}{wanted}{short}")
