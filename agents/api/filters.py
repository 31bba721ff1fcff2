"""What the lists of the agents' API may be narrowed by."""

from django_filters import UUIDFilter

from agents.types import AgentStatus, ApprovalState, Autonomy, ExecutionStatus, Risk
from kernel.api.filters import Changeable, Filters, choice


class AgentFilters(Changeable):
    status = choice(AgentStatus, "status")
    autonomy = choice(Autonomy, "autonomy")
    external_id = UUIDFilter("external_id")


class RunFilters(Filters):
    status = choice(ExecutionStatus, "execution__status")
    agent_id = UUIDFilter("agent_id")
    email_id = UUIDFilter("email_id")


class ApprovalFilters(Filters):
    state = choice(ApprovalState, "state")
    risk = choice(Risk, "risk")
    agent_run_id = UUIDFilter("intent__execution__run__id")


class KnowledgeFilters(Changeable):
    pass
