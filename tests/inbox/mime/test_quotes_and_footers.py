"""Quotes among the writer's words, and the footers of lists below them."""

from __future__ import annotations

import pytest

from inbox.mime.reply_text import reply_text

ATTRIBUTION = "On Tue, 3 Mar 2026 at 10:14, Jo Doe wrote:"
LIST_FOOTERS = {
    "English": "_______________________________________________\nlamp-owners mailing list\nlamp-owners@lists.example\n"
    "https://lists.example/listinfo/lamp-owners",
    "English, no archive": "____________________\nLamp owners mailing list\nlamp-owners@lists.example",
    "German": "____________________\nlampen Mailingliste\nlampen@listen.example\n<https://listen.example/lampen>",
    "French": "____________________\nlampes liste de diffusion\nlampes@listes.example",
    "Dutch": "____________________\nlampen mailinglijst\nlampen@lijsten.example",
}
OWN_FOOTERS = {
    "a sentence above a link": "Here is the page:\n\n____________________\nplease look at the second lamp\nhttps://shop.example/lamps",
    "a question about a list": "Hi.\n\n____________________\nHow do I leave the mailing list\nlamps@lists.example and not only pause it",
    "a list that is asked for": "Hi.\n\nPlease put me on your mailing list\njo@b.example",
    "words below a footer": "Hi.\n\n__________\nlamps mailing list\nlamps@lists.example\nand I never subscribed to it.",
}


def test_a_quote_that_is_answered_below_stays_for_the_sense() -> None:
    result = reply_text(f"Hi, and thanks.\n\n{ATTRIBUTION}\n> Shall we ship it?\n\nYes, please.\n")
    assert result.text == "Hi, and thanks.\n\n> Shall we ship it?\n\nYes, please."


def test_several_quotes_with_answers_stay_for_the_sense() -> None:
    result = reply_text(f"See below.\n\n{ATTRIBUTION}\n\n> Ship it?\n\nYes.\n\n> To whom?\n\nTo me.\n")
    assert result.text == "See below.\n\n\n> Ship it?\n\nYes.\n\n> To whom?\n\nTo me."


def test_quote_without_an_attribution_is_the_writers() -> None:
    text = "Your page says:\n\n> Free of charge.\n\nWhy did I pay?"
    assert reply_text(text).text == text


@pytest.mark.parametrize("name", LIST_FOOTERS)
def test_footer_of_a_list_goes(name: str) -> None:
    assert reply_text(f"Mine is blue.\n\n{LIST_FOOTERS[name]}\n").text == "Mine is blue."
    below_quote = reply_text(f"Mine is blue.\n\n{ATTRIBUTION}\n> Which one?\n>\n> Jo\n\n{LIST_FOOTERS[name]}\n")
    assert (below_quote.text, "Which one?" in below_quote.quoted) == ("Mine is blue.", True)


@pytest.mark.parametrize("name", OWN_FOOTERS)
def test_what_only_looks_like_a_footer_stays(name: str) -> None:
    assert reply_text(OWN_FOOTERS[name]).text == OWN_FOOTERS[name]
    below_quote = reply_text(f"{ATTRIBUTION}\n> Which one?\n\n{OWN_FOOTERS[name]}")
    assert below_quote.text == OWN_FOOTERS[name]


def test_contact_data_below_a_quote_is_no_answer() -> None:
    text = f"Mine is blue.\n\n{ATTRIBUTION}\n> Which one?\n\n-----\nAnn Example\n+44 20 7946 0000\n"
    assert reply_text(text).text == "Mine is blue."


def test_attribution_of_the_last_quote_goes_with_it() -> None:
    head = "From: Jo Doe <jo@b.example>\nSent: Tuesday, 3 March 2026 10:14\nTo: Ann\nSubject: Lamp\n\nMine is blue."
    assert reply_text(f"{head}\n\n{ATTRIBUTION}\n> Which one?\n").text == head
