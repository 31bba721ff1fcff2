"""Workspaces, for those who run the installation."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from kernel.admin import columns
from kernel.admin.base import ReadOnlyAdmin
from kernel.admin.deeds import deed
from kernel.admin.filters import Deleted
from kernel.admin.place import place_of
from tenancy.models import Workspace
from tenancy.services import describing


@admin.register(Workspace)
class WorkspaceAdmin(ReadOnlyAdmin):
    """Tenants. A member sees the one they work in; the account hook makes new ones."""

    view_needs = "workspace.manage"
    list_display = (
        columns.two_lines("name", "ref", "workspace"),
        columns.state("status"),
        columns.text("timezone", "time zone"),
        columns.when("created_at", "made"),
    )
    list_filter = ("status", Deleted)
    actions: ClassVar[Any] = ["remove", "restore"]
    fields = ("name", "ref", "external_id", "status", "timezone", "default_country", "custom_metadata", "created_at")
    search_fields = ("name", "ref__exact")
    search_help_text = "Name or ws_…"
    ordering = ("name", "id")
    empty_icon = "domain"
    empty_title = "No workspaces"
    empty_text = "Workspaces come into being through the provisioning hook or manage.py bootstrap."

    def get_queryset(self, request: HttpRequest) -> QuerySet[Workspace]:
        rows = super().get_queryset(request)
        chosen = place_of(request).workspace_id
        return rows if chosen is None else rows.filter(id=chosen)

    def has_act_permission(self, request: HttpRequest) -> bool:
        """Operators of the installation only: no member ends the workspace they are in."""
        return place_of(request).acts_as_operator

    @deed("Delete")
    def remove(self, request: HttpRequest, queryset: QuerySet[Workspace]) -> None:
        for row in queryset:
            self.serve(request, lambda r=row: describing.delete(workspace_id=r.id))

    @deed("Restore")
    def restore(self, request: HttpRequest, queryset: QuerySet[Workspace]) -> None:
        """For rows of the filter "Deleted only"."""
        for row in queryset:
            self.serve(request, lambda r=row: describing.restore(workspace_id=r.id))
