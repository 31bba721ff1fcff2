"""docs/document-000.md says what is: its fields are the API's, its moves the database's, its tests are there, no rule is missing."""

import ast
import re
from functools import cache

import pytest

from inbox.policy import InboxPolicy
from inbox.types import MOVES
from tests.architecture.code import ROOT
from tests.resources.nine import NINE, SHARED

TEXT = (ROOT / "docs/document-000.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[a-z_/0-9]+\.py)::(test_[a-z_0-9]+)`", TEXT)))
# Held by the tests of the authentication of machines.
ELSEWHERE: set[str] = set()


def section(title: str) -> str:
    """From a heading to the next one of its kind or above."""
    level, _, _ = title.partition(" ")
    found = re.search(rf"^{re.escape(title)}$(.*?)(?=^#{{1,{len(level)}}} |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def first_cells(text: str) -> list[str]:
    return re.findall(r"^\| `([a-z_0-9]+)` \|", text, re.MULTILINE)


@cache
def functions_of(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_every_rule_has_its_row_and_every_row_a_test():
    rows = re.findall(r"^\| (S0-\d+) \|(.*)\|$", section("## Rules and their tests"), re.MULTILINE)
    assert [number for number, _ in rows] == [f"S0-{number}" for number in range(1, 39)]
    without = {number for number, rest in rows if "::test_" not in rest}
    assert without == ELSEWHERE


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_each_test_that_is_named_exists(path, name):
    assert (ROOT / path).exists()
    assert name in functions_of(path)


def test_the_fields_are_those_of_the_answers(acme):
    assert tuple(first_cells(section("## Fields that all nine share"))) == SHARED
    assert re.findall(r"^### (\w+)$", section("## Fields of each"), re.MULTILINE) == list(NINE)
    for name, resource in NINE.items():
        shown = list(acme.call("GET", acme.path(name)).json())
        own = [field for field in shown if field not in (*SHARED, "workspace_id")]
        written = first_cells(section(f"### {name}"))
        assert sorted(written) == sorted(own), name
        settable = [
            field for field in resource.settable if field not in ("custom_metadata", "headers")
        ]  # headers are shown by their names only
        text = section(f"### {name}")
        for field in settable:
            row = re.search(rf"^\| `{field}` \|[^|]*\|([^|]*)\|", text, re.MULTILINE)
            assert row, (name, field)
            assert "PATCH" in row[1], (name, field)


def test_the_moves_are_those_of_the_table():
    rows = re.findall(r"^\| ([a-z_]+) \| ([a-z_, ]+) \|$", section("## States of an e-mail"), re.MULTILINE)
    written = {(origin, target) for origin, targets in rows if origin != "from" for target in targets.split(", ")}
    assert written == {(origin.value, target.value) for origin, target in MOVES}


def test_the_keys_of_the_policy_are_those_of_the_model():
    assert sorted(first_cells(section("## The processing policy"))) == sorted(InboxPolicy.model_fields)
