"""Autonomy, risk, and the states of executions, steps, intents and approvals."""

from typing import Final

from django.db.models import TextChoices


class AgentStatus(TextChoices):
    ACTIVE = "active"
    PAUSED = "paused"


class Autonomy(TextChoices):
    """How far an agent goes by itself. `supervised` sends what is low risk; `draft` asks for everything."""

    DRAFT = "draft"
    SUPERVISED = "supervised"
    AUTONOMOUS = "autonomous"


class Risk(TextChoices):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Access(TextChoices):
    """Whether a tool only looks, or changes something that others see."""

    READ = "read"
    EFFECT = "effect"


class ExecutionStatus(TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    WAITING_APPROVAL = "waiting_approval"
    WAITING_EFFECT = "waiting_effect"
    SUCCEEDED = "succeeded"
    NEEDS_HUMAN = "needs_human"
    FAILED = "failed"
    STOPPED = "stopped"


LIVE = (
    ExecutionStatus.QUEUED,
    ExecutionStatus.RUNNING,
    ExecutionStatus.WAITING_APPROVAL,
    ExecutionStatus.WAITING_EFFECT,
)


# In the place of a provider's name: a caller of the API or of MCP wrote the answer.
OUTSIDE: Final = "outside"


class Outcome(TextChoices):
    """How a run ended, for machines; `reason` says it to people."""

    ANSWERED = "answered"
    ASKED_PERSON = "asked_person"
    REJECTED = "rejected"
    EXPIRED = "expired"
    BLOCKED = "blocked"
    HELD = "held"
    SEND_FAILED = "send_failed"
    SEND_UNCERTAIN = "send_uncertain"
    MODEL_FAILED = "model_failed"
    OVER_BUDGET = "over_budget"
    LOOPED = "looped"
    POISON = "poison"
    FAULT = "fault"
    OVERTAKEN = "overtaken"


class StepKind(TextChoices):
    """The steps of a mail run, in order."""

    CONTEXT = "context"
    KNOWLEDGE = "knowledge"
    MODEL = "model"
    PLAN = "plan"
    ACTION = "action"
    NOTE = "note"


class StepStatus(TextChoices):
    RUNNING = "running"
    DONE = "done"
    WAITING = "waiting"
    FAILED = "failed"


class IntentStatus(TextChoices):
    """Of an external effect. Only `approved` may be claimed, once; `uncertain` is settled by news or by a person."""

    WAITING_APPROVAL = "waiting_approval"
    APPROVED = "approved"
    EXECUTING = "executing"
    EXECUTED = "executed"
    UNCERTAIN = "uncertain"
    FAILED = "failed"
    REJECTED = "rejected"
    EXPIRED = "expired"
    BLOCKED = "blocked"


class Decision(TextChoices):
    """What policy said of an intent."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class ApprovalState(TextChoices):
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    CONSUMED = "consumed"
