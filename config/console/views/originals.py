"""What came from outside, served so that it cannot act: as a download, or in a sandbox without scripts or network."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from config.console.pages import needs, page
from files.queries import open_file
from inbox.models import Attachment, Email, Entry, InboundMessage
from inbox.services import images
from kernel.api.downloads import download
from kernel.errors import NotFound

# Neither script nor network, but for pictures that we serve ourselves.
SANDBOX = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'none'; base-uri 'none'"
)
SOURCE_SHOWN = 200_000


def _harmless(response: HttpResponse) -> HttpResponse:
    response["Content-Security-Policy"] = f"{SANDBOX}; frame-ancestors 'self'"
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, no-store"
    response["Referrer-Policy"] = "no-referrer"
    return response


def _found(row: Any) -> Any:
    if row is None:
        raise NotFound
    return row


@needs("thread.read")
def html(request: HttpRequest, entry_id: UUID) -> HttpResponse:
    """The mail's own formatting. It was sanitised when it was stored; the policy holds even if that missed something."""
    entry = _found(Entry.objects.only("body_html", "workspace_id").filter(id=entry_id).first())
    shown = images.show(entry, remote=request.GET.get("images") == "1", prefix="/images/")
    # The frame's policy allows neither script nor network, so what the sanitiser kept can only be looked at.
    body = render_to_string("console/original.html", {"html": mark_safe(shown.html)})  # noqa: S308
    return _harmless(HttpResponse(body))


@needs("thread.read")
def attachment(request: HttpRequest, attachment_id: UUID) -> StreamingHttpResponse:
    """An attached file: always a download, whatever it says it is (FS-7), and only once it may be handed out."""
    row = _found(Attachment.objects.filter(id=attachment_id).first())
    file, chunks = open_file(file_id=row.file_id)
    return download(chunks, row.filename, size=file.size)


@needs("email.read")
def raw(request: HttpRequest, message_id: UUID) -> StreamingHttpResponse:
    """The exact bytes as they arrived."""
    row = _found(InboundMessage.objects.filter(id=message_id).first())
    return download([bytes(row.raw)], f"{message_id}.eml", "message/rfc822")


@needs("email.read")
def source(request: HttpRequest, email_id: UUID) -> HttpResponse:
    """The source of a mail, to be read."""
    email = _found(Email.objects.select_related("inbound_message").filter(id=email_id).first())
    content = bytes(email.inbound_message.raw)
    return page(
        request,
        "source",
        "Source",
        email=email,
        message=email.inbound_message,
        text=content[:SOURCE_SHOWN].decode("utf-8", "replace"),
        is_cut=len(content) > SOURCE_SHOWN,
        thread=Entry.objects.filter(email=email).values_list("thread_id", flat=True).first(),
    )
