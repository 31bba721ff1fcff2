"""The list of runs. A run's own page crosses apps and lives in config.console."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from agents.models import AgentRun
from kernel.admin import columns, marks
from kernel.admin.base import ReadOnlyAdmin
from kernel.admin.filters import Views


class RunViews(Views):
    """By how it stands."""

    views: ClassVar[dict[str, tuple[str, Q]]] = {
        "all": ("All", Q()),
        "waiting": ("Waiting for approval", Q(execution__status="waiting_approval")),
        "working": ("At work", Q(execution__status__in=["queued", "running", "waiting_effect"])),
        "person": ("Left to a person", Q(execution__status="needs_human")),
        "failed": ("Failed", Q(execution__status__in=["failed", "stopped"])),
        "done": ("Done", Q(execution__status="succeeded")),
    }


@admin.register(AgentRun)
class AgentRunAdmin(ReadOnlyAdmin):
    """Each time an agent worked on a mail."""

    view_needs = "agent.read"
    list_display = (
        columns.two_lines("agent", "email__subject", "run"),
        columns.state("execution__status", "state"),
        columns.text("execution__reason", "why", limit=70),
        "tokens",
        "cost",
        columns.when("created_at", "began"),
    )
    list_filter = (RunViews, "agent", "execution__used_language_model")
    search_fields = ("email__subject", "execution__reason")
    search_help_text = "Subject or reason"
    ordering = ("-created_at", "-id")
    list_select_related = ("agent", "execution", "email")
    empty_icon = "neurology"
    empty_title = "No runs here"
    empty_text = "An agent runs when a person's mail reaches an inbox that the agent is bound to."

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentRun]:
        return super().get_queryset(request).defer("execution__instruction", "execution__instruction_hash")

    @admin.display(description="tokens")
    def tokens(self, row: AgentRun) -> Any:
        run = row.execution
        if not run.used_language_model:
            return SafeString('<span class="c-none" title="No language model was used">none</span>')
        return f"{run.input_tokens + run.output_tokens:,}"

    @admin.display(description="cost", ordering="execution__cost_micros")
    def cost(self, row: AgentRun) -> str:
        return marks.money(row.execution.cost_micros)
