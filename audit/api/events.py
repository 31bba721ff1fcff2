"""The audit trail over HTTP: read, filter, verify, take out, redact. Nothing here can be changed, by anybody."""

from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.http import StreamingHttpResponse
from django_filters import CharFilter, ChoiceFilter, UUIDFilter
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from audit import exporting, queries, services
from audit.api import examples
from audit.models import AuditAnchor, AuditEvent, AuditPayload
from audit.types import Format, Outcome
from kernel import clock
from kernel.api.downloads import download
from kernel.api.filters import Filters, Instant, apply
from kernel.api.inputs import Input, Text
from kernel.api.listings import Listing
from kernel.api.shapes import exemplified, listing
from kernel.api.views import WorkspaceViewSet
from kernel.errors import NotFound

_WHEN = "A time such as 2026-11-05T09:00:00Z."
_HASH = "SHA-256, in hexadecimal."


class AuditFilters(Filters):
    created_at__gte = Instant("occurred_at", "gte", help_text=f"Happened then or later. {_WHEN}")
    created_at__gt = Instant("occurred_at", "gt", help_text=f"Happened later. {_WHEN}")
    created_at__lte = Instant("occurred_at", "lte", help_text=f"Happened then or earlier. {_WHEN}")
    created_at__lt = Instant("occurred_at", "lt", help_text=f"Happened earlier. {_WHEN}")
    action = CharFilter("action", max_length=80, help_text="Such as webhook.create.")
    outcome = ChoiceFilter(field_name="outcome", choices=[(word.value, word.value) for word in Outcome])
    actor_kind = CharFilter("actor_kind", max_length=20)
    actor_id = CharFilter("actor_id", max_length=80)
    resource_kind = CharFilter("resource_kind", max_length=60)
    resource_id = CharFilter("resource_id", max_length=80)
    request_id = CharFilter("request_id", max_length=64, help_text="The X-Request-Id of an answer.")
    execution_id = UUIDFilter("execution_id")


class AnchorFilters(Filters):
    created_at__gte = Instant("at", "gte", help_text=f"Taken then or later. {_WHEN}")
    created_at__gt = Instant("at", "gt", help_text=f"Taken later. {_WHEN}")
    created_at__lte = Instant("at", "lte", help_text=f"Taken then or earlier. {_WHEN}")
    created_at__lt = Instant("at", "lt", help_text=f"Taken earlier. {_WHEN}")


class ExportQuery(serializers.Serializer[Any]):
    file_format = serializers.ChoiceField(choices=list(Format), default=Format.JSONL, help_text="jsonl or csv.")
    created_at__gte = serializers.DateTimeField(required=False, help_text=f"Happened then or later. {_WHEN}")
    created_at__lt = serializers.DateTimeField(required=False, help_text=f"Happened earlier. {_WHEN}")
    action = serializers.CharField(required=False, max_length=80)
    outcome = serializers.ChoiceField(required=False, choices=list(Outcome))
    actor_kind = serializers.CharField(required=False, max_length=20)
    actor_id = serializers.CharField(required=False, max_length=80)
    resource_kind = serializers.CharField(required=False, max_length=60)
    resource_id = serializers.CharField(required=False, max_length=80)
    request_id = serializers.CharField(required=False, max_length=64)


class RedactInput(Input):
    reason = Text(max_length=services.REASON_LENGTH, help_text="Kept in the trail, so without what is to be redacted.")


class _Hash(serializers.CharField):
    def to_representation(self, value: Any) -> str:
        return bytes(value).hex()


class AuditActorShape(serializers.Serializer[Any]):
    kind = serializers.CharField(source="actor_kind")
    id = serializers.CharField(source="actor_id")
    label = serializers.CharField(source="actor_label")  # type: ignore[assignment] # the framework has one of its own


@exemplified(examples.EVENT)
class AuditEventShape(serializers.Serializer[Any]):
    """Who tried what, on what, with which outcome: a link of the workspace's chain."""

    object = serializers.SerializerMethodField()
    id = serializers.UUIDField()
    created_at = serializers.DateTimeField(source="occurred_at")
    sequence = serializers.IntegerField(help_text="Without gaps from 1.")
    action = serializers.CharField()
    outcome = serializers.ChoiceField(choices=list(Outcome))
    actor = AuditActorShape(source="*")
    resource_kind = serializers.CharField()
    resource_id = serializers.CharField()
    request_id = serializers.CharField()
    execution_id = serializers.UUIDField(allow_null=True)
    details = serializers.SerializerMethodField(help_text="Never a secret and never the text of a mail.")
    redacted_at = serializers.SerializerMethodField(help_text="When the details were emptied, if they were.")
    before_hash = _Hash(allow_null=True, help_text=f"Of the resource's state before. {_HASH}")
    after_hash = _Hash(allow_null=True, help_text=f"Of the resource's state afterwards. {_HASH}")
    details_hash = _Hash(source="payload_hash", help_text=f"Of the details as they were. {_HASH}")
    previous_hash = _Hash(help_text=_HASH)
    hash = _Hash(help_text=f"Of previous_hash and body. {_HASH}")
    body = serializers.CharField(help_text="What is hashed: a JSON array of all of the above.")

    def get_object(self, _row: Any) -> str:
        return "audit_event"

    @extend_schema_field(serializers.DictField())
    def get_details(self, row: AuditEvent) -> Any:
        found = self._payload(row)
        return found.payload if found else {}

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_redacted_at(self, row: AuditEvent) -> Any:
        found = self._payload(row)
        return found.redacted_at if found else None

    def _payload(self, row: AuditEvent) -> AuditPayload | None:
        known: AuditPayload | None = self.context.get("payloads", {}).get(row.id)
        return known


@exemplified(examples.VERIFICATION)
class AuditVerificationShape(serializers.Serializer[Any]):
    """What came of recomputing the chain from its first link."""

    object = serializers.CharField()
    holds = serializers.BooleanField()
    checked = serializers.IntegerField(help_text="Links that were found good.")
    first_bad = serializers.IntegerField(allow_null=True, help_text="The sequence where it breaks.")
    fault = serializers.CharField(help_text="What is wrong there.")
    verified_at = serializers.DateTimeField()


@exemplified(examples.ANCHOR)
class AuditAnchorShape(serializers.Serializer[Any]):
    """A head of the chain that was written down outside of the database, too: keep a copy of your own."""

    object = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField(source="at")
    sequence = serializers.IntegerField()
    hash = _Hash(help_text=_HASH)

    def get_object(self, _row: Any) -> str:
        return "audit_anchor"


@extend_schema_view(list=extend_schema(responses=listing(AuditEventShape, "AuditEvent")))
@extend_schema(tags=["audit"])
class AuditEventViewSet(WorkspaceViewSet):
    permissions: ClassVar[dict[str, str]] = {
        "list": "audit.read",
        "retrieve": "audit.read",
        "verification": "audit.read",
        "export": "audit.export",
        "redact": "audit.redact",
    }
    listings: ClassVar = {"list": Listing(filters=AuditFilters, by="sequence", sorts=("sequence",))}
    queries: ClassVar = {"export": ExportQuery}
    queryset = AuditEvent.objects.none()
    serializer_class = AuditEventShape
    refusals: ClassVar[dict[str, str]] = dict.fromkeys(
        ("POST", "PUT", "PATCH", "DELETE"), "The audit trail is written by what happens, and changed by nobody."
    )

    def list(self, request: Request) -> Response:
        """The trail, newest first."""
        body = self.listed(queries.events(self.principal.workspace_id), lambda row: row)
        rows = body.data["data"]
        known = queries.payloads(rows)
        body.data["data"] = [AuditEventShape(row, context={"payloads": known}).data for row in rows]
        return body

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One event."""
        return Response(self._shown(pk))

    @extend_schema(responses=AuditVerificationShape)
    @action(detail=False, methods=["get"])
    def verification(self, request: Request) -> Response:
        """Recompute the chain now, and compare it with its anchors."""
        outside = queries.outside_anchors(settings.ANCHOR_DIRECTORY, bucket=settings.ANCHOR_S3)
        verdict = queries.verify(self.principal.workspace_id, outside=outside)
        return Response(
            {
                "object": "audit_verification",
                "holds": verdict.holds,
                "checked": verdict.checked,
                "first_bad": verdict.first_bad,
                "fault": verdict.fault,
                "verified_at": AuditVerificationShape().fields["verified_at"].to_representation(clock.now()),
            }
        )

    @extend_schema(
        parameters=[ExportQuery],
        responses={(200, "application/jsonl"): bytes, (200, "text/csv"): bytes},
        examples=[
            OpenApiExample(
                "two lines",
                '{"sequence": 1, "action": "workspace.provision"}\n{"sequence": 2, "action": "webhook.create"}\n',
                response_only=True,
                media_type="application/jsonl",
            )
        ],
    )
    @action(detail=False, methods=["get"])
    def export(self, request: Request) -> StreamingHttpResponse:
        """The trail as a file, oldest first; every link can be verified from it. That it was taken out is recorded."""
        asked = self.asked()
        form = Format(asked.pop("file_format"))
        rows = apply(AuditFilters, queries.events(self.principal.workspace_id), request.query_params)
        chunks = exporting.export(
            workspace_id=self.principal.workspace_id, rows=rows, form=form, narrowed=sorted(asked)
        )
        return download(chunks, f"audit.{form}", form.media_type)

    @extend_schema(
        request=RedactInput,
        responses=AuditEventShape,
        examples=[OpenApiExample("erasure", {"reason": "Erasure request 4711"}, request_only=True)],
    )
    @action(detail=True, methods=["post"])
    def redact(self, request: Request, pk: UUID) -> Response:
        """Empty the details of an event, for good. The chain keeps their hash, and has the record of this."""
        fields = self.checked(RedactInput)
        services.redact(workspace_id=self.principal.workspace_id, event_id=UUID(str(pk)), **fields)
        return Response(self._shown(pk))

    def _shown(self, pk: UUID) -> Any:
        row = queries.event(self.principal.workspace_id, UUID(str(pk)))
        if row is None:
            raise NotFound
        return AuditEventShape(row, context={"payloads": queries.payloads([row])}).data


@extend_schema_view(list=extend_schema(responses=listing(AuditAnchorShape, "AuditAnchor")))
@extend_schema(tags=["audit"])
class AnchorViewSet(WorkspaceViewSet):
    permissions: ClassVar[dict[str, str]] = {"list": "audit.read"}
    listings: ClassVar = {"list": Listing(filters=AnchorFilters, by="sequence", sorts=("sequence",))}
    queryset = AuditAnchor.objects.none()
    serializer_class = AuditAnchorShape

    def list(self, request: Request) -> Response:
        """Heads of the chain that were written down outside of the database, newest first."""
        return self.listed(queries.anchors(self.principal.workspace_id), AuditAnchorShape().to_representation)
