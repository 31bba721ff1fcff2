"""The day of a person at the console, in a real browser on a real server."""

from pathlib import Path

import pytest

from agents.models import ApprovalRequest
from kernel.transactions import in_workspace
from tenancy.queries import control
from tests.console import seed
from tests.console.seed import PASSWORD
from webhooks.models import WebhookDelivery

CONTRAST = (Path(__file__).parent / "contrast.js").read_text()

pytestmark = pytest.mark.xdist_group("browser")


class Watch:
    """What a page must never do: complain, break its policy, or ask anybody else for anything."""

    def __init__(self, page, address):
        self.faults = []
        self.address = address
        page.on("console", lambda m: self.faults.append(f"console {m.type}: {m.text}") if m.type == "error" else None)
        page.on("pageerror", lambda error: self.faults.append(f"script error: {error}"))
        page.on("request", self._ask)
        page.on("response", lambda r: self.faults.append(f"{r.status} {r.url}") if r.status >= 400 else None)

    def _ask(self, request):
        if not request.url.startswith((self.address, "data:", "blob:", "about:")):
            self.faults.append(f"a request to another host: {request.url}")


@pytest.fixture
def page(chromium, console):
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.watch = Watch(page, console)
    page.goto(f"{console}/")
    yield page
    context.close()
    assert page.watch.faults == []


def sign_in(page, email="mika@lindgren.example", *, greeting="What needs a person"):
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("heading", name=greeting).wait_for()


def said(page, text):
    page.get_by_text(text).first.wait_for()


def approval(world, name):
    with in_workspace(world.workspace.id):
        return ApprovalRequest.objects.get(id=world.approvals[name].id)


@pytest.mark.long
def test_the_main_path(page, world):
    """Sign in, look, read, decide three times, replay a delivery and a quarantined mail, read an event."""
    assert page.url.endswith("/console/login/?next=/console/")
    sign_in(page)
    page.get_by_role("link", name="Conversations").first.click()
    page.get_by_role("listitem").filter(has_text="Lamp arrived broken").click()
    page.get_by_role("heading", name="Lamp arrived broken").wait_for()
    page.get_by_text("Show trimmed text").click()
    page.locator("summary", has_text="Original formatting").first.click()
    frame = page.frame_locator("iframe").first
    frame.get_by_text("Lindgren floor lamp").wait_for()
    page.get_by_role("button", name="Approve and send").click()
    said(page, "Approved; the agent sends it now.")
    assert approval(world, "lamp").state == "approved"

    page.get_by_role("link", name="Approvals").first.click()
    card = page.locator(f"#approval-{world.approvals['gift'].id}")
    card.get_by_role("button", name="Edit first").click()
    card.get_by_label("What the customer will read").fill("Hello Aiko,\n\nyes, we do.\n\nKind regards")
    card.get_by_label("Comment for the record").fill("price removed")
    card.get_by_role("button", name="Approve with changes").click()
    said(page, "Approved with your changes; the agent sends it now.")
    decided = approval(world, "gift")
    assert (decided.edited, decided.comment, decided.decided_by_label) == (True, "price removed", "Mika Lindgren")
    assert decided.snapshot["text"] == "Hello Aiko,\n\nyes, we do.\n\nKind regards"

    card = page.locator(f"#approval-{world.approvals['bank'].id}")
    card.get_by_role("button", name="Reject").click()
    said(page, "Rejected; nothing is sent.")
    assert approval(world, "bank").state == "rejected"
    page.get_by_role("heading", name="No agent asks for anything").wait_for()

    page.get_by_role("link", name="Webhooks").first.click()
    page.get_by_role("link", name="Order system").first.click()
    page.locator(".c-row", has_text="failed").first.click()
    page.get_by_text("Answer", exact=True).first.click()
    page.get_by_role("button", name="Replay this delivery").click()
    said(page, "The event is delivered again")
    with in_workspace(world.workspace.id):
        assert WebhookDelivery.objects.filter(replay_no=1).count() == 1

    page.get_by_role("link", name="Quarantine").first.click()
    page.get_by_role("link", name="bulk@letters.example").click()
    page.get_by_role("button", name="Read it again").click()
    page.locator("#main").get_by_text("read again", exact=False).first.wait_for()
    page.get_by_role("link", name="Events").first.click()
    page.get_by_role("link", name="email.received").first.click()
    page.get_by_role("heading", name="What integrators get").wait_for()


def test_bulk_replay_and_a_human_reply(page, world):
    sign_in(page)
    page.goto(f"{page.watch.address}/console/webhooks/webhookdelivery/?view=failed")
    for box in page.locator("input.action-select").all()[:3]:
        box.check()
    page.locator("select[name=action]").select_option("replay")
    page.get_by_role("button", name="Run").click()
    said(page, "deliveries are sent again")
    page.goto(f"{page.watch.address}/console/inbox/thread/{world.threads['lamp'].id}/change/")
    page.get_by_label("Reply to nora@haddad.example").fill("Hello Nora, a new lamp leaves today. Mika")
    page.get_by_role("button", name="Send reply").click()
    said(page, "Your reply is on its way.")
    page.get_by_text("a new lamp leaves today").first.wait_for()


def test_palette_and_keyboard(page, world):
    """Ctrl K finds a conversation; j and Enter walk the list."""
    sign_in(page)
    page.keyboard.press("Control+k")
    page.locator("#search-input-command").press_sequentially("broken")
    page.locator("#command-results-list").get_by_text("Lamp arrived broken").first.wait_for()
    page.keyboard.press("Escape")
    page.goto(f"{page.watch.address}/console/inbox/thread/")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Lamp arrived broken").wait_for()


@pytest.mark.long
def test_a_role_is_edited_and_holds_at_the_next_click(page, chromium, console, world):
    """The owner makes a role, gives it to a member who is signed in, and takes a permission from it again."""
    seed.member(seed.person("bo@lindgren.example", name="Bo Berg"), world.workspace, "workspace.read")
    others = chromium.new_context()
    bo = others.new_page()
    bo.goto(f"{console}/console/login/")
    sign_in(bo, "bo@lindgren.example", greeting="Nothing waits for you")
    assert bo.goto(f"{console}/console/audit/auditevent/").status == 403
    sign_in(page)
    page.get_by_role("link", name="Roles").first.click()
    page.get_by_title("Add role").click()
    page.get_by_label("Name").fill("Night shift")
    page.get_by_label("audit.read: See and verify the audit trail").check()
    page.get_by_label("Bo Berg (bo@lindgren.example)").check()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Night shift").first.wait_for()
    assert bo.goto(f"{console}/console/audit/auditevent/").status == 200
    page.get_by_role("link", name="Night shift").first.click()
    page.get_by_label("audit.read: See and verify the audit trail").uncheck()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Night shift").first.wait_for()
    assert bo.goto(f"{console}/console/audit/auditevent/").status == 403
    page.goto(f"{console}/console/tenancy/role/?q=owner")
    page.get_by_role("link", name="owner").first.click()
    page.get_by_label("Mika Lindgren (mika@lindgren.example)").uncheck()
    page.get_by_role("button", name="Save", exact=True).click()
    said(page, "A workspace keeps at least one active owner.")
    others.close()


def test_the_stop_is_pulled_seen_everywhere_and_released(page, world):
    sign_in(page)
    page.locator(".c-brake summary").click()
    page.get_by_label("Why").fill("The agent promises refunds.")
    page.get_by_role("button", name="Stop everything that leaves").click()
    said(page, "Stopped: nothing leaves this workspace")
    for path in ("inbox/thread/", "approvals/", "webhooks/webhook/add/", "tenancy/role/"):
        page.goto(f"{page.watch.address}/console/{path}")
        page.locator(".c-brake.is-stopped summary").click()
        page.get_by_text("The agent promises refunds.").first.wait_for()
    assert control.generation(world.workspace.id) is None
    page.get_by_role("button", name="Release the stop").click()
    said(page, "Released: what waited goes on now.")
    assert control.generation(world.workspace.id) == 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("width", "theme", "step"),
    [
        pytest.param(390, "light", 12),
        pytest.param(390, "light", 1, marks=pytest.mark.deep),
        pytest.param(1440, "dark", 1, marks=pytest.mark.deep),
    ],
)
def test_every_page_fits_and_can_be_read(chromium, console, world, width, theme, step):
    """No page is wider than the screen, and every text stands out from what is behind it (WCAG AA)."""
    context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=theme)
    page = context.new_page()
    watch = Watch(page, console)
    page.goto(f"{console}/console/login/")
    sign_in(page)
    for path in list(pages(world))[::step]:
        page.goto(console + path)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{path} is {wide} px wide"
        assert page.evaluate(CONTRAST) == {}, path
    assert watch.faults == []
    context.close()


def pages(world):
    lists = (
        "inbox/thread/", "inbox/email/", "inbox/outboundmessage/", "inbox/inboundmessage/", "inbox/inbox/",
        "agents/agentrun/", "agents/agent/", "agents/knowledgesource/", "contacts/contactprofile/", "webhooks/webhook/",
        "webhooks/webhookdelivery/", "webhooks/systemevent/", "tenancy/machinekey/", "tenancy/membership/", "tenancy/role/", "tenancy/team/", "tenancy/role/add/", "tenancy/team/add/", "settings/",
        "tenancy/verifieddomain/", "audit/auditevent/", "kernel/outboxevent/", "approvals/",
        "agents/agent/add/", "agents/knowledgesource/add/", "webhooks/webhook/add/", "tenancy/machinekey/add/",
    )  # fmt: skip
    yield "/console/"
    yield from (f"/console/{name}" for name in lists)
    yield from (f"/console/inbox/thread/{thread.id}/change/" for thread in world.threads.values())
    yield f"/console/agents/agentrun/{world.runs['answered'].id}/change/"
    yield f"/console/webhooks/webhook/{world.extra['webhook'].id}/change/"
    yield f"/console/webhooks/webhookdelivery/{world.extra['failed_delivery'].id}/change/"
    yield f"/console/inbox/inboundmessage/{world.extra['quarantined'].id}/change/"
    yield f"/console/agents/agent/{world.agent.id}/change/"
