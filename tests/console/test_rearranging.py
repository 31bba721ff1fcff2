"""Split, merge, move and undo by a person: plain forms that call the services, for those who may."""

from uuid import uuid4

from django.urls import reverse

from inbox.models import CircuitBreaker, Entry, Thread, ThreadChange
from kernel import clock
from kernel.transactions import in_workspace
from tests.console import seed
from tests.console.conftest import signed_in


def arrange(world, name="lamp"):
    return reverse("admin:thread_rearrange", args=[world.threads[name].id])


def post(client, name, thread, **fields):
    url = reverse(f"admin:{name}", args=[thread.id])
    return client.post(url, {"key": uuid4(), **fields}, follow=True).content.decode()


def entries(world, thread):
    with in_workspace(world.workspace.id):
        return list(Entry.objects.filter(thread=thread).order_by("seq").values_list("id", flat=True))


def test_a_person_splits_merges_moves_and_undoes(mika, world):
    lamp, other = world.threads["lamp"], world.threads["answered"]
    ids = entries(world, lamp)
    page = mika.get(arrange(world)).content.decode()
    assert page.count('name="entry"') == len(ids)
    assert "Choose a conversation" in post(mika, "thread_merge", lamp, into="")
    assert "Split off" in post(mika, "thread_split", lamp, entry=[ids[-1]])
    assert "Moved" in post(mika, "thread_move", lamp, entry=[ids[0]], into=other.id)
    assert ids[0] in entries(world, other)
    # A pasted address of a page does as well.
    pasted = f"https://host/console/inbox/thread/{other.id}/change/?x=1"
    assert "Merged" in post(mika, "thread_merge", lamp, into_other=pasted)
    assert entries(world, lamp) == []
    old = mika.get(reverse("admin:inbox_thread_change", args=[lamp.id]))
    assert old["Location"] == reverse("admin:inbox_thread_change", args=[other.id])
    with in_workspace(world.workspace.id):
        changes = list(ThreadChange.objects.exclude(id=world.extra["change"].id).order_by("-made_at"))
        assert {change.actor_label for change in changes} == {str(world.owner)}
    first = changes[-1]
    undo = reverse("admin:thread_change_undo", args=[first.id])
    assert "Undo that one first" in mika.post(undo, follow=True).content.decode()
    for change in changes:
        undo = reverse("admin:thread_change_undo", args=[change.id])
        assert "Undone" in mika.post(undo, follow=True).content.decode()
    assert entries(world, lamp) == ids


def test_who_may_not_change_conversations_may_not_rearrange_them(world):
    reader = seed.person("reader@x.example")
    seed.member(reader, world.workspace, "thread.read", "workspace.read")
    client, lamp = signed_in(reader), world.threads["lamp"]
    assert client.get(reverse("admin:inbox_thread_change", args=[lamp.id])).status_code == 200
    assert client.get(arrange(world)).status_code == 403
    for name in ("thread_merge", "thread_split", "thread_move"):
        assert client.post(reverse(f"admin:{name}", args=[lamp.id]), {"key": uuid4()}).status_code == 403
    with in_workspace(world.workspace.id):
        assert [change.id for change in ThreadChange.objects.all()] == [world.extra["change"].id]
        assert not Thread.objects.exclude(merged_into=None).exists()


def test_an_open_breaker_is_seen_and_closed(mika, world):
    now = clock.now()
    with in_workspace(world.workspace.id):
        inbox = world.threads["lamp"].inbox
        breaker = CircuitBreaker.objects.create(
            workspace_id=world.workspace.id, inbox=inbox, scope="sender", key="robot@loop.example", opened_at=now,
            open_until=now.replace(year=now.year + 1), last_held_at=now,
        )  # fmt: skip
    url = reverse("admin:inbox_circuitbreaker_changelist")
    assert "robot@loop.example" in mika.get(url).content.decode()
    assert "Automatic answers stopped." in mika.get(reverse("admin:index")).content.decode()
    mika.post(url, {"action": "close", "_selected_action": [breaker.id]})
    with in_workspace(world.workspace.id):
        assert CircuitBreaker.objects.get(id=breaker.id).closed_by
