"""Canned answers: what is written again and again, kept once."""

from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from audit.services import record
from kernel import outbox
from kernel.errors import Conflict, Invalid, NotFound
from kernel.transactions import in_workspace
from tickets.events import AnswerChanged
from tickets.models import CannedAnswer
from tickets.services.tagging import NameTaken

MOST_ANSWERS = 500
_LONGEST = 20_000


def create(*, workspace_id: UUID, name: str, text: str) -> CannedAnswer:
    """A new one."""
    with in_workspace(workspace_id):
        if CannedAnswer.objects.count() >= MOST_ANSWERS:
            raise Conflict(f"A workspace has {MOST_ANSWERS} canned answers at most. Delete one that nobody uses.")
        row = _saved(CannedAnswer(workspace_id=workspace_id, name=_name(name), text=_text(text)))
        _tell(row, "canned_answer.create")
    return row


def change(*, workspace_id: UUID, answer_id: UUID, changes: dict[str, Any]) -> CannedAnswer:
    """Another name or text."""
    with in_workspace(workspace_id):
        row = _locked(answer_id)
        row.name = _name(changes["name"]) if "name" in changes else row.name
        row.text = _text(changes["text"]) if "text" in changes else row.text
        _saved(row, fields=["name", "text"])
        _tell(row, "canned_answer.change", changed=sorted(changes))
    return row


def delete(*, workspace_id: UUID, answer_id: UUID) -> None:
    """Away with it."""
    with in_workspace(workspace_id):
        row = _locked(answer_id)
        _tell(row, "canned_answer.delete", is_deleted=True, name=row.name)
        row.delete()


def _locked(answer_id: UUID) -> CannedAnswer:
    row = CannedAnswer.objects.select_for_update().filter(id=answer_id).first()
    if row is None:
        raise NotFound
    return row


def _name(name: str) -> str:
    clean = " ".join(name.replace("\x00", "").split())
    if not clean or len(clean) > 80:
        raise Invalid("A canned answer has a name of 1 to 80 letters.", pointer="/name")
    return clean


def _text(text: str) -> str:
    clean = text.replace("\r\n", "\n").replace("\x00", "").strip()
    if not clean or len(clean) > _LONGEST:
        raise Invalid(f"Write something, in {_LONGEST} characters at most.", pointer="/text")
    return clean


def _saved(row: CannedAnswer, *, fields: list[str] | None = None) -> CannedAnswer:
    try:
        with transaction.atomic():
            row.save(update_fields=fields)
    except IntegrityError as error:
        raise NameTaken("There is a canned answer of that name.", pointer="/name") from error
    return row


def _tell(row: CannedAnswer, action: str, *, is_deleted: bool = False, **payload: Any) -> None:
    outbox.emit(AnswerChanged(workspace_id=row.workspace_id, answer_id=row.id, is_deleted=is_deleted))
    record(
        workspace_id=row.workspace_id,
        action=action,
        resource_kind="canned_answer",
        resource_id=row.id,
        payload=payload,
    )
