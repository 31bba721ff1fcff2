"""The page that explains the API: it works in a real browser, under our policy, and asks nobody else for anything."""

import pytest

from tests.console.test_browser import Watch

pytestmark = pytest.mark.xdist_group("browser")


def _look_for(page, selector):
    """A long list is drawn where one looks, and nowhere else: scroll as a reader does."""
    found = page.locator(selector)
    page.evaluate("window.scrollTo(0, 0)")
    for _ in range(100):
        page.wait_for_timeout(50)
        if found.count():
            return found
        page.mouse.wheel(0, 600)
    pytest.fail(f"{selector} is nowhere on the page")


@pytest.mark.long
def test_the_page_shows_every_resource_and_breaks_no_rule(chromium, server, db):
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.watch = Watch(page, server)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    policies: list[str] = []
    page.on("response", lambda r: policies.append(r.headers.get("content-security-policy", "")))
    page.goto(f"{server}/api/docs")
    page.get_by_role("heading", name="Autonomous Inbox").wait_for()
    page.locator(".opblock-tag").first.wait_for()
    for tag in ("agents", "circuit-breakers", "emails", "inboxes", "request-log", "tags", "thread-changes", "webhooks"):
        _look_for(page, f"#operations-tag-{tag}")
    _look_for(page, "#operations-emails-emails_create").click()
    page.locator("#operations-emails-emails_create").get_by_text("How long does shipping take?").first.wait_for()
    page.wait_for_load_state("networkidle")
    assert page.watch.faults == []
    assert len(asked) > 4
    assert {url.split("/")[2] for url in asked if url.startswith("http")} == {server.split("/")[2]}
    assert all("default-src 'self'" in policy for policy in policies[:1])
    page.evaluate("fetch('https://elsewhere.example/').catch(() => 0)")
    page.wait_for_timeout(200)
    # The guard of the above: the watch does see, and the policy does stop, a request to another host.
    assert page.watch.faults != []
    context.close()
