"""Pages without a count: a list of millions opens as fast as one of ten."""

from typing import Any

from django.core.paginator import Page
from django.utils.functional import cached_property
from unfold.paginator import InfinitePaginator as UncountedPaginator


class InfinitePaginator(UncountedPaginator):
    """Reads one row more than a page shows, to know whether another page follows.

    Unfold leaves the count out of the page's header for a class of exactly this name.
    """

    template_name = "console/parts/pages.html"

    @cached_property
    def count(self) -> int:
        return 9_999_999_999

    more = False

    def page(self, number: Any) -> Page[Any]:
        number = self.validate_number(number)
        start = (number - 1) * self.per_page
        rows = list(self.object_list[start : start + self.per_page + 1])
        self.more = len(rows) > self.per_page
        return Page(rows[: self.per_page], number, self)
