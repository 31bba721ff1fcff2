"""What a proof counts, and what it found."""

from dataclasses import dataclass, field

# A system without a fence would be wrong in each of thousands of requests.
_MOST_KEPT = 200


@dataclass
class Findings:
    """Counts by kind, leaks as sentences, and what the proof did not reach."""

    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("requests", "parameter_routes", "tables", "background"), 0)
    )
    leaks: int = 0
    changed_rows: int = 0
    sentences: list[str] = field(default_factory=list)
    uncovered: list[str] = field(default_factory=list)
    # Tables in which the other workspace had no row: there the refusal to write is proven, and nothing about reading.
    empty_tables: list[str] = field(default_factory=list)

    def count(self, kind: str, number: int = 1) -> None:
        """Count what was tried."""
        self.counts[kind] += number

    def leak(self, sentence: str) -> None:
        """Something of another workspace was seen, reached, or told apart from what does not exist."""
        self.leaks += 1
        self._keep(sentence)

    def changed(self, table: str, number: int) -> None:
        """Rows of another workspace are not what they were."""
        self.changed_rows += number
        self._keep(f"{number} rows of {table} that belong to the other workspace are not what they were")

    def miss(self, sentence: str) -> None:
        """A part of the system that the proof does not reach, so that it says nothing about it."""
        self.uncovered.append(sentence)

    @property
    def is_clean(self) -> bool:
        return not (self.leaks or self.changed_rows or self.uncovered)

    def summary(self) -> dict[str, int]:
        """The last line of the command."""
        return self.counts | {"leaks": self.leaks, "changed_rows": self.changed_rows}

    def _keep(self, sentence: str) -> None:
        if len(self.sentences) < _MOST_KEPT:
            self.sentences.append(sentence)
