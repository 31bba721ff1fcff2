"""Machine mail: none of it may be answered by a machine, all of it is read, and a person stays a person."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from inbox.mime.classify import HOP_HEADER, Classification, classify
from inbox.mime.parsing import parse
from inbox.mime.types import ParsedMail

OWN = {"support@acme.test", "help@globex.test"}
TOKEN = "good-token"
DSN = 'multipart/report; report-type=delivery-status; boundary="b"'
MDN = 'multipart/report; report-type=disposition-notification; boundary="b"'
ARF = 'multipart/report; report-type=feedback-report; boundary="b"'
REPORT_BODY = "--b\r\n\r\nSorry.\r\n--b--\r\n"

# name -> (kind, extra fields; From, Subject and Return-Path may be replaced)
FIELDS: dict[str, tuple[str, dict[str, str]]] = {
    **{
        f"Auto-Submitted {value!r}": ("auto_reply", {"Auto-Submitted": value})
        for value in (
            "auto-replied", "auto-generated", "auto-notified", "AUTO-REPLIED", "Auto-Replied (vacation)", "(hm) auto-replied",
            "auto-replied; owner-email=\"a@b.example\"", "auto-something-new", "yes", "  auto-replied  ",
        )
    },
    **{f"Precedence {value}": ("list", {"Precedence": value}) for value in ("bulk", "junk", "list", "BULK", "Bulk (really)")},
    "Precedence auto_reply": ("auto_reply", {"Precedence": "auto_reply"}),
    "X-Precedence bulk": ("list", {"X-Precedence": "bulk"}),
    **{
        f"List-{name}": ("list", {f"List-{name}": "<https://lists.example/x>"})
        for name in ("Id", "Unsubscribe", "Post", "Help", "Subscribe", "Owner", "Archive", "Unsubscribe-Post")
    },
    "list-id in lower case": ("list", {"list-id": "x"}),
    "Mailing-List": ("list", {"Mailing-List": "contact x@y.example"}),
    "X-Mailing-List": ("list", {"X-Mailing-List": "x"}),
    "X-BeenThere": ("list", {"X-BeenThere": "x@y.example"}),
    "null path": ("auto_reply", {"Return-Path": "<>"}),
    "null path with a space": ("auto_reply", {"Return-Path": "< >"}),
    "null path of a bounce": ("bounce", {"Return-Path": "<>", "Subject": "Undelivered Mail Returned to Sender"}),
    "DSN": ("bounce", {"Content-Type": DSN}),
    "DSN without Auto-Submitted, upper case": ("bounce", {"Content-Type": DSN.upper().replace('"B"', '"b"')}),
    "MDN": ("auto_reply", {"Content-Type": MDN}),
    "feedback report": ("bounce", {"Content-Type": ARF}),
    "report of unknown type": ("bounce", {"Content-Type": 'multipart/report; boundary="b"'}),
    "TLS report": ("auto_reply", {"Content-Type": 'multipart/report; report-type=tlsrpt; boundary="b"'}),
    "DMARC report": ("auto_reply", {"Subject": "Report Domain: acme.test Submitter: isp.example Report-ID: <77>"}),
    "DMARC report, marked": ("auto_reply", {"Subject": "[Preview] Report domain: acme.test Submitter: isp.example Report-ID: 8"}),
    "mailer-daemon without a domain": ("bounce", {"From": "Mail System <MAILER-DAEMON>"}),
    "mailer-daemon without an address": ("bounce", {"From": "mailer-daemon <>"}),
    "null path in From": ("bounce", {"From": "<>", "Subject": "State of your message"}),
    **{
        f"{who or 'nobody'}: {subject}": ("bounce", {"From": who, "Return-Path": path, "Subject": subject})
        for who in ("Postmaster <postmaster@mx.example>", "mx.example")
        for path in ("<box@mx.example>", "<>")
        for subject in ("Undeliverable: Hello", "[EXTERNAL] Undeliverable: Hello", "Mail System Error - not sent", "系统退信")
    },
    "postmaster, null path and any subject": ("bounce", {"From": "postmaster@mx.example", "Return-Path": "<>", "Subject": "Hm"}),
    "postmaster's bounce of low rank": ("bounce", {"From": "postmaster@mx.example", "Subject": "Undeliverable: x", "Precedence": "bulk"}),
    "postmaster who is away": (
        "auto_reply", {"From": "postmaster@mx.example", "Return-Path": "<>", "Subject": "Back on Monday", "Auto-Submitted": "auto-replied"},
    ),
    "postmaster who asks": ("human", {"From": "postmaster@mx.example", "Subject": "Re: Undeliverable: Hello"}),
    "X-Failed-Recipients": ("bounce", {"X-Failed-Recipients": "a@b.example"}),
    "mailer-daemon": ("bounce", {"From": "MAILER-DAEMON@mx.example"}),
    "mailer-daemon with a name": ("bounce", {"From": "Mail Delivery <Mailer-Daemon@mx.example>"}),
    "mailer-daemon as path of one who is away": (
        "auto_reply", {"Return-Path": "<MAILER-DAEMON@mx.example>", "Subject": "Automatic response"},
    ),
    "mailer-daemon as path of a postmaster": (
        "bounce",
        {"Return-Path": "<MAILER-DAEMON@mx.example>", "From": "postmaster@mx.example", "Auto-Submitted": "auto-replied", "Subject": "Late"},
    ),
    "complaint known by its subject": ("auto_reply", {"Subject": "complaint about message from 192.0.2.7"}),
    "mailer-daemon as path": ("bounce", {"Return-Path": "<MAILER-DAEMON@mx.example>"}),
    **{
        f"subject {subject!r}": ("auto_reply", {"Subject": subject})
        for subject in (
            "Automatic reply: Your order", "Out of Office: hello", "Automatische Antwort: Rechnung", "Abwesenheitsnotiz: x",
            "Réponse automatique : facture", "Respuesta automática: pedido", "Risposta automatica: ordine",
            "Automatisch antwoord: bestelling", "Autosvar: ordre", "Automatiskt svar: faktura", "Automaattinen vastaus: tilaus",
            "Odpowiedź automatyczna: faktura", "Автоматический ответ: счёт", "自動返信: 注文", "自动答复: 订单",
            "Resposta automática: pedido", "Otomatik yanıt: sipariş", "Automatická odpověď: faktura",
            "Automatická odpoveď: faktúra", "Out of Office AutoReply: hello", "AutoReply: hello", "Auto-Response: hello", "OOO: hello",
            "[EXTERNAL] Automatic reply: hello", "[External Email] [SPAM?] Abwesenheitsnotiz: x", "[Ext Sender] Out of office",
            "[Autoodpowiedź] hello", "[Auto-Reply] hello", "AUTO: Ann Example is out of the office until 5 May.",
            "Ann Example/ACME is out of the office. (returning 05.05.2031)",
            "Abwesenheitsnotiz", "Out of office", "Out of the office.", "Frånvaro: faktura", "Nieobecność: faktura", "自動返信：注文",
        )
    },
    **{
        f"subject {subject!r} with {name}": ("auto_reply", {"Subject": subject, name: value})
        for subject in ("Out of office until 5 May", "Abwesenheitsnotiz von Ann", "OOO till Monday", "Nieobecność w biurze do piątku")
        for name, value in (("In-Reply-To", "<a@acme.test>"), ("Return-Path", "<>"), ("Precedence", "bulk"), ("X-Precedence", "junk"))
    },
    "no-reply": ("human", {"From": "Shop <no-reply@shop.example>"}),
    "noreply": ("human", {"From": "noreply@shop.example"}),
    "do-not-reply": ("human", {"From": "do-not-reply@shop.example"}),
    "noreply with a tag": ("human", {"From": "noreply+77@shop.example"}),
    "noreply of a service": ("human", {"From": "Shared with you <files-noreply@shop.example>"}),
    "+owner": ("human", {"From": "news+owner@shop.example"}),
    "postmaster": ("human", {"From": "postmaster@shop.example"}),
    "bounce path": ("human", {"Return-Path": "<bounces+77@shop.example>"}),
    "owner-": ("human", {"From": "owner-news@shop.example"}),
    "-request": ("human", {"From": "news-request@shop.example"}),
    "X-Loop": ("auto_reply", {"X-Loop": "support@acme.test"}),
    "X-Loop of a list": ("list", {"X-Loop": "news@shop.example", "List-Id": "<news.shop.example>"}),
    "X-Autoreply": ("auto_reply", {"X-Autoreply": "yes"}),
    "X-Autorespond": ("auto_reply", {"X-Autorespond": "x"}),
    "X-Autoresponder": ("auto_reply", {"X-Autoresponder": "x"}),
    "Delivered-To Autoresponder": ("auto_reply", {"Delivered-To": "Autoresponder"}),
    "cron": ("auto_reply", {"X-Cron-Env": "<SHELL=/bin/sh>"}),
    "own inbox": ("self", {"From": "Support <Support@acme.test>"}),
    "inbox of another workspace": ("self", {"From": "help@globex.test"}),
    "own inbox as path, and nobody in From": ("self", {"From": "", "Return-Path": "<support@acme.test>"}),
    "own inbox, forwarded by another": ("self", {"From": "support@acme.test", "Return-Path": "<box+caf_=a=b.test@else.test>"}),
    "own Message-ID": ("self", {"Message-ID": f"<{TOKEN}>"}),
    "own marker": ("self", {HOP_HEADER: TOKEN}),
    "marker of another installation": ("human", {HOP_HEADER: "something"}),
    "marker and Auto-Submitted": ("auto_reply", {HOP_HEADER: "1", "Auto-Submitted": "auto-replied"}),
    "suppress All": ("human", {"X-Auto-Response-Suppress": "All"}),
    "suppress OOF": ("human", {"X-Auto-Response-Suppress": "DR, OOF"}),
    "suppress AutoReply": ("human", {"X-Auto-Response-Suppress": "autoreply"}),
}  # fmt: skip


def mail_of(fields: dict[str, str]) -> ParsedMail:
    given = {
        "Return-Path": "<ann@example.org>",
        "From": "Ann <ann@example.org>",
        "To": "support@acme.test",
        "Subject": "Hello",
        **fields,
    }
    text = REPORT_BODY if "multipart/report" in given.get("Content-Type", "").lower() else "Hi, a question.\r\n"
    return parse("".join(f"{name}: {value}\r\n" for name, value in given.items()).encode() + b"\r\n" + text.encode())


def judge(mail: ParsedMail, **more: object) -> Classification:
    return classify(mail, own_addresses=OWN, own_token_check=lambda value: value == TOKEN, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FIELDS)
def test_machine_mail_gets_no_automatic_answer(name: str, cases: Callable[[str, int], None]) -> None:
    kind, fields = FIELDS[name]
    mail = mail_of(fields)
    judged = judge(mail)
    assert (judged.kind, judged.may_auto_answer) == (kind, False)
    assert judged.reason
    assert mail.status == "parsed"
    assert mail.text.strip()
    cases("C1", 1)


def test_a_person_may_be_answered() -> None:
    assert judge(mail_of({})) == Classification("human", "no sign of a machine", True)


@pytest.mark.parametrize(
    "fields",
    [
        {"Auto-Submitted": "no"},
        {"Auto-Submitted": "no (really)"},
        {"Subject": "Re: Automatic reply: your order"},
        {"Subject": "Is your office out of order?"},
        {"X-Auto-Response-Suppress": "DR, RN, NRN"},
        {"From": "reply@person.example"},
        {"From": "norbert.reply@person.example"},
        {"From": "casino-reply@person.example"},
        {"Subject": "[EXTERNAL] Undelivered mail: what do I do?"},
        {"Subject": "Undeliverable: my parcel"},
        {"Subject": "Report domain names that you sell"},
        {"Subject": "Complaint about message from your shop"},
        {"Subject": "Auto: Frage zur Versicherung"},
        {"Subject": "Bob is out of the office, whom do I ask?"},
        {"Subject": "[Orders] out of office hours"},
        {"Precedence": "first-class"},
        {"Precedence": "first-class", "Subject": "OOO question"},
        {"References": "<a@acme.test>", "Subject": "Auto reply is broken in my account"},
        *(
            {"Subject": subject}
            for subject in (
                "Automatický kávovar nefunguje", "Nieobecność w pracy 12 maja", "Frånvaro på fredag", "OOO question", "Ooops!",
                "Auto reply is broken in my account", "Autoresponder keeps answering: how do I stop it?", "Autosvar virker ikke",
                "Abwesenheitsnotiz einrichten", "Abwesend gemeldet und trotzdem Post: warum?", "Out of office key lost", "On vacation pay",
                "Réponse automatique à désactiver", "Respuesta automática no funciona", "Fuori sede domani?",
                "Nepřítomnost zaměstnance", "Автоответчик не работает", "自動返信が届きません", "부재중 전화", "Niet aanwezig bij levering",
            )
        ),
        {"Return-Path": "<support@acme.test>"},
        {"Return-Path": "<help+SRS=Ab1=CD=example.org=ann@globex.test>"},
    ],
)  # fmt: skip
def test_what_looks_like_a_machine_and_is_none(fields: dict[str, str]) -> None:
    assert judge(mail_of(fields)).may_auto_answer


def test_verdicts_decide_spam_and_virus_and_headers_do_not() -> None:
    mail = mail_of({"X-SES-Spam-Verdict": "FAIL", "X-SES-Virus-Verdict": "FAIL", "X-Spam-Flag": "YES"})
    assert judge(mail).kind == "human"
    assert judge(mail, verdicts={"spamVerdict": "FAIL", "virusVerdict": "PASS"}).kind == "spam"
    assert judge(mail, verdicts={"spam": "FAIL", "virus": "FAIL"}).kind == "virus"
    assert judge(mail, verdicts={"spam": "GRAY", "virus": "PROCESSING_FAILED"}).kind == "human"


def test_the_envelope_outranks_the_return_path_field() -> None:
    mail = mail_of({})
    assert judge(mail, envelope_from="").kind == "auto_reply"
    assert judge(mail, envelope_from="MAILER-DAEMON@mx.example").kind == "bounce"
    assert judge(mail_of({"Return-Path": "<>"}), envelope_from="ann@example.org").kind == "human"


def test_blind_copy_is_not_answered() -> None:
    mail = mail_of({})
    assert not judge(mail, recipient="billing@acme.test").may_auto_answer
    assert judge(mail, recipient="Support@Acme.test").may_auto_answer


def test_own_addresses_may_be_a_question() -> None:
    mail = mail_of({"From": "x@acme.test"})
    assert classify(mail, own_addresses=lambda address: address.endswith("@acme.test")).kind == "self"
    assert classify(mail).kind == "human"
