"""A line that keeps somebody out, taken away."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """`lost` says what the product would be without. `edits` maps what stands there, exactly once, to what stands there
    without it; where two walls guard the same thing, the mutant takes both down."""

    lost: str
    path: str
    edits: dict[str, str]
    tests: tuple[str, ...]

    @property
    def changes_schema(self) -> bool:
        """Whether only a database that is migrated anew shows it."""
        return self.path.endswith(".sql") or self.path == "kernel/db.py" or "/migrations/" in self.path

    def applied(self, text: str) -> str:
        """The file without the line; AssertionError when the table is not true any more."""
        for old, new in self.edits.items():
            assert text.count(old) == 1, f"{self.path} has {text.count(old)} times: {old}"
            text = text.replace(old, new)
        return text


def without(lost: str, path: str, edits: dict[str, str], *tests: str) -> Mutant:
    """A row of the table."""
    return Mutant(lost, path, edits, tuple(f"tests/{test}" for test in tests))
