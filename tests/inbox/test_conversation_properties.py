"""Whatever happens in whatever order, the invariants about conversations hold, and an undo gives back what was (1, 2, 4)."""

from collections import Counter
from contextlib import suppress
from datetime import datetime, timedelta
from email.utils import format_datetime
from uuid import uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inbox.models import Email, Entry, InboundMessage, OutboundMessage, Thread, ThreadChange
from inbox.services import ingesting, rearranging, sending, undoing
from inbox.types import ANSWERS, OutboundKind
from kernel import clock
from kernel.errors import DomainError
from kernel.transactions import in_workspace
from tests.factories.world import hand_in, house, mail
from tests.inbox.rows import row_hash
from tests.inbox.talk import answer, aside, broken, talk

PEOPLE = ("ada", "bob", "cleo")
number = st.integers(0, 30)
STEPS = st.one_of(
    st.tuples(st.just("mail"), st.sampled_from(PEOPLE), st.none() | number, st.booleans()),
    st.tuples(st.just("machine"), st.sampled_from(PEOPLE), st.none() | number, st.booleans()),
    st.tuples(st.just("again"), number, number, number),
    st.tuples(st.just("answer"), number, st.sampled_from([*list(OutboundKind)[:3], OutboundKind.AUTO_ACK]), number),
    st.tuples(st.just("fail"), number, number, number),
    st.tuples(st.just("note"), number, number, number),
    st.tuples(st.just("merge"), number, number, number),
    st.tuples(st.just("split"), number, st.lists(number, max_size=3), st.booleans()),
    st.tuples(st.just("move"), number, number, st.lists(number, min_size=1, max_size=3)),
    st.tuples(st.just("undo"), number, number, number),
)


class Story:
    """One workspace, and what happens in it."""

    def __init__(self) -> None:
        self.name = f"w{uuid4().hex[:12]}"
        self.place = house(self.name)
        self.raws: list[tuple[bytes, str]] = []
        self.before = ""
        # Row hashes before a change and after its undo.
        self.undos: list[tuple[str, str]] = []

    def threads(self) -> list[Thread]:
        with in_workspace(self.place.id):
            return list(Thread.objects.filter(merged_into=None).order_by("created_at", "id"))

    def entries(self, thread: Thread, picks: list[int]) -> list[object]:
        ids = [row for rows in talk(self.place) for row in rows if self.thread_of(row) == thread.id]
        return list({ids[pick % len(ids)] for pick in picks}) if ids else []

    def thread_of(self, entry_id: object) -> object:
        with in_workspace(self.place.id):
            return Entry.objects.values_list("thread_id", flat=True).get(id=entry_id)

    def step(self, kind: str, *given: object) -> None:
        with suppress(DomainError):  # what is refused is another test's
            getattr(self, kind)(*given)

    def mail(self, who: str, cited: int | None, is_late: bool, **marks: str) -> None:
        names = self.names()
        cites = {"in_reply_to": names[cited % len(names)]} if names and cited is not None else {}
        raw = mail(sender=f"{who}@customer.test", to=self.place.inbox.address, text=uuid4().hex, **cites, **marks)
        if is_late:
            written = format_datetime(clock.now() - timedelta(minutes=10)).encode()
            raw = raw.replace(b"Thu, 05 Nov 2026 09:00:00 +0000", written)
        self.raws.append((raw, f"id-{uuid4().hex}"))
        self.hand(-1)

    def machine(self, who: str, cited: int | None, is_late: bool) -> None:
        self.mail(who, cited, is_late, auto_submitted="auto-replied")

    def again(self, which: int, *_: object) -> None:
        if self.raws:
            self.hand(which % len(self.raws))

    def hand(self, which: int) -> None:
        raw, name = self.raws[which]
        hand_in(raw, self.place.inbox.address, provider_id=name)
        ingesting.process_all()

    def names(self) -> list[str]:
        with in_workspace(self.place.id):
            received = [
                f"<{name}>" for name in Email.objects.order_by("created_at").values_list("rfc_message_id", flat=True)
            ]
            return received + list(OutboundMessage.objects.order_by("created_at").values_list("message_id", flat=True))

    def answer(self, which: int, kind: OutboundKind, *_: object) -> None:
        with in_workspace(self.place.id):
            inbound = list(Entry.objects.filter(direction="inbound").order_by("seq"))
        if inbound:
            answer(self.place, inbound[which % len(inbound)], kind=kind)

    def fail(self, which: int, *_: object) -> None:
        """The provider refuses one that waits."""
        with in_workspace(self.place.id):
            waiting = list(
                OutboundMessage.objects.filter(state="queued").select_related("entry").order_by("created_at")
            )
            if waiting:
                sending.refused(waiting[which % len(waiting)], error="no")

    def note(self, which: int, *_: object) -> None:
        threads = self.threads()
        if threads:
            thread_id = threads[which % len(threads)].id
            aside(self.place, thread_id)

    def merge(self, one: int, other: int, *_: object) -> None:
        threads = self.threads()
        if threads:
            self.undone(
                rearranging.merge(
                    workspace_id=self.place.id, thread_id=threads[one % len(threads)].id,
                    into=threads[other % len(threads)].id, key=uuid4().hex,
                )
            )  # fmt: skip

    def split(self, one: int, picks: list[int], since: bool) -> None:
        threads = self.threads()
        if threads:
            thread = threads[one % len(threads)]
            chosen = self.entries(thread, picks)
            self.undone(
                rearranging.split(
                    workspace_id=self.place.id, thread_id=thread.id, key=uuid4().hex,
                    **({"from_entry": chosen[0]} if since and chosen else {"entry_ids": chosen}),
                )
            )  # fmt: skip

    def move(self, one: int, other: int, picks: list[int]) -> None:
        threads = self.threads()
        if threads:
            thread = threads[one % len(threads)]
            self.undone(
                rearranging.move(
                    workspace_id=self.place.id, thread_id=thread.id, into=threads[other % len(threads)].id,
                    entry_ids=self.entries(thread, picks), key=uuid4().hex,
                )
            )  # fmt: skip

    def undone(self, change: ThreadChange) -> None:
        """Undo at once is equal to the row; then the same is done again, and the story goes on."""
        undoing.undo(workspace_id=self.place.id, change_id=change.id)
        self.undos.append((self.before, row_hash(self.place.id)))
        self.redo(change)

    def redo(self, change: ThreadChange) -> None:
        common = {"workspace_id": self.place.id, "thread_id": change.source_thread_id, "key": uuid4().hex}
        if change.kind == "merge":
            rearranging.merge(into=change.target_thread_id, **common)
        elif change.kind == "split":
            rearranging.split(entry_ids=change.entry_ids, **common)
        else:
            rearranging.move(into=change.target_thread_id, entry_ids=change.entry_ids, **common)

    def undo(self, which: int, *_: object) -> None:
        with in_workspace(self.place.id):
            changes = list(ThreadChange.objects.filter(undone_at=None).order_by("made_at"))
        if changes:
            undoing.undo(workspace_id=self.place.id, change_id=changes[which % len(changes)].id)


def check(story: Story) -> None:
    place = story.place
    assert broken(place) == {}
    with in_workspace(place.id):
        # 1: each accepted delivery is one message and one mail in this inbox, whose entry is one.
        assert InboundMessage.objects.count() == len(story.raws)
        assert Email.objects.count() == len(story.raws)
        assert Entry.objects.filter(direction="inbound").count() == len(story.raws)
        assert set(InboundMessage.objects.values_list("state", flat=True)) <= {"done"}
        # 2: within a thread, seq orders and is nobody else's.
        rows = list(Entry.objects.order_by("thread_id", "seq").values_list("thread_id", "seq"))
        assert max(Counter(seq for _, seq in rows).values(), default=1) == 1
        # 4: recomputed here, in other words than the database's.
        for thread in Thread.objects.all():
            assert thread.first_unanswered_inbound_at == waiting_since(thread), thread.id


def waiting_since(thread: Thread) -> datetime | None:
    since, answers = None, []
    for entry in Entry.objects.filter(thread=thread).select_related("outbound").order_by("seq"):
        if entry.direction == "outbound" and entry.outbound_kind in ANSWERS and entry.outbound.state != "failed":
            since = None
            answers.append(entry.occurred_at)
        elif entry.direction == "inbound" and entry.mail_class == "human" and not since and not is_late(entry, answers):
            since = entry.occurred_at
    return since


def is_late(entry: Entry, answers: list[datetime]) -> bool:
    """Written before an answer that was given when it came, as far as its date can be believed."""
    rule = entry.thread_decision.get("origin", entry.thread_decision)["rule"]
    written = entry.sent_at_provider
    if written is None or rule == "signed_reply" or abs(entry.occurred_at - written) > timedelta(days=2):
        return False
    return any(answered > written for answered in answers)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, min_size=4, max_size=20))
def test_the_invariants_hold_after_every_story(db, steps):
    story = Story()
    for kind, *given_ in steps:
        story.before = row_hash(story.place.id)
        story.step(kind, *given_)
    check(story)
    for before, after in story.undos:
        assert before == after
