"""Filters of lists: saved views as tabs, and deleted rows on request."""

from collections.abc import Iterator
from typing import Any, ClassVar

from django.contrib.admin import SimpleListFilter
from django.contrib.admin.views.main import ChangeList
from django.db.models import Q, QuerySet
from django.http import HttpRequest


class Views(SimpleListFilter):
    """Saved views, shown as tabs above the list. The first one is where a person lands."""

    title = "view"
    parameter_name = "view"
    template = "console/parts/nothing.html"
    is_views = True
    views: ClassVar[dict[str, tuple[str, Q]]] = {}

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(key, label) for key, (label, _) in self.views.items()]

    def chosen(self) -> str:
        wanted = self.value()
        return wanted if wanted in self.views else next(iter(self.views))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(self.views[self.chosen()][1])

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, Any]]:  # type: ignore[override]
        for key, (label, _) in self.views.items():
            yield {
                "key": key,
                "selected": self.chosen() == key,
                "query_string": changelist.get_query_string({self.parameter_name: key}, ["p"]),
                "display": label,
            }


class Deleted(SimpleListFilter):
    """Deleted rows are out of sight until asked for; the base class reads the parameter."""

    title = "deleted"
    parameter_name = "deleted"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "Deleted only")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(deleted_at__isnull=False) if self.value() == "yes" else queryset
