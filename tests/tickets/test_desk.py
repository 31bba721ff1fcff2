"""The desk: labels, notes, views with kept counters, canned answers; and what happens to a conversation."""

import threading
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection

from audit.models import AuditEvent
from inbox.models import Draft, Entry, OutboundMessage, Thread, ThreadReadState
from inbox.queries import conversations
from inbox.services import drafting, reading, tending, writing
from inbox.services.drafting import DraftChanged
from inbox.services.undoing import CannotBeUndone
from inbox.types import ThreadStatus
from kernel import clock
from kernel.context import Actor
from kernel.errors import Invalid, NotFound
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tenancy.models import Membership
from tests.console import seed
from tests.factories.every import make
from tests.factories.world import deliver, house, mail
from tests.inbox.talk import write
from tests.inbox.test_rearranging import merge, split, undo
from tickets.models import Annotation, ThreadCount, ThreadTag
from tickets.queries import labels, views
from tickets.services import answering, noting, tagging, viewing
from tickets.services.tagging import NameTaken

PAT = Actor(kind="user", id="7", label="Pat")


def only_thread(place) -> Thread:
    with in_workspace(place.id):
        return Thread.objects.get()


def slugs(place) -> list[str]:
    with in_workspace(place.id):
        return list(OutboxEvent.objects.order_by("id").values_list("slug", flat=True))


def actions(place) -> list[str]:
    with in_workspace(place.id):
        return list(AuditEvent.objects.order_by("sequence").values_list("action", flat=True))


def test_a_note_stands_in_the_order_and_never_leaves(db):
    acme, globex = house(), house("globex")
    deliver(mail())
    before = only_thread(acme)
    where = {"workspace_id": acme.id, "thread_id": before.id}
    note = noting.write(**where, text="  Paid twice.  ", author=PAT)
    with in_workspace(acme.id):
        after, first = Thread.objects.get(), Entry.objects.get()
        note.refresh_from_db()
        assert (note.body, note.visibility, note.seq > first.seq) == ("Paid twice.", "internal", True)
        assert (after.entry_count, after.last_entry_seq, after.first_unanswered_inbound_at) == (
            before.entry_count, before.last_entry_seq, before.first_unanswered_inbound_at,
        )  # fmt: skip
        assert not OutboundMessage.objects.exists()
        assert "Paid twice." not in str(conversations.mail_context(email_id=first.email_id))
    assert slugs(acme)[-1] == "note.written"
    assert actions(acme)[-1] == "note.write"
    for bad in ({"text": "  "}, {"entry_id": before.id}, {"mentions": [before.id]}):
        with pytest.raises(Invalid):
            noting.write(**where, author=PAT, **{"text": "x"} | bad)
    with pytest.raises(NotFound):
        noting.write(workspace_id=globex.id, thread_id=before.id, text="x", author=PAT)
    # The database's own word, past every service.
    with in_workspace(acme.id), pytest.raises(IntegrityError, match="never_customer_visible"):
        Annotation.objects.update(visibility="public")


def test_only_what_was_written_to_leave_can_leave(db):
    acme = house()
    deliver(mail())
    with in_workspace(acme.id):
        inbound = Entry.objects.get()
    for direction in ("inbound", "internal"):
        entry = (
            inbound if direction == "inbound" else make(Entry, acme.id, thread=only_thread(acme), direction=direction)
        )
        with pytest.raises(IntegrityError, match="only_outbound_leaves"):
            make(OutboundMessage, acme.id, entry=entry)
    with in_workspace(acme.id), pytest.raises(IntegrityError, match="direction_stays"):
        Entry.objects.filter(id=inbound.id).update(direction="outbound")
    make(OutboundMessage, acme.id, entry=make(Entry, acme.id, thread=only_thread(acme), direction="outbound"))


def test_labels(db):
    acme, globex = house(), house("globex")
    deliver(mail())
    thread = only_thread(acme)
    refund = tagging.create(workspace_id=acme.id, name=" Refund ", color="amber")
    press = tagging.create(workspace_id=acme.id, name="Press")
    theirs = tagging.create(workspace_id=globex.id, name="Refund")
    with pytest.raises(NameTaken):
        tagging.create(workspace_id=acme.id, name="REFUND")
    with pytest.raises(NameTaken):
        tagging.change(workspace_id=acme.id, tag_id=press.id, changes={"name": "refund"})
    for _ in range(2):
        tagging.put(workspace_id=acme.id, thread_id=thread.id, tag_id=refund.id)
    with pytest.raises(NotFound):
        tagging.put(workspace_id=acme.id, thread_id=thread.id, tag_id=theirs.id)
    with pytest.raises(NotFound):
        tagging.put(workspace_id=globex.id, thread_id=thread.id, tag_id=theirs.id)
    with pytest.raises(Invalid):
        tagging.set_all(workspace_id=acme.id, thread_id=thread.id, tag_ids=[refund.id, theirs.id])
    tagging.set_all(workspace_id=acme.id, thread_id=thread.id, tag_ids=[press.id])
    with in_workspace(acme.id):
        assert [link.tag_id for link in ThreadTag.objects.all()] == [press.id]
    tagging.delete(workspace_id=acme.id, tag_id=press.id)
    with in_workspace(acme.id):
        assert not ThreadTag.objects.exists()
    told = [slug for slug in slugs(acme) if "tag" in slug]
    assert told == ["tag.created", "tag.created", "thread.tagged", "thread.tagged", "thread.untagged", "tag.deleted"]


def _recount(place, chosen, me=None) -> int:
    with in_workspace(place.id):
        return views.threads(chosen, me=me).count()


def _kept(place, filters, me=None) -> list[int]:
    with in_workspace(place.id):
        return views.counts(filters, workspace_id=place.id, me=me)


def test_counters_equal_a_recount_whatever_happens(db):
    """Mail, answers, assigning, closing, snoozing, labels, a merge, plain SQL; before and after folding."""
    acme = house()
    globex = house("globex")
    deliver(mail(to="support@globex.test"), "support@globex.test")
    member = seed.member(seed.person("mika@acme.test"), acme.workspace)
    tag = tagging.create(workspace_id=acme.id, name="Refund")
    filters = [
        {}, {"status": "open"}, {"status": "closed"}, {"status": "snoozed"}, {"assignee": "me"}, {"assignee": "nobody"}, {"unanswered": True},
        {"status": "open", "unanswered": False}, {"tag_id": str(tag.id)}, {"tag_id": str(tag.id), "status": "open", "assignee": "me"},
        {"inbox_id": str(acme.inbox.id)}, {"inbox_id": str(globex.inbox.id)},
    ]  # fmt: skip

    def check(step: str) -> None:
        expected = [_recount(acme, chosen, member.id) for chosen in filters]
        assert _kept(acme, filters, member.id) == expected, step

    emails = [deliver(mail(sender=f"c{n}@customer.test"))[0].email_id for n in range(5)]
    check("mail")
    with in_workspace(acme.id):
        ids = list(Thread.objects.order_by("created_at").values_list("id", flat=True))
    place = {"workspace_id": acme.id}
    steps = {
        "assigned": lambda: tending.assign(**place, thread_id=ids[0], membership_id=member.id),
        "labelled": lambda: [tagging.put(**place, thread_id=one, tag_id=tag.id) for one in ids[:3]],
        "answered": lambda: writing.reply(**place, email_id=emails[1], text="Yes.", key="k", author=PAT),
        "closed": lambda: tending.set_status(**place, thread_id=ids[0], status=ThreadStatus.CLOSED),
        "snoozed": lambda: tending.snooze(**place, thread_id=ids[2], until=clock.now() + timedelta(days=1)),
        "reopened by mail": lambda: deliver(mail(sender="c0@customer.test", text="again")),
        "label taken off": lambda: tagging.take(**place, thread_id=ids[1], tag_id=tag.id),
        "folded": viewing.fold_counts,
        "merged": lambda: _sql(acme, "UPDATE inbox_thread SET merged_into_id = %s WHERE id = %s", ids[0], ids[2]),
        "split again": lambda: _sql(acme, "UPDATE inbox_thread SET merged_into_id = NULL WHERE id = %s", ids[2]),
        "folded again": viewing.fold_counts,
        "label deleted": lambda: tagging.delete(**place, tag_id=tag.id),
        "folded once more": viewing.fold_counts,
    }
    for name, work in steps.items():
        work()
        check(name)
    with in_workspace(acme.id):
        kinds = ThreadCount.objects.values_list("inbox_id", "status", "assignee_id", "unanswered", "tag_id")
        assert len(kinds) == len(set(kinds)) <= len(ids)


def _sql(place, statement: str, *values) -> None:
    with in_workspace(place.id), connection.cursor() as cursor:
        cursor.execute(statement, values)


def test_counters_hold_when_a_conversation_and_its_labels_change_at_once(db):
    acme = house()
    deliver(mail())
    thread = only_thread(acme)
    tags = [tagging.create(workspace_id=acme.id, name=f"t{n}") for n in range(4)]
    gate = threading.Barrier(5)

    def run(work) -> None:
        gate.wait()
        for _ in range(5):
            work()
        connection.close()

    def flip() -> None:
        for status in (ThreadStatus.CLOSED, ThreadStatus.OPEN):
            tending.set_status(workspace_id=acme.id, thread_id=thread.id, status=status)

    def label(tag) -> None:
        where = {"workspace_id": acme.id, "thread_id": thread.id, "tag_id": tag.id}
        tagging.put(**where)
        tagging.take(**where)
        tagging.put(**where)

    crew = [threading.Thread(target=run, args=(flip,))]
    crew += [threading.Thread(target=run, args=(lambda tag=tag: label(tag),)) for tag in tags]
    for one in crew:
        one.start()
    for one in crew:
        one.join()
    filters = [{"status": "open"}, {"status": "closed"}, *({"tag_id": str(tag.id), "status": "open"} for tag in tags)]
    assert _kept(acme, filters) == [_recount(acme, chosen) for chosen in filters] == [1, 0, 1, 1, 1, 1]


def test_views_say_what_they_cannot_take(db):
    acme, globex = house(), house("globex")
    theirs = tagging.create(workspace_id=globex.id, name="Press")
    bad = [
        {"subject": "x"}, {"status": "lost"}, {"assignee": "us"}, {"unanswered": "yes"}, {"tag_id": "x"}, {"tag_id": str(theirs.id)},
        {"inbox_id": str(globex.inbox.id)},
    ]  # fmt: skip
    for chosen in bad:
        with pytest.raises(Invalid) as refused:
            viewing.create(workspace_id=acme.id, name="x", filter=chosen)
        assert refused.value.pointer == f"/filter/{next(iter(chosen))}"
    view = viewing.create(workspace_id=acme.id, name="Waiting", filter={"status": "open", "unanswered": True})
    with pytest.raises(NameTaken):
        viewing.create(workspace_id=acme.id, name="waiting", filter={})
    member = seed.member(seed.person("mika@acme.test"), acme.workspace)
    own = viewing.create(workspace_id=acme.id, name="waiting", filter={}, owner_id=member.id)
    with pytest.raises(NotFound):
        viewing.change(workspace_id=acme.id, view_id=own.id, changes={"name": "x"})
    with pytest.raises(NotFound):
        viewing.delete(workspace_id=globex.id, view_id=view.id)
    viewing.change(workspace_id=acme.id, view_id=own.id, changes={"sort": "waiting"}, owner_id=member.id)
    viewing.delete(workspace_id=acme.id, view_id=view.id)
    answer = answering.create(workspace_id=acme.id, name="Hours", text="We open at nine.")
    with pytest.raises(NameTaken):
        answering.create(workspace_id=acme.id, name="hours", text="x")
    with pytest.raises(NotFound):
        answering.change(workspace_id=globex.id, answer_id=answer.id, changes={"text": "x"})


def test_a_conversation_rests_until_its_time_or_the_next_mail(db):
    acme = house()
    deliver(mail(message_id="<a@customer.test>"))
    thread = only_thread(acme)
    where = {"workspace_id": acme.id, "thread_id": thread.id}
    now = clock.now()
    for bad in (now - timedelta(seconds=1), now + timedelta(days=400)):
        with pytest.raises(Invalid):
            tending.snooze(**where, until=bad)
    tending.snooze(**where, until=now + timedelta(hours=1))
    assert tending.wake_due() == 0
    _sql(acme, "UPDATE inbox_thread SET snoozed_until = now() - interval '1 second' WHERE id = %s", thread.id)
    assert (tending.wake_due(), tending.wake_due()) == (1, 0)
    assert (only_thread(acme).status, only_thread(acme).snoozed_until) == ("open", None)
    tending.snooze(**where, until=now + timedelta(days=2))
    deliver(mail(in_reply_to="<a@customer.test>", auto_submitted="auto-replied"))
    assert only_thread(acme).status == "snoozed"
    deliver(mail(in_reply_to="<a@customer.test>", text="Any news?"))
    assert (only_thread(acme).status, only_thread(acme).snoozed_until) == ("open", None)
    with in_workspace(acme.id), pytest.raises(IntegrityError, match="snoozed_until_a_time"):
        Thread.objects.update(status="snoozed")
    assert [slug for slug in slugs(acme) if slug in ("thread.snoozed", "thread.woken")] == [
        "thread.snoozed", "thread.woken", "thread.snoozed",
    ]  # fmt: skip


def test_it_is_given_to_active_members_of_the_workspace_only(db):
    acme, globex = house(), house("globex")
    deliver(mail())
    thread = only_thread(acme)
    ours = seed.member(seed.person("mika@acme.test"), acme.workspace)
    seed.member(seed.person("ada@acme.test"), acme.workspace)
    theirs = seed.member(seed.person("kim@globex.test"), globex.workspace)
    where = {"workspace_id": acme.id, "thread_id": thread.id}
    tending.assign(**where, membership_id=ours.id)
    with pytest.raises(Invalid):
        tending.assign(**where, membership_id=theirs.id)
    with in_workspace(acme.id):
        Membership.objects.filter(id=ours.id).update(status="suspended")
    tending.assign(**where, membership_id=None)
    with pytest.raises(Invalid):
        tending.assign(**where, membership_id=ours.id)
    with pytest.raises(NotFound):
        tending.assign(workspace_id=globex.id, thread_id=thread.id, membership_id=theirs.id)
    assert actions(acme).count("thread.assign") == 2


def test_a_reader_never_goes_back(db):
    acme = house()
    deliver(mail())
    thread, member = only_thread(acme), seed.member(seed.person("mika@acme.test"), acme.workspace)
    for seq in (5, 9, 3, 9):
        reading.mark_read(workspace_id=acme.id, thread_id=thread.id, membership_id=member.id, seq=seq)
    with in_workspace(acme.id):
        assert ThreadReadState.objects.get().last_read_seq == 9
    with in_workspace(acme.id), pytest.raises(IntegrityError, match="may not go back from 9 to 8"):
        ThreadReadState.objects.update(last_read_seq=8)


def test_a_draft_is_one_on_all_devices_and_never_overwritten_unseen(db):
    acme, globex = house(), house("globex")
    (accepted,) = deliver(mail())
    thread = only_thread(acme)
    where = {"workspace_id": acme.id, "thread_id": thread.id, "author": PAT}
    assert drafting.save(**where, text="Hello", version=0).version == 1
    assert drafting.save(**where, text="Hello Ada", version=1).version == 2
    for stale in (0, 1, 3):
        with pytest.raises(DraftChanged) as refused:
            drafting.save(**where, text="Other device", version=stale)
        assert (refused.value.extra["version"], refused.value.extra["text"]) == (2, "Hello Ada")
    other = drafting.save(**where | {"author": Actor(kind="user", id="8", label="Sam")}, text="Mine", version=0)
    with pytest.raises(NotFound):
        drafting.save(workspace_id=globex.id, thread_id=thread.id, author=PAT, text="x", version=0)
    writing.reply(workspace_id=acme.id, email_id=accepted.email_id, text="Hello Ada!", key="k", author=PAT)
    with in_workspace(acme.id):
        assert Draft.objects.get().id == other.id
    with pytest.raises(DraftChanged):
        drafting.save(**where, text="late", version=2)


def test_notes_drafts_and_labels_survive_what_is_done_to_their_conversation(db):
    """A merge shows them where it leads, through a chain of merges; undoing brings them back; nothing is ever deleted."""
    acme = house()
    one, two, three = (write(acme, who, said=who) for who in ("ada", "bob", "cleo"))
    note = noting.write(workspace_id=acme.id, thread_id=one.thread_id, text="Paid twice.", author=PAT)
    on_mail = noting.write(workspace_id=acme.id, thread_id=one.thread_id, text="This one.", author=PAT, entry_id=one.id)
    drafting.save(workspace_id=acme.id, thread_id=one.thread_id, author=PAT, text="Dear Ada", version=0)

    def seen(thread_id):
        with in_workspace(acme.id):
            draft = drafting.current(thread_id=thread_id, author=PAT)
            return set(labels.notes(thread_id)), draft and draft.text

    first = merge(acme, one.thread_id, two.thread_id)
    second = merge(acme, two.thread_id, three.thread_id)
    assert seen(three.thread_id) == ({note, on_mail}, "Dear Ada")
    saved = drafting.save(workspace_id=acme.id, thread_id=three.thread_id, author=PAT, text="Dear all", version=1)
    assert (saved.version, seen(three.thread_id)[1]) == (2, "Dear all")
    undo(acme, second)
    undo(acme, first)
    assert (seen(one.thread_id), seen(two.thread_id)) == (({note, on_mail}, "Dear all"), (set(), None))

    later = write(acme, "ada", cites="ada", said="later")
    parted = split(acme, one.thread_id, one.id)
    assert later.thread_id == one.thread_id
    assert (seen(one.thread_id)[0], seen(parted.target_thread_id)[0]) == ({note}, {on_mail})
    kept = noting.write(workspace_id=acme.id, thread_id=parted.target_thread_id, text="Its own.", author=PAT)
    with pytest.raises(CannotBeUndone, match="Merge it back"):
        undo(acme, parted)
    merge(acme, parted.target_thread_id, one.thread_id)
    assert seen(one.thread_id) == ({note, on_mail, kept}, "Dear all")
