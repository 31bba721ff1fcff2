"""Columns of lists."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString

from kernel.admin import marks

Column = Callable[[Any], Any]


def _read(row: Any, path: str) -> Any:
    """Follow a path such as `entry__subject` or `recipients__0`."""
    for name in path.split("__"):
        row = _item(row, int(name)) if name.isdigit() else getattr(row, name, None)
    return row


def _item(rows: Any, index: int) -> Any:
    return rows[index] if rows and len(rows) > index else None


def when(path: str, label: str = "") -> Column:
    """A time, relative."""

    @admin.display(description=label or path.removesuffix("_at").replace("_", " "), ordering=path)
    def column(row: Any) -> SafeString:
        return marks.ago(_read(row, path))

    return column


def state(path: str = "state", label: str = "") -> Column:
    """A state as a chip."""

    @admin.display(description=label or path.rpartition("__")[2], ordering=path)
    def column(row: Any) -> SafeString:
        return marks.chip(str(_read(row, path) or ""))

    return column


def size(path: str, label: str = "size") -> Column:
    """A number of bytes."""

    @admin.display(description=label, ordering=path)
    def column(row: Any) -> str:
        return marks.size(_read(row, path))

    return column


def text(path: str, label: str = "", *, limit: int = 80, mono: bool = False) -> Column:
    """A text cut to a length, whole in its title."""

    @admin.display(description=label or path.rpartition("__")[2].replace("_", " "), ordering=path)
    def column(row: Any) -> SafeString:
        value = str(_read(row, path) or "")
        if not value:
            return SafeString('<span class="c-none">–</span>')
        short = value if len(value) <= limit else value[: limit - 1] + "…"
        return format_html('<span class="{}" title="{}">{}</span>', "c-mono" if mono else "", value, short)

    return column


def two_lines(title: str, subtitle: str, label: str) -> Column:
    """What it is, and beneath it what tells it apart."""

    @admin.display(description=label, ordering=title)
    def column(row: Any) -> SafeString:
        return format_html(
            '<span class="c-two"><b>{}</b><small>{}</small></span>',
            _read(row, title) or "–",
            _read(row, subtitle) or "",
        )

    return column
