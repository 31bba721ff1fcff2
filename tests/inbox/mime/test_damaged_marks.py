"""Marks of a quoted mail without quoted lines below, wrapped, run together or between signs; beside each, words that stay."""

from __future__ import annotations

import pytest

from inbox.mime.reply_text import reply_text
from tests.growth import grows_in_proportion

PERSON = "Jo Doe <jo@b.example>"
BELOW = "Shall we ship it?\nJo"

QUOTING = {
    "English": f"Quoting {PERSON}:",
    "English, wrapped": "Quoting Jo Doe\n<jo@b.example>:",
    "English, a name in quotation marks": 'Quoting "Doe, Jo" <jo@b.example>:',
    "German": f"Zitat von {PERSON}:",
    "French": f"Citation de {PERSON} :",
    "Spanish": f"Citando a {PERSON}:",
    "Italian": f"Citando {PERSON}:",
    "Swedish": f"Citerar {PERSON}:",
    "Polish": f"Cytowanie {PERSON}:",
    "Czech": f"Cituji {PERSON}:",
    "Russian": f"Цитирую {PERSON}:",
}
BRACKETED = {
    "before the time": f">>> {PERSON} 03/04/26\n10:12 AM >>>",
    "within the time": f">>> {PERSON} 03/04/26 10:12\nAM >>>",
    "before the address": ">>> Jo Doe\n<jo@b.example> 03/04/26 10:12 AM >>>",
    "before the end": f">>> {PERSON} 03/04/26 10:12 AM\n>>>",
    "twice": f">>> {PERSON}\n04.03.2026 10:12\n>>>",
}
OTHERS = {
    "verb below the address": "On Wed, Dec 9, Jo Doe\n<jo@b.example>\nwrote:",
    "address below a device line": "Sent from my iPhone\n\njo@b.example wrote:",
    "address below a device line, no verb": f"Sent from my iPad\nAnswer to {PERSON}:",
    "marker and field in one line": f"-------- Original message --------From: {PERSON}  Date: 03/04/26  10:12  (GMT+01:00) To: Ann Subject: Lamp",
    "marker and field in one line, German": '-----Ursprüngliche Nachricht-----Von: "Jo Doe" Gesendet: gestern',
    "first word twice": f"El El mar, 3 de marzo de 2026 a la(s) 9:21 a.m., {PERSON} escribió:",
    "first word twice, German": f"Am Am 3. März 2026 um 10:14 schrieb {PERSON}:",
    "fields between marks of direction": "من: Jo Doe <jo@b.example>\n\u200f\u200fتم الإرسال: Tuesday, March 3, 2026 10:14\nإلى: Ann\n\u200f\u200fالموضوع: Lamp",
    "a name for the date": 'Message du : 03/03/2026 10:14\nDe : "Jo Doe" <jo@b.example>\nA : ann@b.example\nSujet : Lampe',
    "a server's own line": "Original Message processed by a server®\nRe: Lamp 3. März 2026, 10:14 Uhr",
}
KEPT = {
    "quoted by hand": f'Hi,\n\nQuoting {PERSON}:\n\n"The money is on its way."\n\nIt never came.',
    "quoted by hand, German": f"Hallo,\n\nZitat von {PERSON}:\n„Das Geld ist unterwegs.“\n\nEs kam nie an.",
    "quoted within a paragraph": f"Your shop promised a date.\nQuoting {PERSON}:\nIt comes on Friday.\n\nIt did not.",
    "quoted without an address": "Hi,\n\nQuoting Jo Doe:\n\nIt comes on Friday.\n\nIt did not.",
    "somebody's words": f"Hi,\n\nQuoting your colleague {PERSON}:\n\nIt comes on Friday.\n\nIt did not.",
    "a prompt": "Look:\n\n>>> import lamp\n>>> lamp.on('10:12')\n10:12\n>>>\n\nWhy?",
    "a prompt and an address": "Look:\n\n>>> send('<jo@b.example>')\nsent at 10:12\nWhy not at once?",
    "no time between the brackets": "Look:\n\n>>> Jo Doe <jo@b.example>\nof your shop\n>>> said no.\n\nAnd now?",
    "an address and a verb of a sentence": "I asked you and <jo@b.example>\nwrote:\n\nno, never.",
    "words below a place": "It fails:\n\nFrom my phone\nApp said:\nError 17\n\nWhat is error 17?",
    "words below a device": "Sent from my iPhone\n\nThe display said:\n\nError 17",
    "a heading and a field": "Here it is.\n\n---- My order ----From: the shop in Bonn\n\nWhere is it?",
    "a word twice": "On on on 3 March it went:\n\non and off.",
    "one field": "Message du : 03/03/2026 10:14\n\nJe ne l'ai pas reçu.",
    "a processed mail": "The original message processed by your server is lost.\n\nWhat now?",
}  # fmt: skip


@pytest.mark.parametrize("mark", [*QUOTING.values(), *BRACKETED.values(), *OTHERS.values()])
def test_damaged_mark_ends_the_words(mark: str) -> None:
    result = reply_text(f"Yes, please.\n\n{mark}\n\n{BELOW}\n")
    assert result.text == "Yes, please."
    assert BELOW in result.quoted


@pytest.mark.parametrize("mark", [*QUOTING.values(), *BRACKETED.values()])
def test_what_is_below_stays_where_nothing_is_above(mark: str) -> None:
    assert reply_text(f"{mark}\n\n{BELOW}\n").text == BELOW


@pytest.mark.parametrize("name", KEPT)
def test_words_of_the_writer_stay(name: str) -> None:
    assert reply_text(KEPT[name]).text == KEPT[name]


@pytest.mark.parametrize(
    "piece",
    [
        f">>> {PERSON} 03/04/26\n",
        ">>> <a@b.c> 1.1.26 1:11\n1:11 >>>\n>>>\n",
        f"Quoting {PERSON}:\n\n",
        "-" * 40 + "Original message" + "-" * 40 + "From\n",
        "Sent from my iPhone\na@b.c wrote\n",
        "> a\n-----\n",
    ],
)
def test_a_flood_takes_linear_time(piece: str) -> None:
    assert grows_in_proportion(lambda size: reply_text(piece * (size // len(piece))), 200_000)
