"""Knowledge: documents that agents answer from."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from agents.models import KnowledgeSource
from agents.services import learning
from kernel.admin import columns
from kernel.admin.base import ServiceAdmin
from kernel.admin.deeds import deed
from kernel.admin.filters import Deleted


@admin.register(KnowledgeSource)
class KnowledgeSourceAdmin(ServiceAdmin):
    """Written by people and trusted, unlike mail."""

    view_needs = "agent.read"
    add_needs = change_needs = act_needs = "agent.manage"
    fields = ("title", "uri", "content")
    list_display = (
        columns.two_lines("title", "uri", "document"),
        columns.text("passages"),
        columns.when("updated_at", "changed"),
    )
    list_filter = (Deleted,)
    search_fields = ("title", "content")
    search_help_text = "Title or words in it"
    ordering = ("-created_at", "-id")
    actions: ClassVar[Any] = ["forget"]
    empty_icon = "menu_book"
    empty_title = "No knowledge yet"
    empty_text = (
        "Add what your best colleague would answer from: prices, opening hours, how returns work. Headings help."
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[KnowledgeSource]:
        rows = super().get_queryset(request)
        return rows.annotate(passages=Count("chunks")).defer("content") if self._is_list(request) else rows

    def _is_list(self, request: HttpRequest) -> bool:
        return request.method == "GET" and request.path.endswith("/knowledgesource/")

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> KnowledgeSource:
        if obj is None:
            return learning.add(workspace_id=workspace_id, **values)
        return learning.replace(workspace_id=workspace_id, source_id=obj.pk, **values)

    @deed("Remove from knowledge")
    def forget(self, request: HttpRequest, queryset: QuerySet[KnowledgeSource]) -> None:
        for source in queryset:
            self.serve(request, lambda s=source: learning.remove(workspace_id=s.workspace_id, source_id=s.id))
