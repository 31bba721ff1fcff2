"""Members of the workspace, and people of the installation."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest

from kernel.admin import columns
from kernel.admin.base import ReadOnlyAdmin
from kernel.admin.place import place_of
from tenancy.models import Membership, User

# Django's groups mean nothing here: roles of a workspace grant permissions.
admin.site.unregister(Group)


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    """Who belongs to the workspace, and with which roles."""

    view_needs = "member.read"
    list_display = (
        columns.two_lines("user", "user__email", "person"),
        "roles",
        columns.state("status"),
        columns.when("accepted_at", "since"),
    )
    list_filter = ("status",)
    fields: Any = ("user", "roles", "status", "invited_by", "accepted_at", "created_at")
    readonly_fields = ("roles",)
    search_fields = ("user__email__startswith", "user__name")
    search_help_text = "Name or e-mail"
    ordering = ("created_at", "id")
    list_select_related = ("user",)
    empty_icon = "group"
    empty_title = "No members"
    empty_text = "Members are the people who may work here."

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        return super().get_queryset(request).prefetch_related("role_links__role")

    @admin.display(description="roles")
    def roles(self, row: Membership) -> str:
        return ", ".join(link.role.name for link in row.role_links.all()) or "–"


@admin.register(User)
class UserAdmin(ReadOnlyAdmin):
    """People who sign in. They are of the installation; in a workspace only its own members are in sight."""

    view_needs = "member.read"
    list_display = (
        columns.two_lines("name", "email", "person"),
        "is_active",
        "is_staff",
        "is_operator",
        columns.when("last_login", "last seen"),
    )
    list_filter = ("is_active", "is_operator")
    fields = ("name", "email", "timezone", "is_active", "is_staff", "is_operator", "last_login", "created_at")
    search_fields = ("email__startswith", "name")
    search_help_text = "Name or e-mail"
    ordering = ("email",)
    empty_icon = "manage_accounts"
    empty_title = "Nobody"

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        rows: QuerySet[User] = super().get_queryset(request)
        chosen = place_of(request).workspace_id
        if chosen is None:
            return rows
        return rows.filter(Exists(Membership.objects.filter(user=OuterRef("pk"), workspace_id=chosen)))
