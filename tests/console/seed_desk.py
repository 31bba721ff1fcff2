"""What colleagues of the small shop keep beside its conversations, made by the services that the console uses."""

from inbox.models import CircuitBreaker, Entry, ThreadChange
from inbox.services import breaking, rearranging, undoing
from tests.console.seed import World
from tickets.models import CannedAnswer, SavedView, Tag
from tickets.services import answering, tagging, viewing


def label(world: World, name: str, thread: str) -> Tag:
    made = tagging.create(workspace_id=world.workspace.id, name=name, color="red")
    tagging.put(workspace_id=world.workspace.id, thread_id=world.threads[thread].id, tag_id=made.id)
    return made


def view(world: World, name: str, tag: Tag) -> SavedView:
    return viewing.create(workspace_id=world.workspace.id, name=name, filter={"tag_id": str(tag.id)})


def answer(world: World, name: str, text: str) -> CannedAnswer:
    return answering.create(workspace_id=world.workspace.id, name=name, text=text)


def robot(world: World, address: str, thread: str) -> CircuitBreaker:
    """A sender that gets no automatic answers for a while."""
    breaking.hold(
        workspace_id=world.workspace.id,
        inbox_id=world.inbox.id,
        thread_id=world.threads[thread].id,
        sender=address,
        cap="sender",
    )
    return CircuitBreaker.objects.get(key=address)


def second_thoughts(world: World, thread: str) -> ThreadChange:
    """A conversation that was split, and put together again."""
    row = world.threads[thread]
    last = Entry.objects.filter(thread=row).latest("seq")
    change = rearranging.split(workspace_id=world.workspace.id, thread_id=row.id, from_entry=last.id, key="a split")
    return undoing.undo(workspace_id=world.workspace.id, change_id=change.id)
