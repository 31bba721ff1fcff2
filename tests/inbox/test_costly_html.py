"""HTML that grows without end when it is read as a browser does: it costs a mail its formatting, and nobody else anything."""

import resource
import time
from collections.abc import Callable
from email.message import EmailMessage
from email.policy import SMTP

import pytest

from inbox.mime.child import ParserChild
from inbox.mime.clean_html import MAX_CLEANED, clean, present
from inbox.mime.html_text import html_to_text
from inbox.models import Email, Entry, InboundMessage
from inbox.services import images, ingesting
from kernel.transactions import in_workspace
from tests.factories.world import deliver, hand_in, house, mail

FEW_SECONDS, MANY_PARAGRAPHS = 8, 4000


def fonts(count: int) -> str:
    return "".join(f"<font size={number}>" for number in range(count))


def paragraphs(count: int) -> str:
    return "<p>x</p>" * count


# Each is read by a browser as far more than it says, or in far more time than its length tells.
GROWING: dict[str, Callable[[], str]] = {
    "fonts that are never closed": lambda: f"<p>{fonts(MANY_PARAGRAPHS)}</p>{paragraphs(MANY_PARAGRAPHS)}",
    "fonts with long names": lambda: (
        "<p>" + "".join(f"<font face={'n' * 200}{number}>" for number in range(1500)) + "</p>" + paragraphs(20_000)
    ),
    "closed where it does not count": lambda: f"<p>{fonts(3000)}<!--{'</font>' * 3000}--></p>{paragraphs(20_000)}",
    "closed in a cell": lambda: f"<p>{fonts(3000)}<table><td>{'</font>' * 3000}</table></p>{paragraphs(20_000)}",
    "at the second reading": lambda: f"<p>{fonts(MANY_PARAGRAPHS)}<button>{paragraphs(MANY_PARAGRAPHS)}",
    "at the second reading, within the first's length": lambda: f"<p>{fonts(1500)}<button>{paragraphs(1500)}",
    "tables in fonts": lambda: fonts(3000) + "<table><tr><td>x</table></p>" + "<table>y</table>" * 5000,
    "very deep": lambda: "<div>" * 90_000 + "x",
    "very deep, of several kinds": lambda: "<div><b><blockquote><span>" * 15_000 + "x",
    "links in links": lambda: "".join(f'<a href="https://x.test/{number}"><p>' for number in range(12_000)),
}
HONEST = {
    "a letter": "<p>Where is my <b>order</b>?</p>",
    "a newsletter": "<table>" + "<tr><td><font color=red face=Arial><b>Offer</b></font></td></tr>" * 4000 + "</table>",
    "carelessly written": "<p><b><i>Hello<p>What</b> now?" * 10,
    "long": "<p>word </p>" * 40_000,
}


def written(html: str, *, text: str = "") -> bytes:
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"], message["Subject"] = "Ada <ada@customer.test>", "support@acme.test", "A page"
    message["Message-ID"] = f"<{abs(hash((html, text)))}@customer.test>"
    if text:
        message.set_content(text)
        message.add_alternative(html, subtype="html")
    else:
        message.set_content(html, subtype="html")
    return message.as_bytes()


@pytest.fixture(scope="module")
def child():
    parser = ParserChild()
    yield parser
    parser.close()


@pytest.mark.parametrize("name", GROWING)
def test_what_grows_is_left_out_or_small_and_is_shown_as_it_is_stored(child, name):
    html = GROWING[name]()
    began = time.process_time()
    found = child.clean(html)
    if found is not None:
        assert len(found) <= MAX_CLEANED
        # Whoever shows it reads it once more, unbounded: it must be what it was, for as little.
        assert present(found, lambda address: address) == found
    assert time.process_time() - began < FEW_SECONDS


def test_honest_pages_keep_their_formatting(child):
    for name, html in HONEST.items():
        found = child.clean(html)
        assert found, name
        assert found == clean(html)
        assert found.count("<") >= html.count("<"), name


def test_the_text_of_a_page_that_is_too_deep_is_whole():
    for depth in (10, 250, 300, 5000):
        for tag in ("div", "font", "b", "blockquote"):
            text = html_to_text(f"<p>Begin {f'<{tag}>' * depth} middle {f'</{tag}>' * depth}<p>end")
            assert text.split() == ["Begin", "middle", "end"], (tag, depth)


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.deep)])
def test_such_a_mail_is_received_and_read_as_text_and_its_neighbours_are_not_touched(db, step):
    acme = house()
    pages = [make() for make in list(GROWING.values())[::step]]
    # The parser's child, and whatever else filing needs, is there before memory is counted.
    deliver(written(HONEST["a letter"], text="first"))
    for number, page in enumerate(pages):
        hand_in(written(page, text=f"Hello, where is order {number}?"))
    hand_in(written(GROWING["fonts that are never closed"]()))
    hand_in(written(HONEST["a letter"], text="last"))
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.process_time()
    ingesting.process_all()
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert time.process_time() - began < FEW_SECONDS
    assert (after.ru_maxrss - before.ru_maxrss) // 1024 < 150
    with in_workspace(acme.id):
        assert set(InboundMessage.objects.values_list("state", flat=True)) == {"done"}
        rows = {row.body_text.strip(): row for row in Entry.objects.all()}
        assert len(rows) == len(pages) + 3
        for number in range(len(pages)):
            row = rows.pop(f"Hello, where is order {number}?")
            began = time.process_time()
            assert len(images.show(row, remote=False, prefix="/images/").html) <= MAX_CLEANED
            assert time.process_time() - began < 2
        assert [rows.pop(text).body_html for text in ("first", "last")] == ["<p>Where is my <b>order</b>?</p>\n"] * 2
        # The one without a text of its own: what its page says.
        (only_html,) = rows.values()
        assert (only_html.body_html, only_html.body_text.split()[:2]) == ("", ["x", "x"])
        said = Email.objects.get(id=only_html.email_id).warnings
        assert "html: too costly to show, left out" in said


def test_a_page_that_ends_the_child_does_not_end_the_mail(db, monkeypatch):
    """Whatever the reason: the second question is the page's own."""
    acme = house()
    monkeypatch.setattr("inbox.mime.child.ParserChild.clean", lambda self, html: None)
    deliver(written(HONEST["a letter"], text="Hello"))
    deliver(mail(text="And in plain words"))
    with in_workspace(acme.id):
        assert set(Entry.objects.values_list("body_html", flat=True)) == {""}
        assert set(Email.objects.values_list("state", flat=True)) == {"threaded"}
