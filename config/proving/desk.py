"""What colleagues make of the conversations of a proving workspace: labels, notes, views, drafts, a split, a stopped robot."""

import hashlib
from datetime import timedelta
from typing import Any
from uuid import UUID

from inbox.models import Entry, RemoteImage, Thread
from inbox.services import breaking, drafting, reading, rearranging, tending
from inbox.types import BreakerScope
from kernel import clock
from kernel.context import Actor
from kernel.transactions import in_workspace
from tenancy.models import Membership
from tickets.services import answering, noting, tagging, viewing


def furnish(workspace_id: UUID, *, mark: str) -> None:
    """Fill the desk of a workspace whose mail has been read; `mark` stands in whatever it says."""
    with in_workspace(workspace_id):
        thread = Thread.objects.filter(entry_count__gt=1).earliest("created_at")
        last = Entry.objects.filter(thread=thread).latest("seq")
        member = Membership.objects.get()
    place: dict[str, Any] = {"workspace_id": workspace_id, "thread_id": thread.id}
    author = Actor(kind="user", id=str(member.user_id), label=mark)
    label = tagging.create(workspace_id=workspace_id, name=mark)
    tagging.set_all(**place, tag_ids=[label.id])
    viewing.create(workspace_id=workspace_id, name=mark, filter={"tag_id": str(label.id)})
    answering.create(workspace_id=workspace_id, name=mark, text=mark)
    noting.write(**place, text=mark, author=author, entry_id=last.id, mentions=[member.id])
    drafting.save(**place, author=author, text=mark, version=0)
    reading.mark_read(**place, membership_id=member.id, seq=last.seq)
    tending.assign(**place, membership_id=member.id)
    # After the note, which goes with its message.
    rearranging.split(**place, from_entry=last.id, key=mark)
    with in_workspace(workspace_id):
        breaking.hold(
            workspace_id=workspace_id,
            inbox_id=thread.inbox_id,
            thread_id=thread.id,
            sender=f"robot@{mark}.example",
            cap=BreakerScope.SENDER,
        )
        _image(workspace_id, mark)


def _image(workspace_id: UUID, mark: str) -> None:
    """As if one had been asked for: its server does not exist."""
    RemoteImage.objects.create(
        workspace_id=workspace_id,
        address_hash=hashlib.sha256(f"https://{mark}.example/logo.png".encode()).digest(),
        problem=f"{mark}.example has no address.",
        expires_at=clock.now() + timedelta(days=1),
    )
