"""What a list may be narrowed by: the filters and the search that its page offers, and nothing else."""

from typing import Any

from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest


class OfferedChangeList(ChangeList):
    """A list that refuses each parameter which no filter of its page has taken.

    Django narrows by whatever is left over, any column of the row included, those that no page shows: whether a row
    stays in sight then tells a column's content, letter by letter. Of a relation `lookup_allowed` refuses that, of the
    row itself it refuses nothing. Here the filters themselves say what they read, so there is no list of names to keep.
    """

    def get_filters(self, request: HttpRequest) -> Any:
        found = super().get_filters(request)
        # Django has turned the parts of a date hierarchy into bounds of that date by now.
        hierarchy = f"{self.date_hierarchy}__" if self.date_hierarchy else None
        for name in found[2]:
            if hierarchy is None or not name.startswith(hierarchy):
                raise DisallowedModelAdminLookup(f"Filtering by {name} not allowed")
        return found
