"""Merge, split, move, and undo: counters, participants, turns and the placing of later mail stay right, and come back."""

import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction

from audit.models import AuditEvent
from inbox.models import Entry, Thread, ThreadChange, ThreadParticipant
from inbox.services import rearranging, undoing
from inbox.services.rearranging import AlreadyMerged, NothingLeft, SameConversation
from inbox.services.undoing import AlreadyUndone, CannotBeUndone
from kernel.errors import DomainError, Invalid, NotFound
from kernel.idempotency import KeyReused
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tests.factories.world import deliver, hand_in, house, mail
from tests.inbox.rows import conversations, row_hash
from tests.inbox.talk import answer, aside, broken, sent_id, talk, thread, write


def merge(place, one, other, key=""):
    return rearranging.merge(workspace_id=place.id, thread_id=one, into=other, key=key or uuid4().hex)


def split(place, thread_id, *entries, since=None, key=""):
    return rearranging.split(
        workspace_id=place.id, thread_id=thread_id, entry_ids=entries, from_entry=since, key=key or uuid4().hex
    )


def move(place, thread_id, into, *entries, key=""):
    return rearranging.move(
        workspace_id=place.id, thread_id=thread_id, into=into, entry_ids=entries, key=key or uuid4().hex
    )


def undo(place, change):
    return undoing.undo(workspace_id=place.id, change_id=change.id)


def two(place, tag=""):
    """Ada asked, was answered and asked again; Bob asked with Cleo in copy."""
    first = write(place, "ada", said=f"{tag}a1")
    answer(place, first)
    second = write(place, "ada", cites=f"{tag}a1", said=f"{tag}a2")
    third = write(place, "bob", said=f"{tag}b1", cc="cleo@customer.test")
    aside(place, third.thread_id, "Bob is a friend of Ada's")
    return first.thread_id, third.thread_id, (first, second, third)


def addresses(place, thread_id):
    with in_workspace(place.id):
        return set(ThreadParticipant.objects.filter(thread_id=thread_id).values_list("address", "role"))


def test_each_change_keeps_what_is_counted_and_its_undo_is_equal_to_the_row(db, cases):
    """Every change that two conversations allow, alone and after an earlier one of every kind."""
    place = house()
    ada, bob, (first, second, third) = two(place)
    with in_workspace(place.id):
        note = Entry.objects.get(direction="internal")
        reply = Entry.objects.get(direction="outbound")
    changes = {
        "merge": lambda: merge(place, ada, bob),
        "merge the other way": lambda: merge(place, bob, ada),
        "split from the second": lambda: split(place, ada, since=second.id),
        "split the first": lambda: split(place, ada, first.id),
        "split the answer": lambda: split(place, ada, reply.id),
        "split mail from its note": lambda: split(place, bob, third.id),
        "split a note": lambda: split(place, bob, note.id),
        "move mail": lambda: move(place, ada, bob, second.id),
        "move mail and answer": lambda: move(place, ada, bob, first.id, reply.id),
        "move a note": lambda: move(place, bob, ada, note.id),
    }
    start, tried = conversations(place.id), 0
    assert broken(place) == {}
    for one, work in changes.items():
        change = work()
        assert broken(place) == {}, one
        assert conversations(place.id) != start, one
        for other, more in changes.items():
            before = conversations(place.id)
            try:
                second_change = more()
            except DomainError:
                assert conversations(place.id) == before, (one, other)
                continue
            assert broken(place) == {}, (one, other)
            if {change.source_thread_id, change.target_thread_id} & {
                second_change.source_thread_id, second_change.target_thread_id,
            }:  # fmt: skip
                with pytest.raises(CannotBeUndone, match="Undo that one first"):
                    undo(place, change)
            undo(place, second_change)
            assert conversations(place.id) == before, (one, other)
            tried += 1
        undo(place, change)
        assert conversations(place.id) == start, one
        tried += 1
    assert tried > 40
    cases("CW-3", tried)


def test_a_merge_shows_both_in_one_and_later_mail_lands_there(db):
    place = house()
    ada, bob, (first, second, third) = two(place)
    cyril = write(place, "cyril", said="c1").thread_id
    merge(place, ada, bob)
    merge(place, bob, cyril)
    assert [len(entries) for entries in talk(place)] == [6]
    assert addresses(place, cyril) >= {
        ("ada@customer.test", "requester"),
        ("bob@customer.test", "requester"),
        ("cleo@customer.test", "cc"),
        ("ada@customer.test", "recipient"),
    }
    # The chain is followed to its end, whoever writes and whatever they cite.
    assert write(place, "ada", cites="a2").thread_id == cyril
    assert write(place, "cleo", cites="b1").thread_id == cyril
    late = answer(place, second)
    assert late.thread_id == cyril
    aside(place, ada, "Found by its old id")
    assert thread(place, cyril).entry_count == 10
    with in_workspace(place.id):
        assert Entry.objects.exclude(thread_id=cyril).count() == 0
        moved = Entry.objects.get(id=first.id).thread_decision
    assert (moved["rule"], moved["origin"]["rule"], moved["before"]["rule"]) == ("merge", "new", "merge")
    assert broken(place) == {}
    del third


def test_a_split_takes_people_out_of_the_conversation(db):
    """Whoever was joined wrongly must not come back by citing it."""
    place = house()
    ada, bob, (_, _, third) = two(place)
    merge(place, bob, ada)
    change = split(place, ada, third.id)
    assert ("bob@customer.test", "requester") not in addresses(place, ada)
    assert ("cleo@customer.test", "cc") not in addresses(place, ada)
    assert ("ada@customer.test", "requester") in addresses(place, ada)
    assert addresses(place, change.target_thread_id) == {
        ("bob@customer.test", "requester"),
        ("cleo@customer.test", "cc"),
    }
    assert write(place, "bob", cites="a1").thread_id not in (ada, change.target_thread_id)
    assert write(place, "bob", cites="b1").thread_id == change.target_thread_id


def test_what_came_since_goes_with_what_it_answers(db):
    place = house()
    ada, bob, (first, second, third) = two(place)
    change = merge(place, bob, ada)
    more = write(place, "cleo", cites="b1")
    reply = answer(place, more)
    again = write(place, "cleo", cites=sent_id(place, reply))
    stays = write(place, "ada", cites="a2")
    assert {more.thread_id, reply.thread_id, again.thread_id, stays.thread_id} == {ada}
    undo(place, change)
    with in_workspace(place.id):
        where = dict(Entry.objects.values_list("id", "thread_id"))
    assert {where[entry.id] for entry in (third, more, reply, again)} == {bob}
    assert {where[entry.id] for entry in (first, second, stays)} == {ada}
    assert broken(place) == {}
    assert ("cleo@customer.test", "requester") in addresses(place, bob)
    assert not {who for who, _ in addresses(place, ada)} & {"cleo@customer.test", "bob@customer.test"}


def test_undoing_a_split_brings_later_mail_along_and_keeps_what_people_set(db):
    place = house()
    ada, _, (first, second, _) = two(place)
    change = split(place, ada, since=second.id)
    later = write(place, "ada", cites="a2")
    assert later.thread_id == change.target_thread_id
    with in_workspace(place.id):
        Thread.objects.filter(id=ada).update(status="spam")
    undo(place, change)
    row = thread(place, ada)
    assert (row.entry_count, row.status) == (4, "spam")
    assert broken(place) == {}
    with in_workspace(place.id):
        assert not Thread.objects.filter(id=change.target_thread_id).exists()
        assert not ThreadParticipant.objects.filter(thread_id=change.target_thread_id).exists()
    del first


def test_turns_follow_their_mails(db):
    place = house()
    ada, bob, (first, second, third) = two(place)
    assert thread(place, ada).first_unanswered_inbound_at == second.occurred_at
    change = move(place, ada, bob, second.id)
    assert thread(place, ada).first_unanswered_inbound_at is None
    assert thread(place, bob).first_unanswered_inbound_at == second.occurred_at
    with in_workspace(place.id):
        Thread.objects.filter(id=ada).update(status="closed")
    undo(place, change)
    # It was closed while its open question was away: the question is not lost out of sight.
    assert thread(place, ada).first_unanswered_inbound_at == second.occurred_at
    assert thread(place, ada).status == "open"
    assert thread(place, bob).first_unanswered_inbound_at == third.occurred_at
    del first


def test_every_refusal_says_what_to_do_and_changes_nothing(db):
    place, other = house("acme"), house("globex")
    ada, bob, (first, second, third) = two(place)
    foreign = write(other, "eve", to="support@globex.test")
    done = merge(place, *two(place, "more-")[:2])
    before = {one.id: row_hash(one.id) for one in (place, other)}
    refused = [
        (SameConversation, lambda: merge(place, ada, ada)),
        (AlreadyMerged, lambda: merge(place, done.source_thread_id, ada)),
        (SameConversation, lambda: merge(place, done.target_thread_id, done.source_thread_id)),
        (AlreadyMerged, lambda: split(place, done.source_thread_id, uuid4())),
        (NotFound, lambda: merge(place, ada, foreign.thread_id)),
        (NotFound, lambda: merge(place, foreign.thread_id, ada)),
        (NotFound, lambda: move(place, ada, foreign.thread_id, first.id)),
        (NotFound, lambda: split(place, foreign.thread_id, foreign.id)),
        (NotFound, lambda: split(place, ada, foreign.id)),
        (NotFound, lambda: split(place, ada, third.id)),
        (NotFound, lambda: undoing.undo(workspace_id=other.id, change_id=done.id)),
        (Invalid, lambda: split(place, ada)),
        (NothingLeft, lambda: split(place, ada, since=first.id)),
        (NothingLeft, lambda: move(place, bob, ada, *talk_of(place, bob))),
        (Invalid, lambda: merge(place, ada, bob, key="x" * 300)),
        (KeyReused, lambda: merge(place, ada, bob, key=done.idempotency_key)),
    ]
    for kind, work in refused:
        with pytest.raises(kind) as raised:
            work()
        assert len(raised.value.detail) > 20
    assert {one.id: row_hash(one.id) for one in (place, other)} == before
    undo(place, done)
    with pytest.raises(AlreadyUndone):
        undo(place, done)
    del second


def talk_of(place, thread_id):
    with in_workspace(place.id):
        return list(Entry.objects.filter(thread_id=thread_id).values_list("id", flat=True))


def test_the_same_key_is_the_same_change_also_at_once(db):
    place = house()
    ada, bob, _ = two(place)

    def once(_):
        try:
            return merge(place, ada, bob, key="k").id
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(once, range(4)))) == 1
    with in_workspace(place.id):
        assert ThreadChange.objects.count() == 1
        assert OutboxEvent.objects.filter(slug="thread.merged").count() == 1


def test_each_change_is_a_fact_and_on_record(db):
    place = house()
    ada, bob, (first, _, _) = two(place)
    done = [split(place, ada, first.id), merge(place, ada, bob)]
    for change in reversed(done):
        undo(place, change)
    undo(place, move(place, ada, bob, first.id))
    with in_workspace(place.id):
        slugs = OutboxEvent.objects.filter(slug__startswith="thread.").order_by("id").values_list("slug", flat=True)
        assert [slug for slug in slugs if slug != "thread.created"] == [
            "thread.split", "thread.merged", "thread.change_undone", "thread.change_undone",
            "thread.entries_moved", "thread.change_undone",
        ]  # fmt: skip
        actions = AuditEvent.objects.filter(action__startswith="thread.").values_list("action", flat=True)
        assert sorted(actions) == sorted(["thread.split", "thread.merge", "thread.move", *["thread.undo"] * 3])


def test_the_database_itself_keeps_merges_from_a_circle(db):
    place = house()
    ids = [write(place, f"p{number}").thread_id for number in range(3)]
    with in_workspace(place.id):
        Thread.objects.filter(id=ids[0]).update(merged_into=ids[1])
        Thread.objects.filter(id=ids[1]).update(merged_into=ids[2])
        for one, into in ((ids[2], ids[0]), (ids[2], ids[1]), (ids[2], ids[2])):
            with pytest.raises(DatabaseError), transaction.atomic():
                Thread.objects.filter(id=one).update(merged_into=into)


def test_two_merges_in_opposite_directions_at_once(db, cases):
    """One wins, the other learns that they are one conversation already. By SQL around the services, none makes a circle."""
    place = house()
    rounds = 12
    for number in range(rounds):
        one, other = write(place, f"a{number}").thread_id, write(place, f"b{number}").thread_id
        ends = race(lambda o=one, t=other: merge(place, o, t), lambda o=one, t=other: merge(place, t, o))
        assert sorted(type(end) is ThreadChange for end in ends) == [False, True], ends
        assert {type(end) for end in ends} <= {ThreadChange, SameConversation, AlreadyMerged}
        assert broken(place) == {}

    def by_hand(one, into):
        with in_workspace(place.id):
            Thread.objects.filter(id=one).update(merged_into=into)

    one, other = write(place, "x").thread_id, write(place, "y").thread_id
    race(lambda: by_hand(one, other), lambda: by_hand(other, one))
    with in_workspace(place.id):
        assert Thread.objects.filter(id__in=[one, other], merged_into=None).exists()
    cases("C11", rounds)


def race(*works):
    """All at once, each with a connection of its own; what each returned or raised."""
    barrier = threading.Barrier(len(works))

    def run(work):
        barrier.wait()
        try:
            return work()
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


def test_mail_that_arrives_during_a_merge_a_split_or_an_undo_is_never_lost(db, cases):
    """Answers to both conversations arrive while these are merged, split and undone again and again."""
    from inbox.services import ingesting

    place = house()
    ada, bob, (_, _, third) = two(place)
    with in_workspace(place.id):
        before = Entry.objects.count()
    mails, rounds = 48, 6
    for number in range(mails):
        who, cited = ("ada", "a1") if number % 2 else ("bob", "b1")
        hand_in(mail(sender=f"{who}@customer.test", in_reply_to=f"<{cited}@customer.test>"))

    def rearrange():
        for _ in range(rounds):
            undo(place, merge(place, bob, ada))
            undo(place, split(place, bob, third.id))

    ends = race(rearrange, ingesting.process_all, ingesting.process_all)
    ingesting.process_all()
    assert [end for end in ends if isinstance(end, Exception)] == []
    assert broken(place) == {}
    with in_workspace(place.id):
        assert Entry.objects.count() == before + mails
        by_sender = {}
        rows = Entry.objects.filter(direction="inbound").select_related("email")
        for entry in rows:
            by_sender.setdefault(entry.email.from_address, set()).add(entry.thread_id)
        assert by_sender["ada@customer.test"] == {ada}
        assert by_sender["bob@customer.test"] == {bob}
        assert Thread.objects.count() == 2
    cases("C11", rounds * 2)


def test_a_reply_that_is_written_during_a_merge_is_in_the_right_conversation(db):
    place = house()
    ada, bob, (_, _, third) = two(place)
    for _ in range(6):
        change, reply = race(lambda: merge(place, bob, ada), lambda: answer(place, third))
        assert isinstance(reply, Entry), reply
        with in_workspace(place.id):
            assert Entry.objects.get(id=reply.id).thread_id == ada
        assert broken(place) == {}
        ends = race(lambda c=change: undo(place, c), lambda: answer(place, third))
        assert not [end for end in ends if isinstance(end, Exception)], ends
        with in_workspace(place.id):
            assert set(Entry.objects.filter(in_reply_to=third).values_list("thread_id", flat=True)) == {bob}
        assert broken(place) == {}


def test_a_merged_conversation_of_another_inbox_takes_what_still_comes_to_the_old_address(db):
    """DH-3: who the conversation belongs to beats the address that was written to."""
    from inbox.services import inboxes

    place = house()
    sales = inboxes.open_inbox(workspace_id=place.id, address="sales@acme.test")
    old = write(place, "ada", said="a1")
    deliver(mail(sender="bob@customer.test", to="sales@acme.test"), "sales@acme.test")
    with in_workspace(place.id):
        target = Thread.objects.get(inbox=sales)
    merge(place, old.thread_id, target.id)
    later = write(place, "ada", cites="a1")
    assert (later.thread_id, later.inbox_id) == (target.id, place.inbox.id)
