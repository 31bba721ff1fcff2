"""The source of the project, parsed, for tests that read it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APPS = ["kernel", "audit", "tenancy", "files", "webhooks", "contacts", "inbox", "tickets", "agents"]
PACKAGES = [*APPS, "config"]


@cache
def sources() -> dict[Path, ast.Module]:
    """Every module of the product by its path in the project; migrations and tests are apart."""
    return {
        path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8"))
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if "migrations" not in path.parts
    }


def migrations() -> Iterator[tuple[Path, ast.Module]]:
    for app in APPS:
        for path in sorted((ROOT / app / "migrations").glob("0*.py")):
            yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Every call with the last name of what is called: `a.b.c(…)` is `c`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Attribute):
                yield called.attr, node
            elif isinstance(called, ast.Name):
                yield called.id, node


def imported(tree: ast.AST) -> Iterator[str]:
    """Every imported module or name, dotted."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)


def at(path: Path, node: ast.AST, text: str) -> str:
    return f"{path}:{getattr(node, 'lineno', 0)}: {text}"
