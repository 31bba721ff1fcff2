"""Facts that travel between apps. A fact is a frozen dataclass of ids and scalars, emitted in its transaction."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar
from uuid import UUID


@dataclass(frozen=True, kw_only=True)
class DomainEvent:
    """Base of all facts. `slug` is its stable name; public ones become SystemEvents for integrators."""

    slug: ClassVar[str]
    version: ClassVar[int] = 1
    public: ClassVar[bool] = False
    # The field that names the aggregate: facts of one aggregate reach consumers in order.
    aggregate: ClassVar[str]

    workspace_id: UUID

    @property
    def aggregate_key(self) -> str:
        return f"{self.aggregate}:{getattr(self, self.aggregate)}"

    def payload(self) -> dict[str, Any]:
        """The fact as JSON scalars, without the workspace, which the row carries itself."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "workspace_id"}
        return {name: str(value) if isinstance(value, UUID) else value for name, value in values.items()}


def event_classes() -> dict[str, type[DomainEvent]]:
    """Every declared fact by slug, for documentation, the webhook catalogue and the tests."""
    found: dict[str, type[DomainEvent]] = {}
    pending = list(DomainEvent.__subclasses__())
    while pending:
        cls = pending.pop()
        pending.extend(cls.__subclasses__())
        if "slug" in vars(cls):
            found[cls.slug] = cls
    return dict(sorted(found.items()))
