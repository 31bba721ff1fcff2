"""Factories of the desk."""

from typing import Any
from uuid import UUID

from inbox.models import Thread
from tests.factories.registry import FACTORIES, create, factory, unique
from tickets.models import Annotation, CannedAnswer, SavedView, Tag, ThreadCount, ThreadTag


def _thread(workspace_id: UUID) -> Thread:
    return FACTORIES[Thread](workspace_id)


@factory(Tag)
def _tag(workspace_id: UUID, **given: Any) -> Tag:
    return create(Tag, workspace_id, given, name=lambda: unique("tag"))


@factory(ThreadTag)
def _thread_tag(workspace_id: UUID, **given: Any) -> ThreadTag:
    return create(
        ThreadTag,
        workspace_id,
        given,
        thread=lambda: _thread(workspace_id),
        tag=lambda: _tag(workspace_id),
        actor_kind="user",
    )


@factory(Annotation)
def _annotation(workspace_id: UUID, **given: Any) -> Annotation:
    return create(
        Annotation, workspace_id, given, thread=lambda: _thread(workspace_id), body="Paid twice.", author_kind="user"
    )


@factory(CannedAnswer)
def _answer(workspace_id: UUID, **given: Any) -> CannedAnswer:
    return create(CannedAnswer, workspace_id, given, name=lambda: unique("answer"), text="Hello {name}")


@factory(SavedView)
def _view(workspace_id: UUID, **given: Any) -> SavedView:
    return create(SavedView, workspace_id, given, name=lambda: unique("view"), filter={"status": "open"})


@factory(ThreadCount)
def _count(workspace_id: UUID, **given: Any) -> ThreadCount:
    thread = _thread(workspace_id)
    return create(
        ThreadCount, workspace_id, given, inbox_id=thread.inbox_id, status="open", unanswered=False, threads=1
    )
