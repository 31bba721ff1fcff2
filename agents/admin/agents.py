"""Agents: a form whose every saving makes a new version."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from agents.llm import registry
from agents.models import Agent, AgentVersion
from agents.queries import agents as queries
from agents.services import configuring
from kernel.admin import columns
from kernel.admin.base import ServiceAdmin
from kernel.admin.choices import offer
from kernel.admin.deeds import deed
from kernel.admin.filters import Deleted
from kernel.admin.forms import ServiceForm


@offer("agents")
def _agents() -> list[tuple[str, str]]:
    """For the form of an inbox, which lies below this app."""
    return [(str(row.id), row.name) for row in Agent.objects.order_by("name", "id")[:200]]


OF_VERSION = ("provider", "model", "system_prompt")


class AgentForm(ServiceForm):
    """What it is called, how far it goes alone, which model it asks and what it is told."""

    provider = forms.ChoiceField(
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text="Empty: what the installation is set to. The local one answers from knowledge without a language model.",
    )
    model = forms.CharField(required=False, max_length=120, widget=UnfoldAdminTextInputWidget)
    system_prompt = forms.CharField(
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 10}),
        help_text="What it should know and keep to. Facts belong into knowledge.",
    )
    skills_text = forms.CharField(
        required=False,
        label="Skills",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 5}),
        help_text="One a line.",
    )

    class Meta:
        model = Agent
        fields = ("name", "status", "autonomy", "max_steps", "max_cost_micros")
        labels = {"max_steps": "Steps", "max_cost_micros": "Cost"}
        help_texts = {
            "status": "A paused agent starts no run, and nothing that it still wants happens.",
            "autonomy": "Draft asks for every answer. Supervised sends what is low risk. Autonomous asks for high risk only.",
            "max_steps": "The most that a run may take; then a person goes on.",
            "max_cost_micros": "The most that a run may cost, in millionths of a US dollar.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", f"Default ({registry.default()})"), *((name, name) for name in registry.names())]
        field = self.fields.get("provider")
        if isinstance(field, forms.ChoiceField):
            field.choices = choices
        if self.instance._state.adding:  # noqa: SLF001 - Django's own way to ask
            return
        version = queries.current(self.instance)
        for name in OF_VERSION:
            self.initial[name] = getattr(version, name)
        self.initial["skills_text"] = "\n".join(str(skill) for skill in version.skills)


@admin.register(Agent)
class AgentAdmin(ServiceAdmin):
    """Governed agents. What was approved belongs to the version that asked."""

    view_needs = "agent.read"
    add_needs = change_needs = act_needs = "agent.manage"
    form = AgentForm
    fieldsets = (
        ("Who", {"fields": ("name", "status", "autonomy")}),
        ("What it is told", {"fields": ("system_prompt", "skills_text")}),
        ("Language model", {"fields": ("provider", "model")}),
        ("Limits of a run", {"fields": ("max_steps", "max_cost_micros")}),
    )
    list_display = (
        columns.text("name"),
        columns.state("status"),
        columns.state("autonomy"),
        columns.text("current_version", "version"),
        columns.when("updated_at", "changed"),
    )
    list_filter = ("status", "autonomy", Deleted)
    search_fields = ("name",)
    ordering = ("-created_at", "-id")
    actions: ClassVar[Any] = ["pause", "activate", "remove", "restore"]
    empty_icon = "smart_toy"
    empty_title = "No agents yet"
    empty_text = "An agent answers the mail of the inboxes it is bound to, from the workspace's knowledge. It starts by only drafting."

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> Agent:
        skills = values.pop("skills_text", "")
        values["skills"] = [line.strip() for line in skills.splitlines() if line.strip()]
        if obj is None:
            return configuring.create(workspace_id=workspace_id, **values)
        return configuring.update(workspace_id=workspace_id, agent_id=obj.pk, **values)

    @deed("Pause")
    def pause(self, request: HttpRequest, queryset: Any) -> None:
        for agent in queryset:
            self.serve(request, lambda a=agent: configuring.pause(workspace_id=a.workspace_id, agent_id=a.id))

    @deed("Let them work again")
    def activate(self, request: HttpRequest, queryset: Any) -> None:
        for agent in queryset:
            self.serve(request, lambda a=agent: configuring.activate(workspace_id=a.workspace_id, agent_id=a.id))

    @deed("Delete")
    def remove(self, request: HttpRequest, queryset: Any) -> None:
        for agent in queryset:
            self.serve(request, lambda a=agent: configuring.delete(workspace_id=a.workspace_id, agent_id=a.id))

    @deed("Restore")
    def restore(self, request: HttpRequest, queryset: Any) -> None:
        """For rows of the filter "Deleted only". What comes back is paused and bound to no inbox."""
        for agent in queryset:
            self.serve(request, lambda a=agent: configuring.restore(workspace_id=a.workspace_id, agent_id=a.id))

    # Shown to those who may look and not change.
    def provider(self, row: Agent) -> str:
        return queries.current(row).provider or registry.default()

    def model(self, row: Agent) -> str:
        return queries.current(row).model

    def system_prompt(self, row: Agent) -> str:
        return queries.current(row).system_prompt

    @admin.display(description="skills")
    def skills_text(self, row: Agent) -> str:
        version: AgentVersion = queries.current(row)
        return "\n".join(str(skill) for skill in version.skills)
