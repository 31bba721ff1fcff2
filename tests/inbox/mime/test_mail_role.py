"""What a mail passes on, and the fields of a form, are its text; what it answers is not."""

from __future__ import annotations

import pytest

from inbox.mime.parsing import parse
from inbox.mime.types import ParsedMail

BLOCK = "From: Max <max@d.example>\nSent: Tuesday, 3 March 2026 10:14\nTo: Ann\nSubject: Invoice 77\n\nWhy was VAT charged twice?"
FORWARDS = {
    "Outlook": BLOCK,
    "Gmail": f"---------- Forwarded message ---------\n{BLOCK}",
    "Apple": f"Begin forwarded message:\n\n{BLOCK}",
    "German": f"-------- Weitergeleitete Nachricht --------\n{BLOCK}",
    "an answer within": f"{BLOCK}\n\nOn 3 Mar 2026, at 10:14, Jo <jo@c.example> wrote:\n> The invoice.",
}
ANSWERED = "In-Reply-To: <1@c.example>"
COMMENT = "Please answer the question below."


def mail(subject: str, text: str, *fields: str, kind: str = "plain") -> ParsedMail:
    head = [f"Subject: {subject}", *fields, f"Content-Type: text/{kind}; charset=utf-8", "", ""]
    return parse("\r\n".join(head).encode() + text.encode())


@pytest.mark.parametrize(
    "subject", ["FW: Invoice 77", "Fwd: Re: Invoice 77", "WG: AW: Rechnung", "TR: Facture", "[Fwd: Invoice]"]
)
@pytest.mark.parametrize("name", FORWARDS)
def test_what_is_forwarded_is_read_with_its_comment(name: str, subject: str) -> None:
    parsed = mail(subject, f"{COMMENT}\n\n{FORWARDS[name]}")
    assert (parsed.is_forward, parsed.reply_text) == (True, f"{COMMENT}\n\n{FORWARDS[name]}")


@pytest.mark.parametrize("name", ["Gmail", "Apple", "German"])
def test_a_forward_within_a_conversation_is_one(name: str) -> None:
    assert "Why was VAT" in mail("Fwd: Invoice 77", f"{COMMENT}\n\n{FORWARDS[name]}", ANSWERED).reply_text


@pytest.mark.parametrize("name", ["Gmail", "Apple", "German"])
def test_a_forward_under_a_subject_of_its_own(name: str) -> None:
    parsed = mail("A question", f"{COMMENT}\n\n{FORWARDS[name]}")
    assert (parsed.is_forward, "Why was VAT" in parsed.reply_text) == (True, True)


def test_a_forward_in_html() -> None:
    quoted = BLOCK.replace("<", "&lt;").replace("\n", "<br>")
    html = f'<p>{COMMENT}</p><div class="gmail_quote"><div class="gmail_attr">{quoted}</div></div>'
    assert "Why was VAT" in mail("Fwd: Invoice 77", html, kind="html").reply_text
    assert mail("Re: Invoice 77", html, kind="html").reply_text == COMMENT


@pytest.mark.parametrize("subject", ["Re: Fwd: x", "RE: FW: x", "AW: WG: x", "Sv: VB: x", "Antw: Doorst: x"])
@pytest.mark.parametrize("name", FORWARDS)
def test_an_answer_to_a_forward_is_an_answer(name: str, subject: str) -> None:
    parsed = mail(subject, f"Yes, please.\n\n{FORWARDS[name]}", ANSWERED)
    assert (parsed.is_forward, parsed.reply_text) == (False, "Yes, please.")


FORMS = [
    "New enquiry\n\nFrom: Jo <jo@c.example>\nSubject: Lamp\nDate: 3 March 2026 10:15\n\nMy lamp is broken.",
    "Neue Anfrage\n\nVon: Jo <jo@c.example>\nBetreff: Lampe\nDatum: 3. März 2026 10:15\n\nMeine Lampe ist kaputt.",
    "Nouvelle demande\n\nDe : Jo <jo@c.example>\nObjet : Lampe\nDate : 3 mars 2026 10:15\n\nMa lampe est cassée.",
    "New enquiry\n\nFrom: jo@c.example\nDate: Tue, 3 Mar 2026 10:14:17 -0600\n\nMy lamp is broken.",
]


@pytest.mark.parametrize("text", FORMS)
def test_the_fields_of_a_form_are_no_quote(text: str) -> None:
    assert mail("Enquiry", text).reply_text == text
    intro = text.split("\n", 1)[0]
    for parsed in (
        mail("Re: Enquiry", text),
        mail("Enquiry", text, ANSWERED),
        mail("Enquiry", text, "References: <1@c.example>"),
    ):
        assert parsed.reply_text == intro
