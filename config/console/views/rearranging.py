"""Put conversations together and take them apart: one page that says what can be done, and what its buttons call."""

from uuid import UUID, uuid4

from django.db.models import Q
from django.http import HttpRequest, HttpResponse

from config.console.pages import action, needs, page
from inbox.models import Entry, Thread, ThreadChange
from inbox.queries import conversations
from inbox.services import rearranging, undoing
from kernel import context
from kernel.admin.place import place_of
from kernel.errors import Invalid, NotFound

_SHOWN = 200


@needs("thread.manage")
def arrange(request: HttpRequest, thread_id: UUID) -> HttpResponse:
    """The entries to choose from, the conversations that they could go to, and what was done before."""
    thread = conversations.thread(thread_id)
    if thread is None:
        raise NotFound
    rows = conversations.shown(Entry.objects.filter(thread=thread)).order_by("-seq")
    near = Thread.objects.filter(workspace_id=thread.workspace_id, merged_into=None).exclude(id=thread.id)
    same = near.filter(contact_id=thread.contact_id) if thread.contact_id else near.none()
    changes = ThreadChange.objects.filter(workspace_id=thread.workspace_id).defer("journal")
    return page(
        request,
        "rearrange",
        str(thread),
        thread=thread,
        entries=list(reversed(rows[:_SHOWN])),
        others=list(same.select_related("inbox").order_by("-last_entry_seq")[:10]),
        changes=changes.filter(Q(source_thread_id=thread.id) | Q(target_thread_id=thread.id)).order_by("-made_at")[:20],
        key=uuid4(),
    )


@action("thread.manage")
def merge(request: HttpRequest, thread_id: UUID) -> str:
    """The whole conversation into another one."""
    with context.acting_as(place_of(request).actor):
        rearranging.merge(
            workspace_id=_workspace(thread_id), thread_id=thread_id, into=_id(request, "into"), key=_key(request)
        )
    return "Merged. Later mail lands in that conversation too. You can undo it there."


@action("thread.manage")
def split(request: HttpRequest, thread_id: UUID) -> str:
    """Chosen entries, or those from one on, into a conversation of their own."""
    since = request.POST.get("since", "")
    with context.acting_as(place_of(request).actor):
        rearranging.split(
            workspace_id=_workspace(thread_id),
            thread_id=thread_id,
            entry_ids=_entries(request),
            from_entry=_id(request, "since") if since else None,
            key=_key(request),
        )
    return "Split off. You can undo it below."


@action("thread.manage")
def move(request: HttpRequest, thread_id: UUID) -> str:
    """Chosen entries into another conversation."""
    with context.acting_as(place_of(request).actor):
        rearranging.move(
            workspace_id=_workspace(thread_id),
            thread_id=thread_id,
            into=_id(request, "into"),
            entry_ids=_entries(request),
            key=_key(request),
        )
    return "Moved. You can undo it below."


@action("thread.manage")
def undo(request: HttpRequest, change_id: UUID) -> str:
    """As it was before; mail that came since goes with what it answers."""
    change = ThreadChange.objects.only("workspace_id").filter(id=change_id).first()
    if change is None:
        raise NotFound
    with context.acting_as(place_of(request).actor):
        undoing.undo(workspace_id=change.workspace_id, change_id=change_id)
    return "Undone: the conversations are as they were."


def _workspace(thread_id: UUID) -> UUID:
    thread = Thread.objects.only("id", "workspace_id").filter(id=thread_id).first()
    if thread is None:
        raise NotFound
    return thread.workspace_id


def _entries(request: HttpRequest) -> list[UUID]:
    return [_uuid(text) for text in request.POST.getlist("entry")]


def _id(request: HttpRequest, name: str) -> UUID:
    """The id in a field; a pasted address of a conversation's page has one too."""
    text = request.POST.get(name, "") or request.POST.get(f"{name}_other", "")
    parts = [part for part in text.strip().split("/") if len(part) == 36]
    return _uuid(parts[-1] if parts else text)


def _key(request: HttpRequest) -> str:
    return f"console:{_uuid(request.POST.get('key', ''))}"


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise Invalid("Choose a conversation and its messages, then try again.") from error
