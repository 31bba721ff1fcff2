"""Inboxes: their address, name, policy, and which agent answers."""

from dataclasses import asdict, fields
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldBooleanSwitchWidget

from inbox import policy as policies
from inbox.models import Inbox
from inbox.policy import InboxPolicy
from inbox.services import inboxes
from kernel.admin import choices, columns
from kernel.admin.base import ServiceAdmin
from kernel.admin.deeds import deed
from kernel.admin.filters import Deleted
from kernel.admin.forms import ServiceForm

POLICY = tuple(field.name for field in fields(InboxPolicy))


def _yes_no(label: str, help_text: str) -> forms.BooleanField:
    return forms.BooleanField(label=label, required=False, help_text=help_text, widget=UnfoldBooleanSwitchWidget)


class InboxForm(ServiceForm):
    """Agents live above this app, which offers them by name."""

    agent_id = forms.TypedChoiceField(
        required=False,
        label="Agent",
        coerce=UUID,
        empty_value=None,
        widget=UnfoldAdminSelectWidget,
        help_text="Who answers here. Without an agent, people do.",
    )

    run_agent = _yes_no("Let the agent work", "Without it mail is only kept and shown.")
    quarantine_spam = _yes_no("Put spam aside", "As the receiver judged it.")
    quarantine_virus = _yes_no("Put viruses aside", "As the receiver judged it.")
    answer_dmarc_fail = _yes_no("Answer mail that fails DMARC", "Its sender may be somebody else.")
    answer_blind_copies = _yes_no("Answer blind copies", "Mail that names another recipient.")
    block_senders = forms.CharField(
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text="Addresses or domains whose mail is ignored, one a line.",
    )
    when_inactive = forms.ChoiceField(
        choices=[("store", "Keep the mail"), ("bounce", "Refuse the mail")],
        widget=UnfoldAdminSelectWidget,
        help_text="What happens to mail while the inbox is not active.",
    )

    class Meta:
        model = Inbox
        fields = ("address", "name", "agent_id", "active")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, value in asdict(policies.parse(self.instance.policy)).items():
            self.initial[name] = "\n".join(value) if isinstance(value, tuple) else value
        field = self.fields.get("agent_id")
        if isinstance(field, forms.ChoiceField):
            field.choices = [("", "No agent"), *choices.of("agents")]


def _chosen(values: dict[str, Any]) -> dict[str, Any]:
    """Only what differs from the defaults is kept, so that a better default reaches every inbox."""
    values["block_senders"] = tuple(values["block_senders"].split())
    usual = asdict(InboxPolicy())
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items() if v != usual[name]}


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

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        names = ("address", "name", "agent_id")
        if obj is not None and not self.has_change_permission(request, obj):
            return ((None, {"fields": (*names, "active", "policy")}),)
        first = names if obj is None else (*names, "active")
        return ((None, {"fields": first}), ("What it does with mail", {"fields": POLICY}))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else ("address",)

    @admin.display(description="answers by itself", boolean=True)
    def answers(self, row: Inbox) -> bool:
        return row.agent_id is not None and bool(row.policy.get("run_agent", True))

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> Inbox:
        values["policy"] = _chosen({name: values.pop(name) for name in POLICY})
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

    def _switch(self, request: HttpRequest, queryset: Any, *, active: bool) -> None:
        for row in queryset:
            self.serve(
                request,
                lambda r=row: inboxes.change(workspace_id=r.workspace_id, inbox_id=r.id, changes={"active": active}),
            )
