"""Gmail's marks in HTML: what is quoted goes; what a writer put between quotes or indented by hand stays."""

from __future__ import annotations

import pytest

from inbox.mime.html_text import html_without_quote
from tests.growth import grows_in_proportion

_ATTRIBUTION = '<div class="gmail_attr">On Tue, 3 Mar 2026 at 10:14, Jo Doe wrote:<br></div>'


def _quote(text: str) -> str:
    return f'<blockquote class="gmail_quote">{text}</blockquote>'


def test_answers_between_the_quotes_stay() -> None:
    html = (
        f'<div>See below.</div><div class="gmail_quote">{_ATTRIBUTION}{_quote("Which lamp?")}<div>The blue one.</div>'
        f"{_quote('Which table?')}<div>The round one.</div></div>"
    )
    assert html_without_quote(html).split() == ["See", "below.", "The", "blue", "one.", "The", "round", "one."]


def test_answer_right_behind_the_quote_stays() -> None:
    html = f'<div class="gmail_quote">{_ATTRIBUTION}{_quote("Which lamp?")}The blue one.</div>'
    assert html_without_quote(html) == "The blue one."


@pytest.mark.parametrize(
    "box",
    [
        f"{_ATTRIBUTION}{_quote('Which lamp?')}",
        f"{_ATTRIBUTION}{_quote('Which lamp?')}<br><div> </div>",
        f"{_ATTRIBUTION}<div>Which lamp?</div>",
        f"On Tue Jo wrote:<br>{_quote('Which lamp?')}",
    ],
)
def test_box_without_answers_goes(box: str) -> None:
    assert html_without_quote(f'<div>Blue.</div><div class="gmail_quote">{box}</div>') == "Blue."


def test_what_is_indented_by_hand_is_no_quote() -> None:
    assert html_without_quote(f"<div>My new address:</div>{_quote('3 Long Street')}") == ""


def test_quote_below_an_attribution_goes_without_its_box() -> None:
    assert html_without_quote(f"<div>Blue.</div>{_ATTRIBUTION}{_quote('Which lamp?')}") == "Blue."


def test_a_flood_of_boxes_takes_linear_time() -> None:
    box = f'<div class="gmail_quote">{_ATTRIBUTION}{_quote("a")}b</div>'
    assert grows_in_proportion(lambda size: html_without_quote(box * (size // len(box))), 200_000)
