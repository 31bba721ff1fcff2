"""Who writes from the console writes to whom the page says, about what they have read, in the workspace that they look at."""

import re
import uuid
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils.html import escape

from audit.models import AuditEvent
from inbox.models import Draft, Email, Entry, Inbox, OutboundMessage, Thread
from inbox.services import rearranging, tending, writing
from inbox.types import ThreadStatus
from kernel import clock
from kernel.context import Actor
from kernel.errors import Conflict, Invalid
from kernel.transactions import in_workspace
from tenancy.models import Membership
from tenancy.queries import control
from tenancy.services import describing, leaving, teams
from tests.console import seed
from tests.console.conftest import signed_in
from tests.factories.world import deliver, house, mail
from tests.webhooks.conftest import drain
from tickets.models import Annotation
from webhooks.models import Webhook


def page_of(thread) -> str:
    return reverse("admin:inbox_thread_change", args=[thread.id])


def form(client, thread) -> dict[str, str]:
    """The hidden fields of the page's reply box."""
    page = client.get(page_of(thread)).content.decode()
    box = page[page.index("data-reply") : page.index("</form>", page.index("data-reply"))]
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', box))


def reply(client, thread, body):
    where = {"next": page_of(thread)}
    return client.post(reverse("admin:thread_reply", args=[thread.id]), body | where, follow=True).content.decode()


def add(
    world, thread, text="And one more thing: it is order 4712.", sender=("Nora Haddad", "nora@haddad.example"), **more
):
    with in_workspace(world.workspace.id):
        return seed.inbound(world, "Re: Lamp", text, sender=sender, at=clock.now(), thread=thread, **more)


def sent(world, thread) -> list[OutboundMessage]:
    with in_workspace(world.workspace.id):
        return list(OutboundMessage.objects.filter(entry__thread=thread).order_by("created_at"))


# --- about what they have read ----------------------------------------------------------------------------------------


def test_what_came_since_the_page_was_opened_is_read_before_a_reply_leaves(mika, world):
    thread = world.threads["lamp"]
    before, opened = len(sent(world, thread)), form(mika, thread)
    late = add(world, thread, state="threaded")
    said = reply(mika, thread, opened | {"text": "We send a new one."})
    assert "The conversation has gone on since you opened it" in said
    assert "We send a new one." in said, "the words are there again"
    assert len(sent(world, thread)) == before
    with in_workspace(world.workspace.id):
        assert Email.objects.get(id=late.email_id).state == "threaded"
    assert "on its way" in reply(mika, thread, form(mika, thread) | {"text": "We send a new one, for 4712."})
    assert len(sent(world, thread)) == before + 1
    with in_workspace(world.workspace.id):
        assert not Draft.objects.filter(thread=thread).exists()


def test_of_two_who_have_the_page_open_one_answers(mika, world):
    thread = world.threads["lamp"]
    before = len(sent(world, thread))
    one, other = form(mika, thread), form(mika, thread)
    assert "on its way" in reply(mika, thread, one | {"text": "From one."})
    assert "gone on since" in reply(mika, thread, other | {"text": "From the other."})
    assert "on its way" in reply(mika, thread, one | {"text": "From one."}), "a second click is the same reply"
    assert len(sent(world, thread)) == before + 1


def test_a_note_of_a_colleague_is_nothing_new(mika, world):
    thread = world.threads["lamp"]
    opened = form(mika, thread)
    mika.post(reverse("admin:thread_note", args=[thread.id]), {"note": "He is a friend."})
    assert "on its way" in reply(mika, thread, opened | {"text": "Yes."})


# --- to whom the page says --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply_to", "goes_to", "words"),
    [
        ([], "forms@shop.example", ""),
        (["orders@shop.example"], "orders@shop.example", "as the sender asks"),
        (["nora@gmail.example"], "forms@shop.example", "That is another domain, so they go to forms@shop.example"),
        (["x@elsewhere.example", "orders@shop.example"], "forms@shop.example", "so they go to forms@shop.example"),
        (["forms@shop.example"], "forms@shop.example", ""),
    ],
)
def test_the_page_names_the_one_who_gets_the_reply(mika, world, reply_to, goes_to, words):
    with in_workspace(world.workspace.id):
        asked = seed.inbound(
            world, "A form", "Hello", sender=("Forms", "forms@shop.example"), at=clock.now(),
            mail={"reply_to": [{"name": "", "address": address} for address in reply_to]},
        )  # fmt: skip
    page = mika.get(page_of(asked.thread)).content.decode()
    assert f"Reply to {goes_to}<" in page
    assert words in page
    assert ("as the sender asks" in page, "That is another domain" in page) == (
        "as the sender" in words,
        "so they go" in words,
    )
    reply(mika, asked.thread, form(mika, asked.thread) | {"text": "Yes."})
    assert [row.envelope_to for row in sent(world, asked.thread)] == [[goes_to]]


@pytest.mark.parametrize("kind", ["bounce", "self"])
def test_a_report_and_our_own_mail_are_nobody_to_answer(mika, world, kind):
    thread = world.threads["lamp"]
    report = add(world, thread, "Delayed", sender=("Mailer", "mailer-daemon@relay.example"))
    with in_workspace(world.workspace.id):
        Entry.objects.filter(id=report.id).update(mail_class=kind)
    assert "Reply to nora@haddad.example<" in mika.get(page_of(thread)).content.decode()
    assert "on its way" in reply(mika, thread, form(mika, thread) | {"text": "Yes."})
    assert sent(world, thread)[-1].envelope_to == ["nora@haddad.example"]


def note(client, thread, **body):
    return client.post(reverse("admin:thread_note", args=[thread.id]), body, follow=True)


def note_box(page: str) -> str:
    return page[page.index("c-note-box") : page.index("</details>", page.index("c-note-box"))]


@pytest.mark.parametrize(
    ("words", "who", "why"),
    [
        ("  \n ", "nia", "Write something, in 50000 characters at most."),
        ("<b>Long</b> " * 5000, "nia", "Write something, in 50000 characters at most."),
        ("<b>Paid</b> twice.", "gone", "Mention up to 20 active members of this workspace."),
        ("<b>Paid</b> twice.", "no id", "The form is incomplete."),
    ],
)
def test_a_note_that_is_refused_is_in_its_box_again(mika, world, words, who, why):
    """And in no other: what stands in the box of the reply goes to the customer."""
    names = {name: seed.person(f"{name}@x.example", name=name) for name in ("nia", "gone")}
    members = {name: str(seed.member(user, world.workspace).id) for name, user in names.items()}
    leaving.suspend(workspace_id=world.workspace.id, membership_id=uuid.UUID(members["gone"]))
    thread = world.threads["lamp"]
    refused = note(mika, thread, note=words, mention=members.get(who, who))
    page = refused.content.decode()
    box = note_box(page)
    assert refused.status_code == 422
    assert (why in box, "open" in box[:20], escape(words) + "</textarea>" in box) == (True, True, True)
    assert (f'value="{members["nia"]}" selected' in box) is (who == "nia")
    assert page.count(escape(words)) == 1 or not words.strip()
    with in_workspace(world.workspace.id):
        assert not Draft.objects.exists()
        assert not Annotation.objects.filter(thread_id=thread.id, body__contains="twice").exists()
        event = AuditEvent.objects.filter(action="console.thread_note.submit").last()
        assert (event.outcome, event.resource_id) == ("failed", str(thread.id))
    # From that page, whose address is that of the form.
    came_from = {"referer": f"http://testserver{reverse('admin:thread_note', args=[thread.id])}"}
    kept = mika.post(refused.request["PATH_INFO"], {"note": "Shorter."}, headers=came_from, follow=True)
    assert kept.redirect_chain[-1] == (page_of(thread), 302)
    assert b"Your note is kept" in kept.content
    assert "Shorter." not in note_box(kept.content.decode())


def test_a_note_in_a_conversation_that_was_merged_meanwhile_is_in_the_box_of_the_other(mika, world):
    thread, into = world.threads["lamp"], world.threads["people"]
    rearranging.merge(workspace_id=world.workspace.id, thread_id=thread.id, into=into.id, key="k")
    page = note(mika, thread, note="Paid twice.", mention=str(uuid.uuid4())).content.decode()
    assert "Paid twice.</textarea>" in note_box(page)
    assert reverse("admin:thread_note", args=[into.id]) in note_box(page)


def test_who_lost_the_permission_or_went_elsewhere_can_copy_what_they_wrote(mika, world):
    reader = seed.person("ro@x.example")
    seed.member(reader, world.workspace, "thread.read")
    there = signed_in(reader)
    thread = world.threads["lamp"]
    refused = note(there, thread, note="<b>Paid</b> twice.")
    elsewhere = note(mika, thread, note="<b>Paid</b> twice.", of_workspace=str(uuid.uuid4()))
    for answer, status in ((refused, 403), (elsewhere, 409)):
        assert answer.status_code == status
        assert "&lt;b&gt;Paid&lt;/b&gt; twice.</textarea>" in answer.content.decode()
    assert "<textarea" not in there.get(reverse("admin:thread_note", args=[thread.id])).content.decode()


def test_a_note_without_a_mention_is_kept_beside_colleagues(mika, world):
    seed.member(seed.person("nia@x.example", name="Nia"), world.workspace, "thread.read")
    thread = world.threads["lamp"]
    page = mika.get(page_of(thread)).content.decode()
    assert '<option value="">Nobody</option>' in page
    kept = mika.post(reverse("admin:thread_note", args=[thread.id]), {"note": "Call her.", "mention": ""}, follow=True)
    assert b"Your note is kept" in kept.content
    with in_workspace(world.workspace.id):
        assert Annotation.objects.filter(thread_id=thread.id, body="Call her.").exists()


def test_enter_in_a_field_of_a_question_approves_nothing(mika, world):
    """Enter presses the first button of its form; that one can do nothing."""
    for page in (mika.get("/console/approvals/"), mika.get(page_of(world.threads["gift"]))):
        forms = re.findall(r'<form[^>]*id="approve-.*?</form>', page.content.decode(), re.DOTALL)
        assert forms
        for each in forms:
            first = re.search(r"<button[^>]*>", each).group()
            assert " disabled" in first
            assert "c-btn" not in first, "the script gives those back"


# --- in the workspace that they look at -------------------------------------------------------------------------------


@pytest.fixture
def elsewhere(mika, world):
    """Mika has gone to another workspace of hers in another tab; the form is of the first."""
    second = seed.workspace("Second Shop", world.owner, "second.example")
    mika.post(reverse("admin:choose_workspace"), {"workspace": str(second.workspace.id)})
    return second


def test_a_form_of_another_workspace_does_nothing_here(mika, world, elsewhere):
    of = {"of_workspace": str(world.workspace.id)}
    settings = {"members_see_team_inboxes_only": "on"}
    webhook = {"label": "ERP", "url": "https://erp.example/hook", "slugs": "email.*", "headers": "{}"}
    for url, body in (
        (reverse("admin:emergency_stop"), {"reason": "hands off"}),
        (reverse("admin:emergency_release"), {}),
        (reverse("admin:workspace_settings_change"), settings),
        (reverse("admin:webhooks_webhook_add"), webhook),
    ):
        answer = mika.post(url, body | of)
        assert (answer.status_code, b"Nothing was done" in answer.content) == (409, True), url
    assert not control.state(elsewhere.workspace.id).stopped
    with in_workspace(elsewhere.workspace.id):
        assert not Webhook.objects.exists()
    here = {"of_workspace": str(elsewhere.workspace.id)}
    assert mika.post(reverse("admin:emergency_stop"), {"reason": "hands off"} | here).status_code == 302
    assert control.state(elsewhere.workspace.id).stopped
    assert not control.state(world.workspace.id).stopped


def test_going_back_is_no_form_of_another_workspace(mika, world, elsewhere):
    choice = {"workspace": str(world.workspace.id), "of_workspace": str(uuid.uuid4())}
    assert mika.post(reverse("admin:choose_workspace"), choice).status_code == 302
    assert "Lindgren Lamps" in mika.get("/console/").content.decode()


def test_the_forms_without_an_id_say_where_they_are_of(mika, world):
    marks = f'name="of_workspace" value="{world.workspace.id}"'
    assert mika.get("/console/settings/").content.decode().count(marks) == 2, "the settings, and the stop in the header"
    assert f'data-workspace="{world.workspace.id}"' in mika.get("/console/").content.decode()


# --- nothing falls between people -------------------------------------------------------------------------------------


@pytest.fixture
def apart(world):
    """Members see the inboxes of their teams only, and Nia's team has another inbox than that of the lamp."""
    with in_workspace(world.workspace.id):
        quiet = Inbox.objects.create(
            workspace=world.workspace, address="quiet@lindgren.example", address_normalized="quiet@lindgren.example"
        )
    nia = seed.member(seed.person("nia@x.example", name="Nia"), world.workspace, "thread.read", "thread.manage")
    teams.create(workspace_id=world.workspace.id, name="Quiet", membership_ids=[nia.id], inbox_ids=[quiet.id])
    describing.decide(workspace_id=world.workspace.id, changes={"members_see_team_inboxes_only": True})
    return nia, quiet


def test_nothing_is_given_to_somebody_who_does_not_see_it(world, apart):
    nia, _ = apart
    give = {"workspace_id": world.workspace.id, "thread_id": world.threads["lamp"].id, "membership_id": nia.id}
    with pytest.raises(Invalid, match="does not see the inbox"):
        tending.assign(**give)
    describing.decide(workspace_id=world.workspace.id, changes={"members_see_team_inboxes_only": False})
    assert tending.assign(**give).assignee_id == nia.id


@pytest.mark.parametrize("leave", [leaving.suspend, leaving.remove])
def test_what_was_theirs_is_in_sight_again_when_they_leave(world, leave):
    nia = seed.member(seed.person("nia@x.example", name="Nia"), world.workspace, "thread.read")
    mine = {"workspace_id": world.workspace.id}
    for name in ("lamp", "gift"):
        tending.assign(**mine, thread_id=world.threads[name].id, membership_id=nia.id)
    tending.set_status(**mine, thread_id=world.threads["gift"].id, status=ThreadStatus.CLOSED)
    leave(**mine, membership_id=nia.id)
    drain()
    with in_workspace(world.workspace.id):
        assert not Thread.objects.filter(assignee_id=nia.id).exists()
        assert Membership.objects.filter(id=nia.id).exists()


def test_a_conversation_stays_in_its_inbox_where_members_see_only_theirs(world, apart):
    _, quiet = apart
    with in_workspace(world.workspace.id):
        other = seed.inbound(
            world, "Lamp", "Again", sender=("Nora Haddad", "nora@haddad.example"), at=clock.now()
        ).thread
        Thread.objects.filter(id=other.id).update(inbox=quiet)
        Entry.objects.filter(thread=other).update(inbox=quiet)
    merge = {"workspace_id": world.workspace.id, "thread_id": other.id, "into": world.threads["lamp"].id}
    with pytest.raises(Conflict, match="different inboxes"):
        rearranging.merge(**merge, key="one")
    describing.decide(workspace_id=world.workspace.id, changes={"members_see_team_inboxes_only": False})
    rearranging.merge(**merge, key="two")


def test_a_conversation_that_rests_wakes_when_a_question_is_merged_into_it(db):
    """Its time goes with its sleep, whichever way a turn opens: by mail, by a merge, by what is moved out of it."""
    place = house()
    deliver(mail())
    with in_workspace(place.id):
        resting = Thread.objects.get()
        answered = Entry.objects.get()
    writing.reply(
        workspace_id=place.id, email_id=answered.email_id, text="Yes.", key="k", author=Actor("user", "1", "Mika")
    )
    tending.snooze(workspace_id=place.id, thread_id=resting.id, until=clock.now() + timedelta(days=2))
    deliver(mail(subject="Something else"))
    with in_workspace(place.id):
        other = Thread.objects.exclude(id=resting.id).get()
    rearranging.merge(workspace_id=place.id, thread_id=other.id, into=resting.id, key="m")
    with in_workspace(place.id):
        row = Thread.objects.get(id=resting.id)
    assert (row.status, row.snoozed_until) == (ThreadStatus.OPEN, None)
