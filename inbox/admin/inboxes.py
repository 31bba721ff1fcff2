"""Inboxes: their address, name, policy, and which agent answers."""

from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminSelectWidget

from inbox.admin import policies
from inbox.models import Inbox
from inbox.policy import parse
from inbox.queries import connections
from inbox.services import inboxes
from kernel.admin import choices, columns
from kernel.admin.base import ServiceAdmin
from kernel.admin.deeds import deed
from kernel.admin.filters import Deleted
from kernel.admin.forms import ServiceForm


@choices.offer("inboxes")
def offered() -> list[tuple[str, str]]:
    """Inboxes for the form of a team."""
    return [(str(row.id), row.address) for row in Inbox.objects.order_by("address")]


class InboxForm(ServiceForm, policies.PolicyForm):
    """Agents live above this app, which offers them by name."""

    agent_id = forms.TypedChoiceField(
        required=False,
        label="Agent",
        coerce=UUID,
        empty_value=None,
        widget=UnfoldAdminSelectWidget,
        help_text="Who answers here. Without an agent, people do.",
    )

    connection_id = forms.TypedChoiceField(
        required=False,
        label="Sends through",
        coerce=UUID,
        empty_value=None,
        widget=UnfoldAdminSelectWidget,
        help_text="A connected account of yours. Without one, mail leaves as the installation is set up.",
    )

    class Meta:
        model = Inbox
        fields = ("address", "name", "agent_id", "connection_id", "active")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial.update(policies.initial(parse(self.instance.policy)))
        field = self.fields.get("agent_id")
        if isinstance(field, forms.ChoiceField):
            field.choices = [("", "No agent"), *choices.of("agents")]
        field = self.fields.get("connection_id")
        if isinstance(field, forms.ChoiceField):
            field.choices = [("", "The installation's own"), *((str(row.id), row.name) for row in connections.shown())]


@admin.register(Inbox)
class InboxAdmin(ServiceAdmin):
    """Routable addresses. They are deactivated; an operator may delete one, and its address stays taken."""

    view_needs = "inbox.read"
    add_needs = change_needs = act_needs = "inbox.manage"
    form = InboxForm
    list_display: Any = (
        columns.two_lines("address", "name", "inbox"),
        "active",
        "answers",
        columns.when("created_at", "opened"),
    )
    list_filter = ("active", Deleted)
    search_fields = ("address__icontains", "name__icontains")
    ordering = ("-created_at", "-id")
    actions: ClassVar[Any] = ["activate", "deactivate", "remove", "restore"]
    empty_icon = "inbox"
    empty_title = "No inboxes yet"
    empty_text = "An inbox is an address on a verified domain of yours, with a policy and perhaps an agent. Verify a domain first."

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        names = ("address", "name", "agent_id", "connection_id")
        if obj is not None and not self.has_change_permission(request, obj):
            return ((None, {"fields": (*names, "active", "policy")}),)
        first = names if obj is None else (*names, "active")
        return ((None, {"fields": first}), ("What it does with mail", {"fields": policies.NAMES}))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else ("address",)

    @admin.display(description="answers by itself", boolean=True)
    def answers(self, row: Inbox) -> bool:
        return row.agent_id is not None and parse(row.policy).lets_agent_work

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> Inbox:
        values["policy"] = policies.collect(values)
        if obj is None:
            values.pop("active", None)
            return inboxes.open_inbox(workspace_id=workspace_id, **values)
        return inboxes.change(workspace_id=workspace_id, inbox_id=obj.pk, changes=values)

    @deed("Activate")
    def activate(self, request: HttpRequest, queryset: Any) -> None:
        self._switch(request, queryset, active=True)

    @deed("Deactivate")
    def deactivate(self, request: HttpRequest, queryset: Any) -> None:
        self._switch(request, queryset, active=False)

    @deed("Delete")
    def remove(self, request: HttpRequest, queryset: Any) -> None:
        """Out of sight, for good reasons only: the address stays taken."""
        for row in queryset:
            self.serve(request, lambda r=row: inboxes.delete(workspace_id=r.workspace_id, inbox_id=r.id))

    @deed("Restore")
    def restore(self, request: HttpRequest, queryset: Any) -> None:
        """For rows of the filter "Deleted only"."""
        for row in queryset:
            self.serve(request, lambda r=row: inboxes.restore(workspace_id=r.workspace_id, inbox_id=r.id))

    def _switch(self, request: HttpRequest, queryset: Any, *, active: bool) -> None:
        for row in queryset:
            self.serve(
                request,
                lambda r=row: inboxes.change(workspace_id=r.workspace_id, inbox_id=r.id, changes={"active": active}),
            )
