"""Inboxes, e-mails, threads, entries and attachments over HTTP."""

from typing import Any, ClassVar
from uuid import UUID, uuid4, uuid5

from django.db.models import Q, QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from files import queries as files
from inbox.api import connections, filters, mails, shapes
from inbox.api.rearranging import Rearranging
from inbox.mime.parsing import parse
from inbox.models import Attachment, Email, Entry, Inbox, Thread
from inbox.queries import conversations
from inbox.services import handing_in, inboxes, labelling, reparsing, tending
from inbox.services.addressing import Further
from inbox.services.handing_in import MailFields
from inbox.types import ThreadStatus
from kernel.api.downloads import download
from kernel.api.listings import Listing
from kernel.api.lookup import one
from kernel.api.rendering import JSONParser
from kernel.api.shapes import listing
from kernel.api.views import WorkspaceViewSet
from kernel.errors import NotFound


class RawMailParser(BaseParser):
    """`message/rfc822`: the bytes as they are."""

    media_type = "message/rfc822"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        content: bytes = stream.read()
        return content


@extend_schema_view(list=extend_schema(responses=listing(shapes.InboxShape, "Inbox")))
@extend_schema(tags=["inboxes"])
class InboxViewSet(WorkspaceViewSet):
    permissions: ClassVar[dict[str, str]] = {
        "list": "inbox.read",
        "retrieve": "inbox.read",
        "create": "inbox.manage",
        "partial_update": "inbox.manage",
        "connection": "inbox.manage",
    }
    listings: ClassVar = {"list": Listing(filters=filters.InboxFilters, sorts=("created_at", "name", "updated_at"))}
    expands: ClassVar = {"agent": "agent_id"}
    queryset = Inbox.unfenced.none()
    serializer_class = shapes.InboxShape

    refusals: ClassVar[dict[str, str]] = {
        "DELETE": 'Inboxes are deactivated rather than deleted: PATCH {"active": false} to the inbox.'
    }

    def list(self, request: Request) -> Response:
        """The inboxes of the workspace, deactivated ones among them."""
        return self.listed(Inbox.objects.prefetch_related("addresses"), shapes.InboxShape.show)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One inbox."""
        return Response(shapes.InboxShape.show(one(Inbox.objects.filter(id=pk))))

    @extend_schema(
        request=shapes.InboxInput,
        responses={201: shapes.InboxShape},
        examples=[OpenApiExample("inbox", {"address": "support@example.com", "name": "Support"}, request_only=True)],
    )
    def create(self, request: Request) -> Response:
        """Open an inbox on a verified domain of the workspace."""
        given = self.checked(shapes.InboxInput)
        further = Further(tuple(given.pop("aliases", ())), given.pop("catch_all"))
        inbox = inboxes.open_inbox(workspace_id=self.principal.workspace_id, further=further, **given)
        return Response(shapes.InboxShape.show(inbox), status=201)

    @extend_schema(
        request=shapes.InboxChange,
        responses=shapes.InboxShape,
        examples=[OpenApiExample("deactivate", {"active": False}, request_only=True)],
    )
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Change an inbox. `active: false` closes it to mail."""
        inbox = inboxes.change(
            workspace_id=self.principal.workspace_id, inbox_id=pk, changes=self.checked(shapes.InboxChange)
        )
        return Response(shapes.InboxShape.show(inbox))

    @extend_schema(
        request=connections.InboxConnectionInput,
        responses=connections.InboxConnectionShape,
        examples=[OpenApiExample("default", {"connection_id": None}, request_only=True)],
    )
    @action(detail=True, methods=["put"])
    def connection(self, request: Request, pk: UUID) -> Response:
        """Have the inbox send through a connection, or (null) through what the installation is set up with."""
        chosen = self.checked(connections.InboxConnectionInput)["connection_id"]
        return Response(connections.use(workspace_id=self.principal.workspace_id, inbox_id=pk, connection_id=chosen))


@extend_schema_view(list=extend_schema(responses=listing(shapes.EmailShape, "Email")))
@extend_schema(tags=["emails"])
class EmailViewSet(WorkspaceViewSet):
    permissions: ClassVar[dict[str, str]] = {
        "list": "email.read",
        "retrieve": "email.read",
        "raw": "email.read",
        "create": "email.create",
        "partial_update": "email.create",
        "reparse": "quarantine.manage",
    }
    listings: ClassVar = {"list": Listing(filters=filters.EmailFilters)}
    expands: ClassVar = {"inbox": "inbox_id", "thread": "thread_id", "latest_run": "id"}
    queryset = Email.unfenced.none()
    serializer_class = shapes.EmailShape
    parser_classes = [JSONParser, RawMailParser]
    refusals: ClassVar[dict[str, str]] = dict.fromkeys(
        ("PUT", "DELETE"), "A received mail is a record: nobody replaces it or takes it away."
    )

    def list(self, request: Request) -> Response:
        """Received mail, newest first."""
        return self.listed(Email.objects.select_related("entry"), shapes.EmailShape.show)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One received mail."""
        return Response(shapes.EmailShape.show(one(Email.objects.select_related("entry").filter(id=pk))))

    @extend_schema(
        request={"application/json": mails.EmailChange},
        responses=shapes.EmailShape,
        examples=[OpenApiExample("note", {"custom_metadata": {"order": "4711"}}, request_only=True)],
    )
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Note something of yours on a mail: its custom metadata is replaced."""
        changes = self.checked(mails.EmailChange)
        if changes:
            labelling.label(workspace_id=self.principal.workspace_id, email_id=pk, **changes)
        return self.retrieve(request, pk)

    @extend_schema(
        request={"application/json": mails.EmailInput, "message/rfc822": bytes},
        responses={202: shapes.EmailShape},
        examples=[
            OpenApiExample(
                "mail",
                {
                    "from": {"name": "Ada", "address": "ada@customer.example"},
                    "to": [{"address": "support@example.com"}],
                    "subject": "How long does shipping take?",
                    "text": "I am in Nairobi. How long does shipping take?",
                },
                request_only=True,
                media_type="application/json",
            )
        ],
    )
    def create(self, request: Request) -> Response:
        """Hand in a mail. It is stored before the answer (202) and read afterwards; the same Idempotency-Key is the
        same mail."""
        posted: Any = request.data
        if isinstance(posted, bytes):
            raw, metadata = posted, {}
            mail = parse(raw)
            recipients = [a.address for a in (*mail.to, *mail.cc)]
        else:
            given = self.checked(mails.EmailInput)
            metadata = given.pop("custom_metadata")
            raw = handing_in.compose(MailFields(sender=given.pop("from"), **given))
            recipients = [item["address"] for item in (*given["to"], *given["cc"])]
        # A key is its caller's own: two programs that both count from one hand in two mails.
        key = request.headers.get("Idempotency-Key", "")
        mail_id = uuid5(self.principal.workspace_id, f"{self.principal.pk} {key}") if key else uuid4()
        emails = handing_in.hand_in(
            workspace_id=self.principal.workspace_id,
            raw=raw,
            recipients=recipients,
            message_id=str(mail_id),
            custom_metadata=metadata,
        )
        return Response(shapes.EmailShape.show(emails[0]), status=202)

    @extend_schema(
        request={"application/json": mails.Reparsing},
        responses=mails.ReparsedShape,
        examples=[
            OpenApiExample("look", {"dry_run": True}, request_only=True, media_type="application/json"),
            OpenApiExample("do", {}, request_only=True, media_type="application/json"),
        ],
    )
    @action(detail=True, methods=["post"])
    def reparse(self, request: Request, pk: UUID) -> Response:
        """Read the stored message again with the present reader. The answer says what differs; `dry_run` only looks."""
        asked = self.checked(mails.Reparsing)
        changes = reparsing.reparse(workspace_id=self.principal.workspace_id, email_id=pk, is_trial=asked["dry_run"])
        body = {
            "object": "reparse",
            "email_id": pk,
            "applied": bool(changes) and not asked["dry_run"],
            "changes": changes,
        }
        return Response(mails.ReparsedShape(body).data)

    @extend_schema(responses={(200, "message/rfc822"): bytes})
    @action(detail=True, methods=["get"])
    def raw(self, request: Request, pk: UUID) -> StreamingHttpResponse:
        """The message as it came, byte for byte."""
        email = one(Email.objects.select_related("inbound_message").filter(id=pk))
        raw = bytes(email.inbound_message.raw)
        if not raw and email.inbound_message.size:
            raise NotFound("The content of this mail was not kept, as the policy of its inbox says.")
        return download([raw], f"{email.id}.eml", "message/rfc822", size=len(raw))


@extend_schema_view(list=extend_schema(responses=listing(shapes.ThreadShape, "Thread")))
@extend_schema(tags=["threads"])
class ThreadViewSet(Rearranging):
    permissions: ClassVar[dict[str, str]] = {
        "list": "thread.read",
        "retrieve": "thread.read",
        "entries": "thread.read",
        "merge": "thread.manage",
        "split": "thread.manage",
        "move": "thread.manage",
        "partial_update": "thread.manage",
    }
    listings: ClassVar = {
        "list": Listing(filters=filters.ThreadFilters, by="last_entry_seq", sorts=("last_entry_seq", "created_at")),
        "entries": Listing(filters=filters.EntryFilters, by="seq", sorts=("seq",)),
    }
    expands: ClassVar = {"inbox": "inbox_id"}
    queryset = Thread.unfenced.none()
    serializer_class = shapes.ThreadShape

    def list(self, request: Request) -> Response:
        """Conversations, the one that has last got something first."""
        return self.listed(Thread.objects.filter(merged_into=None), shapes.ThreadShape.show)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One conversation, without its entries."""
        return Response(shapes.ThreadShape.show(one(Thread.objects.filter(id=pk))))

    @extend_schema(
        request=shapes.ThreadUpdate,
        responses=shapes.ThreadShape,
        examples=[OpenApiExample("close", {"status": "closed", "assignee_id": None}, request_only=True)],
    )
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Assign a conversation, close or open it, call it spam, or let it rest until a time."""
        changes, place = (
            self.checked(shapes.ThreadUpdate),
            {"workspace_id": self.principal.workspace_id, "thread_id": pk},
        )
        one(Thread.objects.filter(id=pk))
        if "assignee_id" in changes:
            tending.assign(**place, membership_id=changes["assignee_id"])
        if "status" in changes:
            tending.set_status(**place, status=ThreadStatus(changes["status"]))
        if "snoozed_until" in changes:
            tending.snooze(**place, until=changes["snoozed_until"])
        return self.retrieve(request, pk)

    @extend_schema(responses=listing(shapes.EntryShape, "Entry"))
    @action(detail=True, methods=["get"])
    def entries(self, request: Request, pk: UUID) -> Response:
        """The conversation, newest entry first."""
        thread = one(Thread.objects.filter(id=pk))
        rows = conversations.shown(Entry.objects.filter(thread_id=thread.id))
        return self.listed(conversations.with_belongings(rows), shapes.EntryShape.show)


@extend_schema_view(list=extend_schema(responses=listing(shapes.AttachmentShape, "Attachment")))
@extend_schema(tags=["attachments"])
class AttachmentViewSet(WorkspaceViewSet):
    permissions: ClassVar[dict[str, str]] = {
        "list": "thread.read",
        "retrieve": "thread.read",
        "content": "thread.read",
    }
    listings: ClassVar = {"list": Listing(filters=filters.AttachmentFilters)}
    expands: ClassVar = {"email": "email_id"}
    queryset = Attachment.unfenced.none()
    serializer_class = shapes.AttachmentShape
    refusals: ClassVar[dict[str, str]] = dict.fromkeys(
        ("POST", "PUT", "PATCH", "DELETE"), "Attachments come with their mail: POST /emails makes one."
    )

    def list(self, request: Request) -> Response:
        """What came with mail, newest first."""
        return self.listed(_attachments(), shapes.AttachmentShape.show)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """What is known of an attachment. Its bytes are at `/content`."""
        return Response(shapes.AttachmentShape.show(one(_attachments().filter(id=pk))))

    @extend_schema(responses={(200, "application/octet-stream"): bytes, 409: None, 503: None})
    @action(detail=True, methods=["get"])
    def content(self, request: Request, pk: UUID) -> StreamingHttpResponse:
        """The bytes, always as a download."""
        attachment = one(_attachments().filter(id=pk))
        file, chunks = files.open_file(file_id=attachment.file_id)
        return download(chunks, attachment.filename, size=file.size)


def _attachments() -> "QuerySet[Attachment]":
    """Those of mail that is there."""
    rows = Attachment.objects.select_related("file")
    return rows.filter(Q(email=None) | Q(email__deleted_at=None))
