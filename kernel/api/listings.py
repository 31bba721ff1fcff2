"""What a list may be asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from kernel.api import paging
from kernel.api.filters import Filters


@dataclass(frozen=True)
class Listing:
    """Its filters, its usual order (falling), and what else it can be sorted by."""

    filters: type[Filters] = Filters
    by: str = "created_at"
    sorts: Sequence[str] = ("created_at",)

    @property
    def names(self) -> list[str]:
        """The parameters that it takes."""
        return [*paging.PARAMETERS, *(["sort"] if self.sorts else []), *self.filters.base_filters]
