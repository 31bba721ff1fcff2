"""How far a member has read."""

from uuid import UUID

from django.db.models import F, Value
from django.db.models.functions import Greatest

from inbox.models import ThreadReadState
from kernel.transactions import in_workspace


def mark_read(*, workspace_id: UUID, thread_id: UUID, membership_id: UUID, seq: int) -> None:
    """The member has seen the conversation up to `seq`. Never back: two devices may report in any order.

    It tells nobody and writes no audit: it is a bookmark, and one a second per reader would drown what matters.
    """
    with in_workspace(workspace_id):
        mine = ThreadReadState.objects.filter(thread_id=thread_id, membership_id=membership_id)
        if mine.filter(last_read_seq__gte=seq).exists():
            return
        fields = {"workspace_id": workspace_id, "thread_id": thread_id, "membership_id": membership_id}
        ThreadReadState.objects.bulk_create([ThreadReadState(last_read_seq=seq, **fields)], ignore_conflicts=True)
        mine.update(last_read_seq=Greatest(F("last_read_seq"), Value(seq)))
