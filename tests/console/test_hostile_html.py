"""D1: HTML that wants to act, in a real browser: cleaned and naked, and in the real page under its real policy."""

import pytest

from inbox.mime import clean_html
from inbox.models import Entry, Thread
from kernel.transactions import in_workspace
from tests.console import seed
from tests.inbox.hostile_html import vectors

pytestmark = pytest.mark.xdist_group("browser")

# What a reader may do by accident: every element is pressed, pointed at and given the focus.
_POKE = """() => {
  for (const node of document.querySelectorAll("*")) {
    for (const kind of ["click", "mouseover", "pointerdown", "focus", "keydown", "submit", "toggle", "input", "scroll", "drag"])
      if (kind !== "click" || !node.closest("a[href^=http], a[href^=mailto], a[href^=tel]")) node.dispatchEvent(new Event(kind, { bubbles: true }));
    node.focus?.();
  }
  return location.href;
}"""
_OPEN = """async () => {
  const frames = [...document.querySelectorAll("iframe[data-src]")];
  const loaded = frames.map((frame) => new Promise((done) => frame.addEventListener("load", done, { once: true })));
  frames.forEach((frame) => { frame.loading = "eager"; frame.closest("details").open = true; });
  await Promise.all(loaded);
  return frames.length;
}"""


def test_cleaning_alone_holds_in_a_page_without_any_policy(chromium, cases):
    """No frame, no policy, scripts allowed: what runs here got past the sanitiser."""
    hits, asked = [], []
    context = chromium.new_context()
    page = context.new_page()
    page.expose_function("hit", lambda *_: hits.append("hit"))
    page.on("dialog", lambda dialog: (hits.append("dialog"), dialog.dismiss()))
    page.route("**/*", lambda route: (asked.append(route.request.url), route.abort()))
    tried = list(dict.fromkeys(vectors()))
    for start in range(0, len(tried), 40):
        cleaned = [clean_html.clean(html) for html in tried[start : start + 40]]
        for html, safe in zip(tried[start : start + 40], cleaned, strict=True):
            assert clean_html.clean(safe) == safe, html
            # What a person sees goes through the second cleaning; it must change nothing but images.
            assert (
                clean_html.present(safe, lambda address: f"remote-image:{address}" if "//" in address else address)
                == safe
            ), html
        page.set_content("<!DOCTYPE html><body>" + "".join(f"<div>{safe}</div>" for safe in cleaned))
        assert page.evaluate(_POKE) == "about:blank"
        # Their own scheme is no address: a browser knows nobody to ask.
        assert [url for url in asked if not url.startswith(clean_html.HELD)] == [], cleaned
        assert hits == [], cleaned
        assert (
            page.evaluate(
                "document.querySelectorAll('script, style, iframe, object, embed, form, input, meta, link, base, svg, math').length"
            )
            == 0
        )
    # The page would have noticed.
    page.set_content("<img src=x onerror=hit()>")
    page.wait_for_timeout(200)
    assert hits
    context.close()
    cases("D1", len(tried))


def test_the_real_page_shows_them_and_nothing_happens(chromium, console, world, mika):
    """As a member reads them: the conversation with every original opened, in its sandbox, under the served policy."""
    tried = list(dict.fromkeys(vectors()))
    with in_workspace(world.workspace.id):
        thread = Thread.objects.create(
            workspace=world.workspace, inbox=world.inbox, provider_thread_key="hostile", subject="Hostile"
        )
        bodies = [" ".join(tried[at : at + 8]) for at in range(0, len(tried), 8)]
        bodies.append('<p>Seen?</p><img src="https://tracker.example/seen.png">')
        rows = [
            Entry(
                workspace=world.workspace, inbox=world.inbox, thread=thread, direction="inbound", author_kind="contact",
                provider_entry_key=f"hostile:{at}", body_text="x", body_html=clean_html.clean(body),
            )
            for at, body in enumerate(bodies)
        ]  # fmt: skip
        Entry.objects.bulk_create([row for row in rows if row.body_html])
    asked, hits, errors = [], [], []
    context = chromium.new_context()
    context.add_cookies([{"name": "sessionid", "value": mika.cookies["sessionid"].value, "url": console}])
    page = context.new_page()
    page.on("dialog", lambda dialog: (hits.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.on(
        "console", lambda said: errors.append(said.text) if "Refused" in said.text or "violates" in said.text else None
    )
    context.on("page", lambda other: hits.append(f"a window: {other.url}"))
    address = f"{console}/console/inbox/thread/{thread.id}/change/?all=1"
    page.goto(address)
    assert page.evaluate(_OPEN) > len(tried) // 10
    assert page.url == address
    assert hits == []
    assert [url for url in asked if not url.startswith((console, "data:"))] == []
    assert [text for text in errors if "Content Security Policy" in text] == []
    assert all(frame.url.startswith(console) for frame in page.frames)
    # Asked for, images come from us and from nobody else.
    asked.clear()
    assert page.locator("[data-show-images]").count() == 1
    page.evaluate("document.querySelectorAll('[data-show-images]').forEach((button) => button.click())")
    page.wait_for_function("performance.getEntriesByType('resource').some((entry) => entry.name.includes('images=1'))")
    page.wait_for_load_state("networkidle")
    assert any("/images/" in url for url in asked)
    assert [url for url in asked if not url.startswith((console, "data:"))] == []
    context.close()


def test_the_frame_is_served_under_its_policy(world, mika):
    with in_workspace(world.workspace.id):
        entry = seed.inbound(
            world, "Hi", "x", sender=("A", "a@b.example"), at=world.threads["lamp"].last_entry_at, html="<p>x</p>"
        )
    answer = mika.get(f"/console/entries/{entry.id}/html/")
    policy = answer["Content-Security-Policy"]
    assert policy.startswith("sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:;")
    assert "allow-" not in policy
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer["X-Content-Type-Options"] == "nosniff"
