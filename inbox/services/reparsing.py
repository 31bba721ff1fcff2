"""Read a stored message again, as the present reader does, and say what differs: after the reader has learned something.

Where the mail belongs does not change by it, nor what was done because of it.
"""

from typing import Any
from uuid import UUID

import orjson
from django.db import connection

from audit.services import record
from files.services.inspecting import Inspection
from inbox.events import EmailUpdated
from inbox.mime.child import ParserCrashed
from inbox.mime.types import ParsedMail
from inbox.models import Attachment, Email, Entry
from inbox.queries import conversations
from inbox.services import filing, ingesting
from kernel import outbox
from kernel.errors import Conflict, NotFound
from kernel.transactions import in_workspace

_SHOWN = 400
_MAX_TEXT = 1_000_000


def reparse(*, workspace_id: UUID, email_id: UUID, is_trial: bool = False) -> list[dict[str, str]]:
    """What differs, each as field, before and after, cut to what a person reads. `is_trial`: nothing is changed.

    Raises NotFound, and Conflict where there is nothing to read or the reader gives up.
    """
    raw = _raw(workspace_id, email_id)
    # Outside of any transaction: the reader is another process and may take its time.
    mail = _read(raw)
    with in_workspace(workspace_id):
        entry = Entry.objects.select_related("email").filter(email_id=email_id).first()
        if entry is None or entry.email is None:
            raise NotFound("This mail is in no conversation. Replay it from the quarantine instead.")
        conversations.lock_thread(entry.thread_id)
        of_email, of_entry = _fields(mail)
        changed_email = {name: value for name, value in of_email.items() if getattr(entry.email, name) != value}
        changed_entry = {name: value for name, value in of_entry.items() if getattr(entry, name) != value}
        missing = _missing(entry, mail)
        found = [_change(name, getattr(entry.email, name), value) for name, value in changed_email.items()]
        found += [
            _change(name, getattr(entry, name), value)
            for name, value in changed_entry.items()
            if name not in changed_email
        ]
        found += [
            {"field": "attachments", "before": "", "after": part.filename or part.content_type} for part in missing
        ]
        if found and not is_trial:
            _apply(entry, changed_email, changed_entry)
            _attach(entry, missing)
            _tell(entry.email, found)
    return found


def _raw(workspace_id: UUID, email_id: UUID) -> bytes:
    with in_workspace(workspace_id):
        email = Email.objects.select_related("inbound_message").filter(id=email_id).first()
        if email is None:
            raise NotFound
        raw = bytes(email.inbound_message.raw)
    if not raw:
        raise Conflict("The bytes of this mail were not kept, so it cannot be read again.")
    return raw


def _read(raw: bytes) -> ParsedMail:
    try:
        mail = ingesting.parse(raw)
    except ParserCrashed as error:
        raise Conflict(f"The reader gave up: {error}. Nothing was changed.") from error
    if mail.status == "quarantined":
        raise Conflict(f"The reader would put this mail aside: {mail.reason}. Nothing was changed.")
    return mail


def _fields(mail: ParsedMail) -> tuple[dict[str, Any], dict[str, Any]]:
    sender = mail.from_
    of_email = {
        "subject": mail.subject,
        "from_name": sender.name if sender else "",
        "from_address": sender.address[:320] if sender else "",
        "reply_to": filing.addresses(mail.reply_to),
        "to": filing.addresses(mail.to),
        "cc": filing.addresses(mail.cc),
        "date": mail.date,
        "rfc_message_id": mail.message_id or "",
    }
    of_entry = {
        "subject": mail.subject,
        "body_text": mail.text[:_MAX_TEXT],
        "extracted_text": (mail.reply_text or mail.text)[:_MAX_TEXT],
        "body_html": mail.safe_html,
        "sent_at_provider": mail.date,
    }
    return of_email, of_entry


def _missing(entry: Entry, mail: ParsedMail) -> list[Any]:
    """Attachments that an earlier reader did not see. Those that the present one does not see stay."""
    known = {bytes(digest).hex() for digest in _of(entry).values_list("file__sha256", flat=True)}
    return [part for part in mail.attachments if part.content is not None and part.sha256 not in known]


def _of(entry: Entry) -> Any:
    return Attachment.with_deleted.filter(entry_id=entry.id)


def _change(field: str, before: Any, after: Any) -> dict[str, str]:
    return {"field": field, "before": _text(before), "after": _text(after)}


def _text(value: Any) -> str:
    if isinstance(value, list):
        value = ", ".join(item["address"] for item in value)
    text = "" if value is None else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _apply(entry: Entry, of_email: dict[str, Any], of_entry: dict[str, Any]) -> None:
    if of_email and entry.email_id:
        Email.objects.filter(id=entry.email_id).update(**of_email)
    if of_entry:
        Entry.objects.filter(id=entry.id).update(**of_entry)


def _attach(entry: Entry, parts: list[Any]) -> None:
    if not parts:
        return
    first = max(_of(entry).values_list("position", flat=True), default=-1) + 1
    inspection = Inspection()
    kept = [
        filing.keep(entry.workspace_id, first + at, part, is_clean=False, inspection=inspection)
        for at, part in enumerate(parts)
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inbox_attach_v1(%s, %s, %s, %s::jsonb)",
            [entry.workspace_id, entry.id, entry.email_id, orjson.dumps(kept).decode()],
        )


def _tell(email: Email, found: list[dict[str, str]]) -> None:
    outbox.emit(EmailUpdated(workspace_id=email.workspace_id, email_id=email.id, inbox_id=email.inbox_id))
    record(
        workspace_id=email.workspace_id,
        action="email.reparse",
        resource_kind="email",
        resource_id=email.id,
        payload={"changed": sorted({change["field"] for change in found})},
    )
