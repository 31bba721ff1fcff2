"""Labels: what there is, and which conversation bears which."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from audit.services import record
from inbox.queries import conversations
from kernel import context, outbox
from kernel.context import Scope
from kernel.errors import Conflict, Invalid, NotFound
from kernel.transactions import in_workspace, unit_of_work
from tickets.events import TagChanged, TagCreated, TagDeleted, TagUpdated, ThreadTagged, ThreadUntagged
from tickets.models import Tag, ThreadTag
from tickets.types import TagColor

MOST_TAGS = 200


class NameTaken(Conflict):
    """There is one of that name, perhaps in other letters."""

    code = "name_taken"


def create(*, workspace_id: UUID, name: str, color: str = TagColor.GREY) -> Tag:
    """A new label."""
    with in_workspace(workspace_id):
        if Tag.objects.count() >= MOST_TAGS:
            raise Conflict(f"A workspace has {MOST_TAGS} labels at most. Delete one that is not used.")
        tag = _saved(Tag(workspace_id=workspace_id, name=_name(name), color=color))
        _tell(tag, TagCreated, "tag.create")
    return tag


def change(*, workspace_id: UUID, tag_id: UUID, changes: dict[str, Any]) -> Tag:
    """Another name or colour, wherever it is used."""
    with in_workspace(workspace_id):
        tag = _locked(tag_id)
        if "name" in changes:
            tag.name = _name(changes["name"])
        tag.color = changes.get("color", tag.color)
        _saved(tag, fields=["name", "color"])
        _tell(tag, TagUpdated, "tag.change", changed=sorted(changes))
    return tag


def delete(*, workspace_id: UUID, tag_id: UUID) -> None:
    """Away with a label, from every conversation: also from those that whoever deletes it does not see."""
    with unit_of_work(Scope(workspace_id=workspace_id)):
        tag = _locked(tag_id)
        used = ThreadTag.objects.filter(tag=tag).count()
        _tell(tag, TagDeleted, "tag.delete", name=tag.name, used=used)
        tag.delete()


def put(*, workspace_id: UUID, thread_id: UUID, tag_id: UUID) -> ThreadTag:
    """Label a conversation; a second time changes nothing."""
    with in_workspace(workspace_id):
        thread, tag = _thread(thread_id), _locked(tag_id)
        existing = ThreadTag.objects.filter(thread=thread, tag=tag).select_related("tag").first()
        if existing:
            return existing
        who = context.actor.get()
        link = ThreadTag.objects.create(
            workspace_id=workspace_id,
            thread=thread,
            tag=tag,
            actor_kind=who.kind,
            actor_id=who.id,
            actor_label=who.label,
        )
        _tell_thread(link, ThreadTagged, "thread.tag")
    return link


def take(*, workspace_id: UUID, thread_id: UUID, tag_id: UUID) -> None:
    """Take a label off a conversation. NotFound when it bears none such."""
    with in_workspace(workspace_id):
        thread = _thread(thread_id)
        link = ThreadTag.objects.filter(thread=thread, tag_id=tag_id).select_related("tag").first()
        if link is None:
            raise NotFound
        _tell_thread(link, ThreadUntagged, "thread.untag")
        link.delete()


def set_all(*, workspace_id: UUID, thread_id: UUID, tag_ids: Sequence[UUID]) -> None:
    """Put on what is named, take off what is not. Invalid when one of them is no label of the workspace."""
    with in_workspace(workspace_id):
        thread = _thread(thread_id)
        wanted = set(tag_ids)
        if Tag.objects.filter(id__in=wanted).count() != len(wanted):
            raise Invalid("One of these is no label of this workspace.", pointer="/tag_ids")
        now = set(ThreadTag.objects.filter(thread=thread).values_list("tag_id", flat=True))
        for tag_id in sorted(wanted - now):
            put(workspace_id=workspace_id, thread_id=thread_id, tag_id=tag_id)
        for tag_id in sorted(now - wanted):
            take(workspace_id=workspace_id, thread_id=thread_id, tag_id=tag_id)


def _thread(thread_id: UUID) -> Any:
    if conversations.thread(thread_id) is None:
        raise NotFound
    return conversations.lock_thread(thread_id)


def _locked(tag_id: UUID) -> Tag:
    tag = Tag.objects.select_for_update(no_key=True).filter(id=tag_id).first()
    if tag is None:
        raise NotFound
    return tag


def _name(name: str) -> str:
    clean = " ".join(name.replace("\x00", "").split())
    if not clean or len(clean) > 60:
        raise Invalid("A label has a name of 1 to 60 letters.", pointer="/name")
    return clean


def _saved(tag: Tag, *, fields: list[str] | None = None) -> Tag:
    try:
        with transaction.atomic():
            tag.save(update_fields=fields)
    except IntegrityError as error:
        raise NameTaken("There is a label of that name.", pointer="/name") from error
    return tag


def _tell(tag: Tag, event: type[TagChanged], action: str, **payload: Any) -> None:
    outbox.emit(event(workspace_id=tag.workspace_id, tag_id=tag.id, name=tag.name))
    record(workspace_id=tag.workspace_id, action=action, resource_kind="tag", resource_id=tag.id, payload=payload)


def _tell_thread(link: ThreadTag, event: type[ThreadTagged] | type[ThreadUntagged], action: str) -> None:
    outbox.emit(event(workspace_id=link.workspace_id, thread_id=link.thread_id, tag_id=link.tag_id, name=link.tag.name))
    record(
        workspace_id=link.workspace_id,
        action=action,
        resource_kind="thread",
        resource_id=link.thread_id,
        payload={"tag_id": link.tag_id},
    )
