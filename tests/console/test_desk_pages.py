"""A day at the desk in a real browser: read, label, snooze, note, draft, answer, quarantine; and what axe says of it."""

from pathlib import Path

import axe_playwright_python
import pytest

from inbox.models import Draft, Email, Entry, OutboundMessage, Thread, ThreadReadState
from kernel.transactions import in_workspace
from tests.console import seed
from tests.console.test_browser import Watch, said
from tickets.models import Annotation, SavedView, ThreadTag
from tickets.services import answering, tagging

pytestmark = pytest.mark.xdist_group("browser")
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@pytest.fixture
def page(chromium, console, mika):
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    context.add_cookies([{"name": "sessionid", "value": mika.cookies["sessionid"].value, "url": console}])
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.watch = Watch(page, console)
    yield page
    context.close()
    assert page.watch.faults == []


def accessible(page) -> list[str]:
    """The rules of WCAG 2.2 AA that the page breaks, with where; frames of mail are somebody else's words."""
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(AXE)
    found = page.evaluate(
        "(rules) => axe.run({ exclude: [['iframe']] }, { runOnly: { type: 'tag', values: rules } })", _RULES
    )
    return [f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found["violations"]]


def here(world, name) -> str:
    return f"/console/inbox/thread/{world.threads[name].id}/change/"


def count(world, model, **wanted) -> int:
    with in_workspace(world.workspace.id):
        return model.objects.filter(**wanted).count()


@pytest.mark.long
def test_a_conversation_is_read_labelled_noted_drafted_and_answered(page, console, world):
    ws = world.workspace.id
    tag = tagging.create(workspace_id=ws, name="Warranty", color="violet")
    answering.create(workspace_id=ws, name="Sorry", text="Hello {name}, I am sorry about “{subject}”. {me}")
    page.goto(f"{console}/console/inbox/thread/")
    row = page.get_by_role("listitem").filter(has_text="Lamp arrived broken")
    row.get_by_role("img", name="Unread").wait_for()
    assert accessible(page) == []
    row.get_by_role("link").click()
    page.get_by_role("heading", name="Lamp arrived broken").wait_for()
    page.get_by_text("Answers our message, by its signed id").wait_for()
    page.get_by_text("haddad.example vouches for it").first.wait_for()
    assert count(world, ThreadReadState) == 1
    page.get_by_text("Details and why it is here").last.click()
    page.get_by_text("proven by the signed token").wait_for()
    page.keyboard.press("l")
    page.get_by_role("button", name="Warranty").click()
    said(page, "Done.")
    assert count(world, ThreadTag, tag=tag) == 1
    page.keyboard.press("n")
    page.get_by_label("For colleagues only").fill("She bought three lamps.")
    page.get_by_role("button", name="Keep the note").click()
    said(page, "the customer does not see it")
    with in_workspace(ws):
        assert Annotation.objects.filter(body="She bought three lamps.", author_label="Mika Lindgren").exists()
        assert not OutboundMessage.objects.filter(entry__body_text__contains="three lamps").exists()
    page.get_by_label("Insert a canned answer").select_option("Sorry")
    box = page.get_by_label("Reply to nora@haddad.example")
    assert box.input_value() == "Hello Nora Haddad, I am sorry about “Lamp arrived broken”. Mika Lindgren"
    page.get_by_text("Draft kept").wait_for()
    # Another device of hers has the same draft, goes on with it, and the first one is told before it writes over that.
    other = page.context.new_page()
    other.goto(console + here(world, "lamp"))
    theirs = other.get_by_label("Reply to nora@haddad.example")
    assert theirs.input_value().startswith("Hello Nora Haddad")
    theirs.fill("Hello Nora, from my phone.")
    other.get_by_text("Draft kept").wait_for()
    other.close()
    page.watch.faults.clear()
    box.press_sequentially("!")
    page.get_by_text("changed on another device").wait_for()
    page.watch.faults.clear()
    with in_workspace(ws):
        assert Draft.objects.get().text == "Hello Nora, from my phone."
    page.reload()
    page.get_by_role("button", name="Send reply").click()
    said(page, "Your reply is on its way.")
    assert count(world, Draft) == 0
    assert accessible(page) == []


def test_views_snooze_assign_and_bulk(page, console, world):
    ws = world.workspace.id
    tag = tagging.create(workspace_id=ws, name="Press", color="blue")
    page.goto(console + here(world, "people"))
    page.keyboard.press("s")
    page.get_by_role("button", name="Until tomorrow morning").click()
    said(page, "Done.")
    with in_workspace(ws):
        assert Thread.objects.get(id=world.threads["people"].id).status == "snoozed"
    page.goto(f"{console}/console/inbox/thread/?view=snoozed")
    page.get_by_role("link", name="Snoozed 1").wait_for()
    page.get_by_label("Choose Wholesale prices").check()
    page.get_by_role("button", name="Label Press").click()
    said(page, "Done for 1 conversation.")
    page.goto(f"{console}/console/inbox/thread/?view=all&tag={tag.id}")
    assert page.get_by_role("listitem").filter(has_text="Wholesale prices").count() == 1
    page.get_by_text("Save as a view").click()
    page.get_by_label("Name").fill("Press mail")
    page.get_by_label("For everybody").check()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Press mail 1").click()
    with in_workspace(ws):
        assert SavedView.objects.get(name="Press mail").filter == {"tag_id": str(tag.id)}
    page.get_by_label("Choose all on this page").check()
    page.get_by_role("button", name="Assign to me").click()
    said(page, "Done for 1 conversation.")
    page.goto(console + here(world, "people"))
    page.get_by_role("button", name="Reopen").click()
    said(page, "Done.")
    with in_workspace(ws):
        thread = Thread.objects.select_related("assignee").get(id=world.threads["people"].id)
        assert (thread.status, thread.assignee.user_id) == ("open", world.owner.id)


def test_quarantine_is_explained_and_a_mail_read_again(page, console, world):
    page.goto(f"{console}/console/inbox/inboundmessage/{world.extra['quarantined'].id}/change/")
    page.get_by_text("Why it was put aside").wait_for()
    assert accessible(page) == []
    with in_workspace(world.workspace.id):
        entry = Entry.objects.filter(thread=world.threads["gift"], direction="inbound").get()
        Entry.objects.filter(id=entry.id).update(body_text="garbled", extracted_text="garbled")
    page.goto(console + here(world, "gift"))
    page.get_by_text("garbled").first.wait_for()
    page.get_by_text("Details and why it is here").click()
    page.get_by_role("link", name="Read again").click()
    page.get_by_role("heading", name="Body text").wait_for()
    assert accessible(page) == []
    page.get_by_role("button", name="Take over what differs").click()
    page.get_by_text("Do you offer gift wrapping").first.wait_for()
    with in_workspace(world.workspace.id):
        assert Entry.objects.get(id=entry.id).body_text.startswith("Do you offer")
        assert Email.objects.get(id=entry.email_id).subject == "Gift wrapping?"


@pytest.mark.parametrize(("width", "theme"), [(390, "dark")])
def test_axe_finds_nothing_on_a_phone_in_the_dark(chromium, console, world, mika, width, theme):
    context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=theme)
    context.add_cookies([{"name": "sessionid", "value": mika.cookies["sessionid"].value, "url": console}])
    page = context.new_page()
    for path in ("/console/inbox/thread/", here(world, "lamp"), here(world, "suspicious"), "/console/approvals/"):
        page.goto(console + path)
        assert accessible(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    context.close()


def test_a_member_without_the_permission_sees_no_buttons_and_is_refused(world, client):
    reader = seed.person("ro@lindgren.example")
    seed.member(reader, world.workspace, "thread.read", "workspace.read")
    client.force_login(reader)
    thread = world.threads["lamp"]
    shown = client.get(here(world, "lamp")).content.decode()
    assert "Lamp arrived broken" in shown
    for word in ("Keep the note", "Send reply", "Snooze", "Read again"):
        assert word not in shown
    posts = {
        f"/console/threads/{thread.id}/note/": {"note": "x"},
        f"/console/threads/{thread.id}/tend/": {"deed": "closed"},
        f"/console/threads/{thread.id}/draft/": {"text": "x", "version": "0"},
        "/console/inbox/thread/": {"thread": str(thread.id), "deed": "closed"},
        f"/console/emails/{thread.id}/reparse/": {},
    }
    for path, body in posts.items():
        assert client.post(path, body).status_code == 403, path
    client.post("/console/threads/views/", {"name": "x", "status": "open", "shared": "1"})
    with in_workspace(world.workspace.id):
        assert not SavedView.objects.filter(name="x").exists()
        assert Thread.objects.get(id=thread.id).status == "open"
    client.post("/console/threads/views/", {"name": "mine", "status": "open"})
    with in_workspace(world.workspace.id):
        assert SavedView.objects.get(name="mine").owner.user_id == reader.id
