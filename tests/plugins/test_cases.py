"""The count of cases: summed over tests and workers, and only of tests that held."""

from tests.plugins import cases as plugin


class Report:
    def __init__(self, when="call", passed=True, *said):
        self.when, self.passed, self.user_properties = when, passed, [("cases", list(pair)) for pair in said]


class Printer:
    def __init__(self):
        self.lines = []

    def section(self, title):
        self.lines.append(title)

    def write_line(self, line):
        self.lines.append(line)


def test_counts_add_up_and_what_is_short_of_its_figure_is_marked(monkeypatch):
    monkeypatch.setattr(plugin, "_tried", type(plugin._tried)())
    for report in (
        Report("call", True, ("G9", 150), ("C12", 39)),
        Report("call", True, ("G9", 60)),
        Report("call", False, ("C12", 99)),
        Report("setup", True, ("C12", 99)),
        Report("call", True, ("X1", 3)),
    ):
        plugin.pytest_runtest_logreport(report)
    printer = Printer()
    plugin.pytest_terminal_summary(printer)
    assert printer.lines == [
        "cases tried",
        "C12       39 of at least 40  (below its figure)",
        "G9       210 of at least 200",
        "X1         3",
    ]


def test_a_test_says_what_it_tried(cases, request):
    cases("X0", 2)
    assert request.node.user_properties[-1] == ("cases", ["X0", 2])
    request.node.user_properties.pop()
