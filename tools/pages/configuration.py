"""docs/configuration.md: every variable that the settings read, with its default and the comment beside it."""

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.pages.markdown import code, table
from tools.pages.markdown import page as whole_page

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = [
    "config/settings/base.py", "config/settings/limits.py", "config/settings/dev.py", "config/settings/production.py",
    "config/processes.py", "config/env.py",
]  # fmt: skip
KINDS = {
    "str": "text",
    "int": "whole number",
    "float": "number",
    "bool": "true or false",
    "list": "list, with commas",
    "get": "text",
    "json": "JSON",
}
TITLES = {
    "limits.py": "delays and limits",
    "dev.py": "secrets",
    "production.py": "behind a proxy",
    "processes.py": "processes",
    "env.py": "the database",
}  # Of a file without sections.
SECTION = re.compile(r"# -{3,} (.+?) -{3,}")


@dataclass
class Variable:
    """One variable as one file reads it."""

    name: str
    kind: str
    default: str
    meaning: str
    section: str
    source: str


def page() -> str:
    lines = [
        "Every value comes from the environment. Any `NAME` may instead be given as `NAME_FILE`, the path of a file that",
        "holds the value (container secrets). A machine without configuration works: `config.settings.dev` makes the",
        "secrets that it needs and keeps them in `var/`. `config.settings.production` makes nothing and refuses to start",
        "without them.",
        "",
    ]
    sections: dict[str, list[Variable]] = {}
    for variable in variables():
        sections.setdefault(variable.section, []).append(variable)
    for section, found in sections.items():
        lines += [f"## {section[:1].upper()}{section[1:]}", ""]
        lines += table(
            ["variable", "kind", "default", "meaning"], ([code(v.name), v.kind, v.default, v.meaning] for v in found)
        )
    return whole_page("Configuration", lines)


def variables() -> list[Variable]:
    """All, each once; what development makes up and production demands is one row."""
    found: dict[str, Variable] = {}
    for source in SOURCES:
        for variable in _read(ROOT / source, source):
            known = found.setdefault(variable.name, variable)
            if known is not variable and not variable.default:
                known.default = (
                    f"{known.default}; required in production" if known.default else "required in production"
                )
    return list(found.values())


def _read(path: Path, source: str) -> Iterator[Variable]:
    text = path.read_text("utf-8")
    lines = text.splitlines()
    title = TITLES.get(path.name, "general")
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and _reads_environment(node)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        name = call.args[0].value  # type: ignore[attr-defined]
        section = next((m[1] for line in reversed(lines[: call.lineno]) if (m := SECTION.match(line))), title)
        yield Variable(name, KINDS[_method(call)], _default(call), _comment(lines, call), section.rstrip("."), source)


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _reads_environment(call: ast.Call) -> bool:
    if not (isinstance(call.func, ast.Attribute) and call.args and isinstance(call.args[0], ast.Constant)):
        return False
    return ast.unparse(call.func.value) in {"env", "os.environ"} and _method(call) in KINDS


def _default(call: ast.Call) -> str:
    given = next((k.value for k in call.keywords if k.arg == "default"), call.args[1] if len(call.args) > 1 else None)
    text = ast.unparse(given) if given else ""
    if not text or "_local[" in text:
        return "made on first use, kept in `var/secrets.json`" if text else ""
    if text in ("''", "[]", "{}"):
        return "empty"
    if path := re.fullmatch(r"str\(VAR / '(.+)'\)", text):
        return code(f"var/{path[1]}")
    if re.fullmatch(r"[\d *_]+", text):
        return code(math.prod(int(factor) for factor in text.split("*")))
    return code(_plain(given))


def _plain(given: ast.expr | None) -> str:
    """A literal as one writes it into the environment."""
    value = ast.literal_eval(given) if given else ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _comment(lines: list[str], call: ast.Call) -> str:
    """The comment at the end of the line, else the ones right above it."""
    trailing = re.search(r"\)\s+# (.+)$", lines[(call.end_lineno or call.lineno) - 1])
    if trailing and "noqa" not in trailing[1]:
        return trailing[1]
    above: list[str] = []
    for line in (text.strip() for text in reversed(lines[: call.lineno - 1])):
        if not line.startswith("# ") or SECTION.match(line):
            break
        above.insert(0, line[2:])
    return " ".join(above)
