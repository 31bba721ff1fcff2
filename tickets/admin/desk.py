"""Labels, canned answers and saved views: what the list and the page of conversations are made with."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from kernel.admin import columns
from kernel.admin.base import ReadOnlyAdmin, ServiceAdmin
from kernel.admin.deeds import deed
from tickets.models import CannedAnswer, SavedView, Tag
from tickets.normalise import in_words
from tickets.services import answering, tagging, viewing


@admin.register(Tag)
class TagAdmin(ServiceAdmin):
    """Labels of conversations."""

    view_needs = "thread.read"
    add_needs = change_needs = act_needs = "view.manage"
    fields = ("name", "color")
    list_display = ("name", "color", columns.when("updated_at", "changed"))
    search_fields = ("name",)
    ordering = ("-created_at", "-id")
    actions: ClassVar[Any] = ["remove"]
    empty_icon = "label"
    empty_title = "No labels yet"
    empty_text = "Labels say what a conversation is about: refund, warranty, press. Views can be made of them."

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> Tag:
        if obj is None:
            return tagging.create(workspace_id=workspace_id, **values)
        return tagging.change(workspace_id=workspace_id, tag_id=obj.pk, changes=values)

    @deed("Delete, from every conversation")
    def remove(self, request: HttpRequest, queryset: QuerySet[Tag]) -> None:
        for row in queryset:
            self.serve(request, lambda r=row: tagging.delete(workspace_id=r.workspace_id, tag_id=r.id))


@admin.register(CannedAnswer)
class CannedAnswerAdmin(ServiceAdmin):
    """Texts that are written again and again."""

    view_needs = "thread.read"
    add_needs = change_needs = act_needs = "view.manage"
    fields = ("name", "text")
    list_display = (columns.two_lines("name", "text", "answer"), columns.when("updated_at", "changed"))
    search_fields = ("name", "text")
    ordering = ("-created_at", "-id")
    actions: ClassVar[Any] = ["remove"]
    empty_icon = "quickreply"
    empty_title = "No canned answers yet"
    empty_text = "Keep what your team writes again and again. {name}, {subject} and {me} are filled in."

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> CannedAnswer:
        if obj is None:
            return answering.create(workspace_id=workspace_id, **values)
        return answering.change(workspace_id=workspace_id, answer_id=obj.pk, changes=values)

    @deed("Delete")
    def remove(self, request: HttpRequest, queryset: QuerySet[CannedAnswer]) -> None:
        for row in queryset:
            self.serve(request, lambda r=row: answering.delete(workspace_id=r.workspace_id, answer_id=r.id))


@admin.register(SavedView)
class SavedViewAdmin(ReadOnlyAdmin):
    """Everybody's views. They are made and deleted on the list of conversations, where their effect is seen."""

    view_needs = "thread.read"
    act_needs = "view.manage"
    list_display = ("name", "narrows", "sort", columns.when("updated_at", "changed"))
    search_fields = ("name",)
    ordering = ("-created_at", "-id")
    actions: ClassVar[Any] = ["remove"]
    empty_icon = "bookmark"
    empty_title = "No saved views yet"
    empty_text = "Narrow the list of conversations and choose “Save as a view”."

    def get_queryset(self, request: HttpRequest) -> QuerySet[SavedView]:
        return super().get_queryset(request).filter(owner=None)

    @admin.display(description="shows")
    def narrows(self, row: SavedView) -> str:
        return in_words(row.filter)

    @deed("Delete")
    def remove(self, request: HttpRequest, queryset: QuerySet[SavedView]) -> None:
        for row in queryset:
            self.serve(request, lambda r=row: viewing.delete(workspace_id=r.workspace_id, view_id=r.id))
