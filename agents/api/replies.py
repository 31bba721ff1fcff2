"""Replies that callers write, and the search in the knowledge that they are written from, over HTTP."""

from typing import Any, ClassVar, Final
from uuid import UUID

from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    extend_schema,
    extend_schema_field,
    extend_schema_view,
)
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from agents.api import examples
from agents.models import ActionIntent, KnowledgeChunk
from agents.queries import knowledge
from agents.queries import runs as run_queries
from agents.services import proposing
from agents.types import IntentStatus, Risk
from kernel.api.inputs import Input, Text
from kernel.api.lookup import one
from kernel.api.shapes import Resource, exemplified, listing
from kernel.api.views import WorkspaceViewSet

# How far a reply is, in the words of somebody who waits for it.
STATUS: Final = {
    IntentStatus.WAITING_APPROVAL: "waiting_approval",
    IntentStatus.APPROVED: "sending",
    IntentStatus.EXECUTING: "sending",
    IntentStatus.EXECUTED: "sent",
    IntentStatus.UNCERTAIN: "uncertain",
    IntentStatus.FAILED: "failed",
    IntentStatus.REJECTED: "rejected",
    IntentStatus.EXPIRED: "expired",
    IntentStatus.BLOCKED: "refused",
}


class ReplyInput(Input):
    email_id = serializers.UUIDField(help_text="The mail to answer. Its sender gets the reply, and nobody else can.")
    text = Text(max_length=50_000, help_text="Plain text.")


@exemplified(examples.REPLY)
class ReplyShape(Resource):
    """A reply on its way through the rules. `status` says how far it is, `reason` why."""

    kind_name = "reply"
    email_id = serializers.SerializerMethodField()
    agent_run_id = serializers.SerializerMethodField()
    approval_id = serializers.SerializerMethodField(help_text="The question to a person, when one is asked.")
    entry_id = serializers.UUIDField(allow_null=True, help_text="The entry in the conversation, once it is queued.")
    status = serializers.SerializerMethodField()
    risk = serializers.ChoiceField(choices=Risk.choices)
    reason = serializers.SerializerMethodField()
    text = serializers.SerializerMethodField(help_text="As it is sent: a person may have edited it.")

    @extend_schema_field(serializers.UUIDField())
    def get_email_id(self, row: ActionIntent) -> Any:
        return row.execution.run.email_id

    @extend_schema_field(serializers.UUIDField())
    def get_agent_run_id(self, row: ActionIntent) -> Any:
        return row.execution.run.id

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_approval_id(self, row: ActionIntent) -> Any:
        return row.approvals.order_by("-created_at").values_list("id", flat=True).first()

    @extend_schema_field(serializers.ChoiceField(choices=sorted(set(STATUS.values()))))
    def get_status(self, row: ActionIntent) -> str:
        return STATUS[IntentStatus(row.status)]

    def get_reason(self, row: ActionIntent) -> str:
        return row.error or row.decision_reason

    def get_text(self, row: ActionIntent) -> str:
        return str(row.arguments.get("text", ""))


_EXAMPLE = OpenApiExample(
    "reply",
    {
        "email_id": "8d3f0c52-9a1e-4b7c-8f55-2f6f0f3a9c11",
        "text": "We are open on Saturday from 10 to 14.",
    },
    request_only=True,
)


@extend_schema_view(retrieve=extend_schema(responses=ReplyShape))
@extend_schema(tags=["replies"])
class ReplyViewSet(WorkspaceViewSet):
    """Answers in the caller's words, under the rules of the inbox's agent. A mail has at most one of its agent."""

    permissions: ClassVar[dict[str, str]] = {"create": "email.send", "draft": "email.draft", "retrieve": "email.read"}
    expands: ClassVar = {"agent_run": "agent_run_id", "email": "email_id"}
    queryset = ActionIntent.unfenced.none()
    serializer_class = ReplyShape

    @extend_schema(request=ReplyInput, responses={201: ReplyShape, 404: None}, examples=[_EXAMPLE])
    def create(self, request: Request) -> Response:
        """Answer a mail, as far as the autonomy of the inbox's agent and its rules let it: the `status` of the answer
        is `sending`, `waiting_approval` (a person decides) or `refused`."""
        return self._proposed(ask_first=False)

    @extend_schema(request=ReplyInput, responses={201: ReplyShape, 404: None}, examples=[_EXAMPLE])
    @action(detail=False, methods=["post"])
    def draft(self, request: Request) -> Response:
        """Write the answer for a person, who approves, edits or rejects it. Nothing is sent before that."""
        return self._proposed(ask_first=True)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """What became of a reply."""
        return Response(ReplyShape.show(one(run_queries.replies().filter(id=pk))))

    def _proposed(self, *, ask_first: bool) -> Response:
        fields = self.checked(ReplyInput)
        principal = self.principal
        intent = proposing.propose(
            workspace_id=principal.workspace_id, author=principal.actor, ask_first=ask_first, **fields
        )
        return Response(ReplyShape.show(intent), status=201)


class PassageQuery(serializers.Serializer[Any]):
    query = serializers.CharField(max_length=2000)
    limit = serializers.IntegerField(min_value=1, max_value=20, default=6)


@exemplified(examples.PASSAGE)
class PassageShape(serializers.Serializer[Any]):
    object = serializers.SerializerMethodField()
    id = serializers.UUIDField()
    source_id = serializers.UUIDField()
    title = serializers.CharField()
    uri = serializers.CharField()
    heading = serializers.CharField()
    text = serializers.CharField()
    similarity = serializers.FloatField(help_text="From 0 to 1: how near the passage is to the query.")

    def get_object(self, _row: Any) -> str:
        return "knowledge_passage"


# What the serializer takes, in the words of the description; a list by fitness has no pages.
_ASKED = [
    OpenApiParameter(
        "query",
        {"type": "string", "minLength": 1, "maxLength": 2000},
        required=True,
        description="A question, or words to look for.",
        examples=[OpenApiExample("a question", "When are you open on Saturday?")],
    ),
    OpenApiParameter(
        "limit", {"type": "integer", "minimum": 1, "maximum": 20, "default": 6}, description="So many at most."
    ),
]


@extend_schema_view(list=extend_schema(parameters=_ASKED, responses=listing(PassageShape, "Passage")))
@extend_schema(tags=["knowledge-sources"])
class PassageViewSet(WorkspaceViewSet):
    """Passages of the documents that agents answer from."""

    permissions: ClassVar[dict[str, str]] = {"list": "agent.read"}
    queries: ClassVar = {"list": PassageQuery}
    queryset = KnowledgeChunk.unfenced.none()
    serializer_class = PassageShape

    def list(self, request: Request) -> Response:
        """The passages of the workspace's knowledge that fit a query best, the nearest first."""
        wanted = self.asked()
        found = knowledge.nearest(
            workspace_id=self.principal.workspace_id,
            text=wanted["query"],
            limit=wanted["limit"],
        )
        return Response({"data": PassageShape(found, many=True).data, "next": None, "previous": None})
