"""Inboxes: their address, name, policy, and which agent answers."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from unfold.decorators import action
from unfold.widgets import UnfoldAdminTextInputWidget

from inbox.models import Inbox
from inbox.services import inboxes
from kernel.admin import columns
from kernel.admin.base import ServiceAdmin
from kernel.admin.filters import Deleted
from kernel.admin.forms import ServiceForm


class InboxForm(ServiceForm):
    """The agent is given by its id: agents live above this app. Its page shows it."""

    agent_id = forms.UUIDField(
        required=False,
        label="Agent",
        widget=UnfoldAdminTextInputWidget,
        help_text="Id of the agent that answers here; empty for none.",
    )

    class Meta:
        model = Inbox
        fields = ("address", "name", "agent_id", "policy", "active")


@admin.register(Inbox)
class InboxAdmin(ServiceAdmin):
    """Routable addresses. They are deactivated, never deleted: an address that was used stays taken."""

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
    actions: ClassVar[Any] = ["activate", "deactivate"]
    empty_icon = "inbox"
    empty_title = "No inboxes yet"
    empty_text = "An inbox is an address on a verified domain of yours, with a policy and perhaps an agent. Verify a domain first."

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        names = ("address", "name", "agent_id", "policy")
        return names if obj is None else (*names, "active")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else ("address",)

    @admin.display(description="answers by itself", boolean=True)
    def answers(self, row: Inbox) -> bool:
        return row.agent_id is not None and bool(row.policy.get("run_agent", True))

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> Inbox:
        values["policy"] = values.get("policy") or {}
        if obj is None:
            values.pop("active", None)
            return inboxes.open_inbox(workspace_id=workspace_id, **values)
        return inboxes.change(workspace_id=workspace_id, inbox_id=obj.pk, changes=values)

    @action(description="Activate", permissions=["act"])
    def activate(self, request: HttpRequest, queryset: Any) -> None:
        self._switch(request, queryset, active=True)

    @action(description="Deactivate", permissions=["act"])
    def deactivate(self, request: HttpRequest, queryset: Any) -> None:
        self._switch(request, queryset, active=False)

    def _switch(self, request: HttpRequest, queryset: Any, *, active: bool) -> None:
        for row in queryset:
            self.serve(
                request,
                lambda r=row: inboxes.change(workspace_id=r.workspace_id, inbox_id=r.id, changes={"active": active}),
            )
