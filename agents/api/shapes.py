"""Input and output shapes of the agents' API. Input never goes through a model serializer (style rule 2)."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agents.api import examples
from agents.models import Agent, AgentRun, ApprovalRequest
from agents.queries import agents as agent_queries
from agents.types import (
    AgentStatus,
    ApprovalState,
    Autonomy,
    Decision,
    ExecutionStatus,
    IntentStatus,
    Risk,
    StepKind,
    StepStatus,
)
from kernel.api.inputs import FreeForm, Input, Text
from kernel.api.shapes import Owned, Resource, exemplified


class AgentChange(Input):
    name = Text(required=False, max_length=200)
    status = serializers.ChoiceField(required=False, choices=AgentStatus.choices)
    autonomy = serializers.ChoiceField(required=False, choices=Autonomy.choices)
    provider = Text(required=False, allow_blank=True, max_length=20, help_text="Empty: the default.")
    model = Text(required=False, allow_blank=True, max_length=120)
    system_prompt = Text(required=False, allow_blank=True)
    skills = serializers.ListField(child=Text(), required=False)
    permissions = serializers.ListField(child=Text(), required=False)
    max_steps = serializers.IntegerField(required=False)
    max_cost_micros = serializers.IntegerField(required=False, help_text="Per run, in millionths of a US dollar.")
    custom_metadata = FreeForm(required=False)


class AgentInput(AgentChange):
    name = Text(max_length=200)
    external_id = serializers.UUIDField(required=False)


@exemplified(examples.AGENT)
class AgentShape(Owned):
    """An agent with its current version flattened into it (X-11)."""

    kind_name = "agent"
    external_id = serializers.UUIDField()
    name = serializers.CharField()
    status = serializers.ChoiceField(choices=AgentStatus.choices)
    autonomy = serializers.ChoiceField(choices=Autonomy.choices)
    version = serializers.IntegerField(source="current_version")
    max_steps = serializers.IntegerField()
    max_cost_micros = serializers.IntegerField()
    provider = serializers.SerializerMethodField()
    model = serializers.SerializerMethodField()
    system_prompt = serializers.SerializerMethodField()
    skills = serializers.SerializerMethodField()
    permissions = serializers.SerializerMethodField()

    def get_provider(self, row: Agent) -> str:
        return agent_queries.current(row).provider

    def get_model(self, row: Agent) -> str:
        return agent_queries.current(row).model

    def get_system_prompt(self, row: Agent) -> str:
        return agent_queries.current(row).system_prompt

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_skills(self, row: Agent) -> list[str]:
        return list(agent_queries.current(row).skills)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_permissions(self, row: Agent) -> list[str]:
        return sorted(agent_queries.Limits.of(agent_queries.current(row)).permissions)


class StepShape(serializers.Serializer[Any]):
    position = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=StepKind.choices)
    title = serializers.CharField()
    tool = serializers.CharField()
    permission = serializers.CharField()
    risk = serializers.CharField()
    status = serializers.ChoiceField(choices=StepStatus.choices)
    arguments = serializers.DictField()
    result = serializers.DictField()
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    cost_micros = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class IntentShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    action = serializers.CharField()
    arguments = serializers.DictField()
    risk = serializers.ChoiceField(choices=Risk.choices)
    decision = serializers.ChoiceField(choices=Decision.choices)
    decision_reason = serializers.CharField()
    status = serializers.ChoiceField(choices=IntentStatus.choices)
    entry_id = serializers.UUIDField(allow_null=True)
    error = serializers.CharField()
    executed_at = serializers.DateTimeField(allow_null=True)


@exemplified(examples.APPROVAL)
class ApprovalShape(Resource):
    kind_name = "approval"
    intent_id = serializers.UUIDField()
    agent_run_id = serializers.SerializerMethodField()
    email_id = serializers.SerializerMethodField()
    action = serializers.CharField()
    risk = serializers.ChoiceField(choices=Risk.choices)
    reason = serializers.CharField()
    content = serializers.DictField(source="snapshot", help_text="Exactly what is asked for.")
    content_hash = serializers.SerializerMethodField()
    requested_by = serializers.CharField()
    state = serializers.ChoiceField(choices=ApprovalState.choices)
    expires_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by_kind = serializers.CharField()
    decided_by_id = serializers.CharField()
    decided_by_label = serializers.CharField()
    comment = serializers.CharField()
    edited = serializers.BooleanField()
    consumed_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(serializers.UUIDField())
    def get_agent_run_id(self, row: ApprovalRequest) -> Any:
        return row.intent.execution.run.id

    @extend_schema_field(serializers.UUIDField())
    def get_email_id(self, row: ApprovalRequest) -> Any:
        return row.intent.execution.run.email_id

    def get_content_hash(self, row: ApprovalRequest) -> str:
        return bytes(row.content_hash).hex()


class ApproveInput(Input):
    text = Text(required=False, help_text="The answer in your words, in place of the agent's.")
    comment = Text(required=False, allow_blank=True, default="", max_length=2000)


class RejectInput(Input):
    comment = Text(required=False, allow_blank=True, default="", max_length=2000)


@exemplified(examples.RUN)
class RunShape(Owned):
    """An agent's run against a mail. `used_language_model` is false when the offline provider answered."""

    kind_name = "agent_run"
    email_id = serializers.UUIDField()
    agent_id = serializers.UUIDField()
    execution_id = serializers.UUIDField()
    version = serializers.IntegerField(source="version.number")
    status = serializers.ChoiceField(choices=ExecutionStatus.choices, source="execution.status")
    outcome = serializers.CharField(source="execution.outcome")
    reason = serializers.CharField(source="execution.reason")
    error_code = serializers.CharField(source="execution.error_code")
    provider = serializers.CharField(source="execution.provider")
    model = serializers.CharField(source="execution.model")
    used_language_model = serializers.BooleanField(source="execution.used_language_model")
    input_tokens = serializers.IntegerField(source="execution.input_tokens")
    output_tokens = serializers.IntegerField(source="execution.output_tokens")
    cost_micros = serializers.IntegerField(source="execution.cost_micros")
    started_at = serializers.DateTimeField(allow_null=True, source="execution.started_at")
    finished_at = serializers.DateTimeField(allow_null=True, source="execution.finished_at")


@exemplified(examples.RUN_DETAIL)
class RunDetailShape(RunShape):
    steps = StepShape(many=True, source="execution.steps.all")
    intent = serializers.SerializerMethodField()
    approval = serializers.SerializerMethodField()

    @extend_schema_field(IntentShape(allow_null=True))
    def get_intent(self, row: AgentRun) -> Any:
        intents = list(row.execution.intents.all())
        return IntentShape(intents[-1]).data if intents else None

    @extend_schema_field(ApprovalShape(allow_null=True))
    def get_approval(self, row: AgentRun) -> Any:
        asked = [approval for intent in row.execution.intents.all() for approval in intent.approvals.all()]
        if not asked:
            return None
        # Both were loaded with the run; without this each would be looked up again.
        asked[-1].intent.execution = row.execution
        row.execution.run = row
        return ApprovalShape.show(asked[-1])


class KnowledgeInput(Input):
    title = Text(max_length=200)
    content = Text()
    uri = Text(required=False, allow_blank=True, default="", max_length=500)


class KnowledgeChange(Input):
    title = Text(required=False, max_length=200)
    content = Text(required=False)
    uri = Text(required=False, allow_blank=True, max_length=500)


@exemplified(examples.KNOWLEDGE)
class KnowledgeShape(Resource):
    kind_name = "knowledge_source"
    title = serializers.CharField()
    uri = serializers.CharField()
    content_hash = serializers.SerializerMethodField()
    deleted_at = serializers.DateTimeField(allow_null=True)

    def get_content_hash(self, row: Any) -> str:
        return bytes(row.content_hash).hex()


@exemplified(examples.KNOWLEDGE_DETAIL)
class KnowledgeDetailShape(KnowledgeShape):
    content = serializers.CharField()
