"""Runs and approvals as people and the API read them."""

from typing import Any

from django.db.models import Prefetch, QuerySet

from agents.models import ActionIntent, AgentRun, ApprovalRequest, ExecutionStep
from agents.tools import REPLY


def runs() -> "QuerySet[AgentRun]":
    """Runs of the scope with their execution."""
    return AgentRun.objects.select_related("execution", "version")


def runs_in_full() -> "QuerySet[AgentRun]":
    """Runs with their steps, intents and approvals; four queries however many runs."""
    approvals = ApprovalRequest.objects.order_by("created_at", "id")
    intents = ActionIntent.objects.order_by("created_at", "id").prefetch_related(
        Prefetch("approvals", queryset=approvals)
    )
    return runs().prefetch_related(
        Prefetch("execution__steps", queryset=ExecutionStep.objects.order_by("position")),
        Prefetch("execution__intents", queryset=intents),
    )


def approvals(**filters: Any) -> "QuerySet[ApprovalRequest]":
    """Questions of the scope with the run that asks."""
    return ApprovalRequest.objects.select_related("intent__execution__run").filter(**filters)


def replies() -> "QuerySet[ActionIntent]":
    """Replies of the scope, whoever worded them, with their run."""
    return ActionIntent.objects.select_related("execution__run").filter(action=REPLY.name)
