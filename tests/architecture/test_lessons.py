"""What this project has learned the hard way, as rules over its source. Each rule is a function that finds offenders."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.code import ROOT, at, calls, imported, migrations, sources

# One worker parses the source once for all of them.
pytestmark = pytest.mark.xdist_group("source")

LONGEST_FILE = 400
LONGEST_DELAY = 300

Source = dict[Path, ast.Module]


def saves_without_fields(source: Source) -> Iterator[str]:
    """A service that saves a whole row writes back what another one changed meanwhile."""
    for path, tree in source.items():
        if "services" not in path.parts:
            continue
        for name, call in calls(tree):
            named = {"update_fields", "force_insert"} & {keyword.arg for keyword in call.keywords}
            if name == "save" and not named and not _writes_a_picture(call):
                yield at(path, call, "save() must name its update_fields")


def _writes_a_picture(call: ast.Call) -> bool:
    """`picture.save(where, "PNG")`: no row's save takes a text in the second place."""
    form = call.args[1] if len(call.args) == 2 else None
    return isinstance(form, ast.Constant) and isinstance(form.value, str)


def model_signals(source: Source) -> Iterator[str]:
    """Effects at a distance; services say what they do, and facts travel by the outbox."""
    for path, tree in source.items():
        for name in imported(tree):
            if name.startswith("django.db.models.signals"):
                yield at(path, tree, f"{name} is imported")


def unreasoned_openings(source: Source) -> Iterator[str]:
    """The fence between workspaces is opened only for a reason that is written down."""
    for path, tree in source.items():
        for name, call in calls(tree):
            if name != "in_all_workspaces" or path == Path("kernel/transactions.py"):
                continue
            reason = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "reason"), None)
            if len(_words(reason, tree).split()) < 2:
                yield at(path, call, "in_all_workspaces needs a reason in words")


def _words(value: ast.expr | None, tree: ast.Module) -> str:
    """The text of a literal, or of a constant of the same module."""
    constants = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    found = constants.get(value.id) if isinstance(value, ast.Name) else value
    return found.value if isinstance(found, ast.Constant) and isinstance(found.value, str) else ""


def other_clocks(source: Source) -> Iterator[str]:
    """Time is read in kernel.clock only, so that tests can freeze it. Durations by time.monotonic are no clock."""
    for path, tree in source.items():
        if path == Path("kernel/clock.py") or "embedded" in path.parts:
            continue
        for name in imported(tree):
            if name == "django.utils.timezone.now":
                yield at(path, tree, f"{name} is imported")
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in {
                "timezone.now", "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time",
            }:  # fmt: skip
                yield at(path, node, f"{ast.unparse(node)} is used")


def delayed_tasks(source: Source) -> Iterator[str]:
    """A broker forgets and repeats what it holds for long: later work is a row with a due time (I8)."""
    for path, tree in source.items():
        for name, call in calls(tree):
            if name not in {"apply_async", "send_task", "retry", "signature", "s", "si"}:
                continue
            for keyword in call.keywords:
                short = isinstance(keyword.value, ast.Constant) and float(keyword.value.value or 0) <= LONGEST_DELAY
                if keyword.arg == "eta" or (keyword.arg == "countdown" and not short):
                    yield at(path, call, f"{keyword.arg} of more than {LONGEST_DELAY} s, or of unknown length")


def rigid_tasks(source: Source) -> Iterator[str]:
    """Old and new code run side by side in a release: a task takes names, and ignores names that it does not know."""
    for path, tree in source.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef) or not any(
                "shared_task" in ast.unparse(d) for d in node.decorator_list
            ):
                continue
            arguments = node.args
            bound = 1 if any("bind=True" in ast.unparse(d) for d in node.decorator_list) else 0
            if len(arguments.posonlyargs + arguments.args) > bound or arguments.vararg or not arguments.kwarg:
                yield at(path, node, f"task {node.name} must take keywords only, and **_")
            if not any("name=" in ast.unparse(d) for d in node.decorator_list):
                yield at(path, node, f"task {node.name} must have a name of its own")


def rival_transactions(source: Source) -> Iterator[str]:
    """A savepoint that no unit of work knows takes rows back, and leaves their facts and records standing."""
    for path, tree in source.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.With) or not any("atomic" in ast.unparse(item) for item in node.items):
                continue
            for name, call in calls(node):
                if (
                    name in {"emit", "record", "unit_of_work", "in_workspace", "in_all_workspaces"}
                    and path.parts[0] != "kernel"
                ):
                    yield at(path, call, f"{name}() inside transaction.atomic(); unit_of_work() belongs there")


def large_files(source: Source) -> Iterator[str]:
    """Four hundred lines, from the first commit: the tail of the file sizes is what makes a code base unloved."""
    for path in [
        *source,
        *(p.relative_to(ROOT) for folder in ("tests", "tools", "clients") for p in (ROOT / folder).rglob("*.py")),
    ]:
        lines = len((ROOT / path).read_text(encoding="utf-8").splitlines())
        if lines > LONGEST_FILE:
            yield f"{path}: {lines} lines"


def promises(source: Source) -> Iterator[str]:
    """Work that is left for later is an issue, not a comment."""
    words = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")
    for path in source:
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
            if any(f"{word}" in line.split("#")[-1].split() for word in words if "#" in line):
                yield f"{path}:{number}: {line.strip()}"


RULES = [
    saves_without_fields, model_signals, unreasoned_openings, other_clocks, delayed_tasks, rigid_tasks, rival_transactions,
    large_files, promises,
]  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_code_keeps_the_rule(rule):
    assert list(rule(sources())) == []


BAD = {
    saves_without_fields: ("x/services/a.py", "row.save()"),
    model_signals: ("x/models.py", "from django.db.models.signals import post_save"),
    unreasoned_openings: ("x/services/a.py", "in_all_workspaces(reason)"),
    other_clocks: ("x/services/a.py", "import datetime\ndatetime.datetime.now\ndatetime.now(UTC)"),
    delayed_tasks: ("x/services/a.py", "task.apply_async(countdown=3600)"),
    rigid_tasks: ("x/tasks.py", "@shared_task(name='a')\ndef a(id): pass"),
    rival_transactions: ("x/services/a.py", "with transaction.atomic():\n    outbox.emit(x)"),
}
GOOD = {
    saves_without_fields: ("x/services/a.py", "row.save(update_fields=['a'])"),
    unreasoned_openings: ("x/services/a.py", "in_all_workspaces('a person looks')"),
    other_clocks: ("x/services/a.py", "clock.now(); time.monotonic()"),
    delayed_tasks: ("x/services/a.py", "task.apply_async(countdown=5)"),
    rigid_tasks: ("x/tasks.py", "@shared_task(name='a')\ndef a(*, id, **_): pass"),
    rival_transactions: ("x/services/a.py", "with transaction.atomic():\n    row = make()"),
}


@pytest.mark.parametrize("rule", BAD, ids=lambda rule: rule.__name__)
def test_the_rule_finds_an_offender(rule):
    path, code = BAD[rule]
    assert list(rule({Path(path): ast.parse(code)})) != []


@pytest.mark.parametrize("rule", GOOD, ids=lambda rule: rule.__name__)
def test_the_rule_lets_good_code_pass(rule):
    path, code = GOOD[rule]
    assert list(rule({Path(path): ast.parse(code)})) == []


# --- migrations ---------------------------------------------------------------------------------------------------

MAY_IMPORT = (
    "django", "pgvector", "kernel.db", "kernel.roles", "pathlib", "uuid", "datetime",
    "tenancy.models.workspace",  # its time zone validator is part of the fields' state, so Django writes it there
)  # fmt: skip


def foreign_imports(tree: ast.AST) -> list[str]:
    """A migration that imports today's code breaks when that code changes tomorrow."""
    return [name for name in imported(tree) if not name.startswith(MAY_IMPORT)]


def test_migrations_stand_alone():
    assert {str(path): names for path, tree in migrations() if (names := foreign_imports(tree))} == {}
    assert foreign_imports(ast.parse("from inbox.models import Thread")) == ["inbox.models.Thread"]


def test_migrations_can_go_back():
    for path, tree in migrations():
        for name, call in calls(tree):
            if name in {"RunSQL", "RunPython"}:
                assert len(call.args) > 1 or any(k.arg in {"reverse_sql", "reverse_code"} for k in call.keywords), at(
                    path, call, name
                )


# --- tests --------------------------------------------------------------------------------------------------------


def lasting_settings(tree: ast.AST) -> list[str]:
    """What is put into the inside of a setting stays there: nobody takes it back after the test."""
    return [
        ast.unparse(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Subscript) and ast.unparse(target).startswith("settings.")
    ]


def test_tests_leave_no_settings_behind():
    found = {
        str(path.relative_to(ROOT)): names
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if (names := lasting_settings(ast.parse(path.read_text(encoding="utf-8"))))
    }
    # The folders and the database of a worker, which last as long as it does; the bench is a program of its own.
    assert {path for path in found if not path.startswith("tests/bench/")} == {"tests/conftest.py"}
    assert lasting_settings(ast.parse("settings.A['x'] = 1; settings.B = 2")) == ["settings.A['x']"]
