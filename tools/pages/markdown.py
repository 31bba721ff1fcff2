"""The little Markdown that the generated pages need."""

from collections.abc import Iterable, Sequence

NOTE = "<!-- Written by tools/write_docs.py from the code. Change the code, then run it again. -->"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [_row(head), _row(["---"] * len(head))]
    return [*lines, *(_row(row) for row in rows), ""]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"


def code(text: object) -> str:
    return f"`{text}`" if str(text) else ""


def paragraphs(text: str | None) -> list[str]:
    """A docstring as paragraphs of one line each, with blank lines between."""
    lines: list[str] = []
    for part in (text or "").strip().split("\n\n"):
        if part.strip():
            lines += [" ".join(part.split()), ""]
    return lines


def page(title: str, lines: Iterable[str]) -> str:
    return "\n".join([f"# {title}", "", NOTE, "", *lines]).rstrip() + "\n"
