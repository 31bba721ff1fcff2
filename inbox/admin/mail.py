"""Received mail, mail on its way out, and what was put aside."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest

from files.services import scanning
from inbox.models import Attachment, Email, InboundMessage, OutboundMessage
from inbox.services import attachments, quarantine
from kernel.admin import columns
from kernel.admin.base import ReadOnlyAdmin
from kernel.admin.deeds import deed
from kernel.admin.filters import Deleted, Views


class EmailViews(Views):
    """By what became of it."""

    views: ClassVar[dict[str, tuple[str, Q]]] = {
        "all": ("All", Q()),
        "working": ("Being worked on", Q(state__in=["received", "stored", "parsed", "threaded", "queued", "running"])),
        "waiting": ("Waiting for approval", Q(state="waiting_approval")),
        "handled": ("Handled", Q(state="handled")),
        "ignored": ("Ignored", Q(state="ignored")),
        "failed": ("Failed", Q(state__in=["failed", "quarantined"])),
    }


@admin.register(Email)
class EmailAdmin(ReadOnlyAdmin):
    """Each received mail in each inbox, with its processing state and why."""

    view_needs = "email.read"
    list_display = (
        columns.two_lines("subject", "from_address", "mail"),
        columns.state(),
        columns.text("state_reason", "why", limit=60),
        columns.state("mail_class", "sender is"),
        columns.text("inbox", "inbox", limit=40),
        columns.when("received_at", "received"),
    )
    list_filter = (EmailViews, "mail_class", "inbox", Deleted)
    search_fields = ("subject", "from_address__istartswith", "message_id__exact")
    search_help_text = "Subject, sender or the provider's message id"
    ordering = ("-created_at", "-id")
    list_select_related = ("inbox",)
    empty_icon = "mail"
    empty_title = "No mail here"
    empty_text = "Mail arrives by SES, by SMTP, or by POST /api/v1/emails."


class OutboundViews(Views):
    """By what a person must look at."""

    views: ClassVar[dict[str, tuple[str, Q]]] = {
        "attention": ("Needs a person", Q(state__in=["uncertain", "failed"])),
        "waiting": ("On its way", Q(state__in=["queued", "sending"])),
        "returned": ("Came back", Q(entry__delivery_state__in=["bounced", "soft_bounced", "complained"])),
        "sent": ("Sent", Q(state="sent")),
        "all": ("All", Q()),
    }


@admin.register(OutboundMessage)
class OutboundMessageAdmin(ReadOnlyAdmin):
    """Mail on its way out. Uncertain ones may have arrived, so a person says what became of them."""

    view_needs = "email.read"
    list_display = (
        columns.two_lines("entry__subject", "envelope_to__0", "message"),
        columns.state(),
        columns.state("entry__delivery_state", "delivery"),
        "attempts",
        columns.text("last_error", "last error", limit=60),
        columns.text("inbox", "from", limit=40),
        columns.when("created_at", "written"),
        columns.when("sent_at", "sent"),
    )
    list_filter = (OutboundViews, "inbox")
    search_fields = ("message_id__icontains", "entry__subject")
    search_help_text = "Message-ID or subject"
    ordering = ("-created_at", "-id")
    list_select_related = ("inbox", "entry")
    empty_icon = "outgoing_mail"
    empty_title = "Nothing to look at"
    empty_text = (
        "Every answer has left, or none was written yet. The other views show what is on its way and what was sent."
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[OutboundMessage]:
        return super().get_queryset(request).defer("raw", "entry__body_text", "entry__body_html")


# A delivery is put aside whole when it cannot be read, or one of its mails is, for spam or a virus.
_HELD = Q(state="quarantined") | Q(
    Exists(Email.unfenced.filter(inbound_message=OuterRef("pk"), state="quarantined", deleted_at=None))
)


class QuarantineViews(Views):
    """What is put aside first; the other deliveries for looking up."""

    views: ClassVar[dict[str, tuple[str, Q]]] = {
        "quarantined": ("Quarantined", _HELD),
        "stored": ("Waiting", Q(state="stored")),
        "done": ("Filed", Q(state="done")),
        "all": ("All deliveries", Q()),
    }


@admin.register(InboundMessage)
class InboundMessageAdmin(ReadOnlyAdmin):
    """Accepted deliveries, byte for byte. The quarantined ones could not be read safely and can be tried again."""

    view_needs = "quarantine.manage"
    act_needs = "quarantine.manage"
    list_display = (
        columns.two_lines("envelope_from", "recipients__0", "from, to"),
        columns.state(),
        columns.text("reason", "why", limit=80),
        columns.size("size"),
        columns.text("source", "came by"),
        columns.when("received_at", "received"),
    )
    list_filter = (QuarantineViews, "source")
    search_fields = ("envelope_from__icontains", "provider_message_id__exact", "reason")
    search_help_text = "Sender, reason or the provider's message id"
    ordering = ("-received_at", "-id")
    actions: ClassVar[Any] = ["replay"]
    empty_icon = "shield"
    empty_title = "The quarantine is empty"
    empty_text = "Mail that cannot be read safely is put aside here with its bytes, for you to look at and try again."

    def get_queryset(self, request: HttpRequest) -> QuerySet[InboundMessage]:
        return super().get_queryset(request).defer("raw")

    @deed("Try again", icon="replay")
    def replay(self, request: HttpRequest, queryset: QuerySet[InboundMessage]) -> None:
        """Each by itself: one that is refused does not hold back the others."""
        rows = list(queryset.values_list("id", "workspace_id"))
        for message_id, workspace_id in rows:
            self.serve(
                request,
                lambda m=message_id, w=workspace_id: quarantine.replay(workspace_id=w, inbound_message_id=m),
                done="" if len(rows) > 1 else "The message will be read again.",
            )


@admin.register(Attachment)
class AttachmentAdmin(ReadOnlyAdmin):
    """Files of mail, by name and type; their bytes are downloaded from the conversation."""

    view_needs = "thread.read"
    act_needs = "thread.manage"
    list_display = (
        columns.two_lines("filename", "content_type", "file"),
        columns.size("file__size"),
        columns.state("file__scan_state", "scan"),
        columns.when("created_at", "came"),
    )
    list_filter = ("inline", Deleted)
    fields = ("filename", "content_type", "content_id", "inline", "position", "created_at", "deleted_at")
    search_fields = ("filename__icontains",)
    ordering = ("-created_at", "-id")
    list_select_related = ("file",)
    actions: ClassVar[Any] = ["scan_again", "remove", "restore"]
    empty_icon = "attach_file"
    empty_title = "No attachments here"
    empty_text = "Files come with mail. They are always downloaded, never opened here."

    @deed("Scan again", icon="shield")
    def scan_again(self, request: HttpRequest, queryset: QuerySet[Attachment]) -> None:
        """For files that the scanner could not judge."""
        for row in queryset:
            self.serve(request, lambda r=row: scanning.scan_again(workspace_id=r.workspace_id, file_id=r.file_id))

    @deed("Delete")
    def remove(self, request: HttpRequest, queryset: QuerySet[Attachment]) -> None:
        for row in queryset:
            self.serve(request, lambda r=row: attachments.delete(workspace_id=r.workspace_id, attachment_id=r.id))

    @deed("Restore")
    def restore(self, request: HttpRequest, queryset: QuerySet[Attachment]) -> None:
        """For rows of the filter "Deleted only"."""
        for row in queryset:
            self.serve(request, lambda r=row: attachments.restore(workspace_id=r.workspace_id, attachment_id=r.id))
