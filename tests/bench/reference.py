"""The same POST /emails as it is usually written: Django REST framework's serializers and the ORM, on the same tables.

It answers the same request with the same kind of answer: it authenticates the machine key, runs once per
Idempotency-Key, stores the mail and the e-mail, emits their facts and logs the request. It is served by the same server
(`tests.bench.reference_settings`).
"""

import hashlib
import uuid
from datetime import timedelta
from email.message import EmailMessage
from typing import Any

from django.urls import path
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from audit.models import ApiRequest
from config import health
from inbox.models import Email, InboundMessage, Inbox
from kernel import clock, crypto
from kernel.access import Principal
from kernel.context import Actor
from kernel.models import IdempotencyRecord, OutboxEvent
from kernel.transactions import in_all_workspaces
from tenancy.models import MachineKey


class Person(serializers.Serializer[Any]):
    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)
    address = serializers.EmailField()


class Given(serializers.Serializer[Any]):
    to = Person(many=True)
    subject = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)
    text = serializers.CharField(required=False, default="", allow_blank=True)

    def get_fields(self) -> dict[str, Any]:
        return {"from": Person(), **super().get_fields()}


class Shown(serializers.ModelSerializer[Email]):
    class Meta:
        model = Email
        exclude = ("inbound_message",)


class KeyAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[Principal, None]:
        prefix, _, secret = request.META["HTTP_AUTHORIZATION"].removeprefix("Bearer mk_").partition("_")
        with in_all_workspaces("the reference of the bench"):
            key = MachineKey.objects.select_related("workspace").get(prefix=prefix)
        if bytes(key.secret_hash) != hashlib.sha256(secret.encode()).digest() or key.revoked_at:
            raise AuthenticationFailed
        actor = Actor("machine_key", str(key.id), key.name)
        return Principal(key.workspace_id, actor, frozenset(key.scopes)), None


class Emails(APIView):
    authentication_classes = [KeyAuthentication]
    permission_classes = [IsAuthenticated]
    renderer_classes = [JSONRenderer]

    def post(self, request: Request) -> Response:
        principal: Any = request.user
        given = Given(data=request.data)
        given.is_valid(raise_exception=True)
        now = clock.now()
        with in_all_workspaces("the reference of the bench"):
            key = {
                "workspace_id": principal.workspace_id,
                "principal": principal.pk,
                "key": request.headers["Idempotency-Key"],
            }
            if IdempotencyRecord.objects.filter(**key).exists():
                return Response(status=409)
            email = self._store(principal.workspace_id, given.validated_data)
            body = Shown(email).data
            IdempotencyRecord.objects.create(
                **key,
                operation="POST /api/v1/emails",
                fingerprint=hashlib.sha256(repr(request.data).encode()).digest(),
                expires_at=now + timedelta(hours=24),
                response_status=202,
                response_body=crypto.seal(
                    JSONRenderer().render(body),
                    workspace_id=principal.workspace_id,
                    table="kernel_idempotencyrecord",
                    row_id=email.id,
                    purpose="answer",
                ),
            )
            ApiRequest.objects.create(
                workspace_id=principal.workspace_id,
                request_id=uuid.uuid4().hex,
                method="POST",
                path="/api/v1/emails",
                status=202,
                caller=principal.actor.label,
                duration_ms=0,
                created_at=now,
            )
        return Response(body, status=202)

    def _store(self, workspace_id: uuid.UUID, given: dict[str, Any]) -> Email:
        inbox = Inbox.objects.get(address_normalized=given["to"][0]["address"].lower(), deleted_at=None)
        message = EmailMessage()
        message["From"], message["To"] = given["from"]["address"], given["to"][0]["address"]
        message["Subject"] = given["subject"]
        message.set_content(given["text"])
        raw = message.as_bytes()
        provider_id = uuid.uuid4().hex
        stored = InboundMessage.objects.create(
            workspace_id=workspace_id,
            source="api",
            provider_message_id=provider_id,
            raw=raw,
            sha256=hashlib.sha256(raw).digest(),
            size=len(raw),
            recipients=[given["to"][0]["address"]],
        )
        email = Email.objects.create(
            workspace_id=workspace_id,
            inbound_message=stored,
            inbox=inbox,
            message_id=provider_id,
            state="stored",
            received_at=clock.now(),
        )
        for slug, key, of in (
            ("email.stored", "email_id", email.id),
            ("inbound_message.stored", "inbound_message_id", stored.id),
        ):
            OutboxEvent.objects.create(
                workspace_id=workspace_id, slug=slug, aggregate_key=f"{key}:{of}", payload={key: str(of)}
            )
        return email


urlpatterns = [path("api/v1/emails", Emails.as_view()), path("healthz", health.live)]
