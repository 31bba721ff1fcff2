"""Roles: what they grant, and who holds them."""

from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from kernel.access import catalogue
from kernel.admin import columns
from kernel.admin.base import ServiceAdmin
from kernel.admin.deeds import deed
from kernel.admin.forms import ServiceForm
from kernel.admin.place import place_of
from kernel.transactions import in_workspace
from tenancy.models import Membership, MembershipRole, Role, RolePermission
from tenancy.services import roles


def _many(label: str, help_text: str) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        required=False, label=label, widget=UnfoldAdminCheckboxSelectMultipleWidget, help_text=help_text
    )


class RoleForm(ServiceForm):
    """Permissions by name, and the members who hold the role. Nobody gives what they do not have."""

    permissions = _many("Permissions", "What members with this role may do.")
    holders = _many("Members", "Who holds it. They have it, or are without it, at their next click.")

    class Meta:
        model = Role
        fields = ("name", "description")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row, choices = self.instance, [(name, f"{name}: {text}") for name, text in catalogue().items()]
        known = {name for name, _ in choices}
        granted = list(RolePermission.objects.filter(role_id=row.id).values_list("permission", flat=True))
        families = [(name, f"{name}: everything of this kind") for name in granted if name not in known]
        self._offer("permissions", [*families, *choices], granted)
        people = Membership.objects.select_related("user").order_by("user__email")
        if row.workspace_id:
            people = people.filter(workspace_id=row.workspace_id)
        held = MembershipRole.objects.filter(role_id=row.id).values_list("membership_id", flat=True)
        self._offer("holders", [(str(one.id), f"{one.user} ({one.user.email})") for one in people], map(str, held))

    def _offer(self, name: str, choices: list[tuple[str, str]], chosen: Any) -> None:
        field = self.fields.get(name)
        if isinstance(field, forms.MultipleChoiceField):
            field.choices = choices
            self.initial[name] = list(chosen)


@admin.register(Role)
class RoleAdmin(ServiceAdmin):
    """Sets of permissions. Those of the system are the same in every workspace; the others are the workspace's own."""

    view_needs = "role.read"
    add_needs = change_needs = act_needs = "role.manage"
    form = RoleForm
    list_display: Any = (
        columns.two_lines("name", "description", "role"),
        "kind",
        "held_by",
        "grants_shown",
    )
    search_fields = ("name__icontains",)
    ordering = ("-is_system", "name")
    actions: ClassVar[Any] = ["remove"]
    empty_icon = "admin_panel_settings"
    empty_title = "No roles"
    empty_text = "A role is a set of permissions that you give to members."

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request).prefetch_related("grants")
        counted: QuerySet[Any] = rows.annotate(holders=Count("member_links", distinct=True))
        return counted

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is not None and not self.has_change_permission(request, obj):
            return ("name", "description", "grants_shown", "held_by")
        if obj is not None and obj.is_system:
            return ("name", "description", "grants_shown", "holders")
        return ("name", "description", "permissions", "holders")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None or not (obj.is_system or not self.has_change_permission(request, obj)):
            return ()
        return ("name", "description", "grants_shown", "held_by")

    @admin.display(description="kind")
    def kind(self, row: Role) -> str:
        return "system" if row.is_system else "custom"

    @admin.display(description="members")
    def held_by(self, row: Any) -> int:
        return int(row.holders)

    @admin.display(description="grants")
    def grants_shown(self, row: Role) -> str:
        names = sorted(grant.permission for grant in row.grants.all())
        return "everything" if names == ["*"] else ", ".join(names) or "nothing"

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> Role:
        """The role and who holds it, together or not at all."""
        may, holders = place_of(request).permissions, set(map(UUID, values.pop("holders", [])))
        with in_workspace(workspace_id):
            if obj is None:
                row = roles.create(workspace_id=workspace_id, may=may, **values)
            elif obj.is_system:
                row = obj
            else:
                row = roles.change(workspace_id=workspace_id, role_id=obj.pk, changes=values, may=may)
            self._hand_out(row, holders, may)
        return row

    def _hand_out(self, row: Role, wanted: set[UUID], may: frozenset[str]) -> None:
        held = set(MembershipRole.objects.filter(role_id=row.pk).values_list("membership_id", flat=True))
        whose: dict[str, Any] = {"workspace_id": row.workspace_id, "role_id": row.pk, "may": may}
        for membership_id in sorted(wanted - held):
            roles.give(membership_id=membership_id, **whose)
        for membership_id in sorted(held - wanted):
            roles.take(membership_id=membership_id, **whose)

    @deed("Delete, when nobody holds it")
    def remove(self, request: HttpRequest, queryset: Any) -> None:
        may = place_of(request).permissions
        for row in queryset:
            self.serve(
                request,
                lambda r=row: roles.delete(workspace_id=r.workspace_id, role_id=r.id, may=may),
                done=f"The role {row} is deleted.",
            )
