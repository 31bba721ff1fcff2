"""Figures, verdicts, the table and the JSON file."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Figure:
    """One line: our figure beside a peer's or a bound's. `ratio` is compared with floor and goal.

    `at_most` turns the comparison round (growth, latency). A line without a floor only informs; one without `theirs`
    has no other side here, and `note` says why.
    """

    row: str
    what: str
    unit: str
    ours: float | None
    against: str = ""
    theirs: float | None = None
    ratio: float | None = None
    floor: float | None = None
    goal: float | None = None
    at_most: bool = False
    note: str = ""
    samples: dict[str, list[float]] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        if self.floor is None:
            return "absent" if self.note.startswith("absent") else "—"
        if self.ratio is None:
            return "absent"
        if not self._reaches(self.floor):
            return "below floor"
        return "goal" if self.goal is None or self._reaches(self.goal) else "floor"

    def _reaches(self, mark: float) -> bool:
        assert self.ratio is not None
        return self.ratio <= mark if self.at_most else self.ratio >= mark


@dataclass(frozen=True)
class Run:
    """What the rows need to know: how often, how much, and whom to tell."""

    rounds: int
    quick: bool
    say: Callable[[str], None]
    scratch: Any
    folder: Path

    def size(self, quick: int, full: int) -> int:
        return quick if self.quick else full


def against(figure: Figure, ours: Sequence[float], theirs: Sequence[float]) -> Figure:
    """The figure with the medians of both sides, their ratio, and all samples."""
    a, b = median(ours), median(theirs)
    return Figure(
        **{
            **{name: getattr(figure, name) for name in figure.__dataclass_fields__},
            "ours": a,
            "theirs": b,
            "ratio": a / b if b else None,
            "samples": {"ours": list(ours), "theirs": list(theirs)},
        }
    )


def show(figures: Sequence[Figure], console: Console) -> None:
    table = Table(title="medians; ratio = ours / theirs", header_style="bold")
    for name, justify in (
        ("row", "left"), ("what", "left"), ("ours", "right"), ("against", "left"), ("theirs", "right"),
        ("ratio", "right"), ("floor", "right"), ("goal", "right"), ("verdict", "left"),
    ):  # fmt: skip
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    colours = {"below floor": "red", "floor": "yellow", "goal": "green", "absent": "magenta"}
    for figure in figures:
        sign = "≤" if figure.at_most else "≥"
        colour = colours.get(figure.verdict, "dim")
        table.add_row(
            figure.row,
            figure.what + (f"\n[dim]{figure.note}[/dim]" if figure.note else ""),
            _cell(figure.ours, figure.unit, figure.samples.get("ours")),
            figure.against,
            _cell(figure.theirs, figure.unit, figure.samples.get("theirs")),
            _number(figure.ratio),
            f"{sign} {_number(figure.floor)}" if figure.floor is not None else "",
            f"{sign} {_number(figure.goal)}" if figure.goal is not None else "",
            f"[{colour}]{figure.verdict}[/{colour}]",
        )
    console.print(table)


def write(figures: Sequence[Figure], path: Path, *, facts: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [asdict(figure) | {"verdict": figure.verdict} for figure in figures]
    path.write_text(json.dumps({**facts, "figures": rows}, indent=1, ensure_ascii=False) + "\n")


def _cell(value: float | None, unit: str, samples: Sequence[float] | None) -> str:
    if value is None:
        return ""
    spread = f"\n[dim]{_number(min(samples))}–{_number(max(samples))}[/dim]" if samples and len(samples) > 1 else ""
    return f"{_number(value)} {unit}{spread}"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
