"""Teams: who looks after which inboxes."""

from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from kernel.admin import choices, columns
from kernel.admin.base import ServiceAdmin
from kernel.admin.deeds import deed
from kernel.admin.forms import ServiceForm
from tenancy.models import Membership, Team, TeamInbox, TeamMember
from tenancy.services import teams


class TeamForm(ServiceForm):
    """Inboxes live above this app, which offers them by address."""

    membership_ids = forms.MultipleChoiceField(
        required=False, label="Members", widget=UnfoldAdminCheckboxSelectMultipleWidget
    )
    inbox_ids = forms.MultipleChoiceField(
        required=False, label="Inboxes", widget=UnfoldAdminCheckboxSelectMultipleWidget
    )

    class Meta:
        model = Team
        fields = ("name",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row = self.instance
        members = TeamMember.objects.filter(team_id=row.id).values_list("membership_id", flat=True)
        inboxes = TeamInbox.objects.filter(team_id=row.id).values_list("inbox_id", flat=True)
        people = Membership.objects.select_related("user").order_by("user__email")
        if row.workspace_id:
            people = people.filter(workspace_id=row.workspace_id)
        self._offer("membership_ids", [(str(one.id), f"{one.user} ({one.user.email})") for one in people], members)
        self._offer("inbox_ids", choices.of("inboxes"), inboxes)

    def _offer(self, name: str, offered: list[tuple[str, str]], chosen: Any) -> None:
        field = self.fields.get(name)
        if isinstance(field, forms.MultipleChoiceField):
            field.choices = offered
            self.initial[name] = [str(one) for one in chosen]


@admin.register(Team)
class TeamAdmin(ServiceAdmin):
    """People who look after the same inboxes."""

    view_needs = "member.read"
    add_needs = change_needs = act_needs = "member.manage"
    form = TeamForm
    list_display: Any = (columns.text("name", "team"), "members", "inboxes", columns.when("created_at", "made"))
    search_fields = ("name__icontains",)
    ordering = ("name", "id")
    actions: ClassVar[Any] = ["remove"]
    empty_icon = "groups"
    empty_title = "No teams"
    empty_text = "A team is some members and the inboxes that they look after. Where the workspace says so, members see no others."

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        counted: QuerySet[Any] = rows.annotate(
            people=Count("member_links", distinct=True), boxes=Count("inbox_links", distinct=True)
        )
        return counted

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is not None and not self.has_change_permission(request, obj):
            return ("name", "members", "inboxes")
        return ("name", "membership_ids", "inbox_ids")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("members", "inboxes") if obj is not None and not self.has_change_permission(request, obj) else ()

    @admin.display(description="members")
    def members(self, row: Any) -> int:
        return int(row.people)

    @admin.display(description="inboxes")
    def inboxes(self, row: Any) -> int:
        return int(row.boxes)

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> Team:
        values |= {name: [UUID(one) for one in values[name]] for name in ("membership_ids", "inbox_ids")}
        if obj is None:
            return teams.create(workspace_id=workspace_id, **values)
        return teams.change(workspace_id=workspace_id, team_id=obj.pk, changes=values)

    @deed("Delete")
    def remove(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.serve(request, lambda r=row: teams.delete(workspace_id=r.workspace_id, team_id=r.id))
