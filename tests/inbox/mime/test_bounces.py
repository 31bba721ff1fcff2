"""Bounces: whose delivery failed, and of which of our messages."""

from __future__ import annotations

import pytest

from inbox.mime.parsing import parse
from inbox.mime.types import BounceReport

HEAD = "Return-Path: <>\r\nFrom: MAILER-DAEMON@mx.example\r\nSubject: Undelivered Mail\r\n"


def report(status: str, original: str = "", kind: str = "text/rfc822-headers") -> bytes:
    return (
        HEAD + 'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\r\n\r\n'
        "--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n"
        f"--b\r\nContent-Type: message/delivery-status\r\n\r\n{status}\r\n"
        f"--b\r\nContent-Type: {kind}\r\n\r\n{original}\r\n--b--\r\n"
    ).encode()


def bounce_of(raw: bytes) -> BounceReport:
    mail = parse(raw)
    assert mail.mail_class == "bounce"
    assert mail.bounce is not None
    return mail.bounce


ORIGINAL = "From: support@acme.test\r\nMessage-ID: <our-1@acme.test>\r\nSubject: x\r\n"


def test_failed_recipient_with_status_and_original_message() -> None:
    bounce = bounce_of(
        report(
            "Reporting-MTA: dns; mx.example\r\n\r\n"
            "Final-Recipient: rfc822; bob@example.org\r\nAction: failed\r\nStatus: 5.1.1\r\n"
            "Diagnostic-Code: smtp; 550 5.1.1 no such\r\n user here\r\n",
            ORIGINAL,
        )
    )
    (recipient,) = bounce.recipients
    assert (recipient.address, recipient.action, recipient.status) == ("bob@example.org", "failed", "5.1.1")
    assert recipient.diagnostic == "550 5.1.1 no such user here"
    assert (bounce.original_message_id, bounce.reporting_mta) == ("our-1@acme.test", "mx.example")


def test_several_recipients_keep_their_own_action() -> None:
    bounce = bounce_of(
        report(
            "Reporting-MTA: dns; mx.example\r\n\r\n"
            "Final-Recipient: rfc822; a@example.org\r\nAction: delayed\r\nStatus: 4.4.1\r\n\r\n"
            "Final-Recipient: rfc822; b@example.org\r\nAction: delivered (ok)\r\nStatus: 2.0.0\r\n\r\n"
            "Original-Recipient: rfc822; c@example.org\r\nFinal-Recipient: rfc822; d@example.org\r\nStatus: 5.2.2\r\n",
            ORIGINAL,
            "message/rfc822",
        )
    )
    assert [(item.address, item.action) for item in bounce.recipients] == [
        ("a@example.org", "delayed"),
        ("b@example.org", "delivered"),
        ("c@example.org", "failed"),
    ]


def test_exim_names_recipients_in_a_field() -> None:
    raw = HEAD.encode() + b"X-Failed-Recipients: a@example.org, b@example.org\r\n\r\n550 5.1.1 unknown\r\n"
    assert [(item.address, item.status) for item in bounce_of(raw).recipients] == [
        ("a@example.org", "5.1.1"),
        ("b@example.org", "5.1.1"),
    ]


def test_qmail_says_it_in_words() -> None:
    raw = HEAD.encode() + (
        b"\r\nHi. This is the qmail-send program at mx.example.\r\n"
        b"I'm afraid I wasn't able to deliver your message to the following addresses.\r\n"
        b"This is a permanent error; I've given up. Sorry it didn't work out.\r\n\r\n"
        b"<bob@example.org>:\r\n192.0.2.7 does not like recipient. Remote host said: 550 No such user\r\n"
        b"\r\n--- Below this line is a copy of the message.\r\n\r\nMessage-ID: <our-2@acme.test>\r\n"
    )
    bounce = bounce_of(raw)
    assert [item.address for item in bounce.recipients] == ["bob@example.org"]
    assert bounce.original_message_id == "our-2@acme.test"


@pytest.mark.parametrize("sender", ["Postmaster <postmaster@mx.example>", "System <MAILER-DAEMON>", "mx.example"])
def test_a_bounce_that_only_its_words_tell(sender: str) -> None:
    raw = (
        f"From: {sender}\r\nSubject: [External] Undeliverable: Offer\r\n\r\n"
        "The gateway is unable to deliver what you sent to:\r\n\r\n  bob@example.org\r\n\r\n5.1.1, no box of this name.\r\n"
    ).encode()
    (told,) = bounce_of(raw).recipients
    assert (told.address, told.action, told.status) == ("bob@example.org", "failed", "5.1.1")


def test_complaint_of_a_feedback_loop() -> None:
    raw = (
        "From: fbl@isp.example\r\nContent-Type: multipart/report; report-type=feedback-report; boundary=b\r\n\r\n"
        "--b\r\n\r\nThis is a complaint.\r\n--b\r\nContent-Type: message/feedback-report\r\n\r\n"
        "Feedback-Type: abuse\r\nOriginal-Rcpt-To: <bob@example.org>\r\n\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n"
        f"{ORIGINAL}\r\n--b--\r\n"
    ).encode()
    bounce = bounce_of(raw)
    assert (bounce.recipients[0].address, bounce.recipients[0].action) == ("bob@example.org", "complaint")
    assert bounce.original_message_id == "our-1@acme.test"


@pytest.mark.parametrize("status", ["", "\r\n\r\n", "Final-Recipient:", "x" * 5_000, "Final-Recipient: rfc822; <>\r\n"])
def test_a_report_that_says_nothing_is_still_a_bounce(status: str) -> None:
    mail = parse(report(status))
    assert mail.mail_class == "bounce"
    assert mail.bounce is None


@pytest.mark.parametrize(
    ("said", "status", "action"),
    [
        ("mx.example (212.4.17.5) said: 550 no such user", None, "failed"),
        ("mx.example [4.17.5.212] said: 550 5.1.1 no such user", "5.1.1", "failed"),
        ("550-5.2.2 full, at 212.4.17.5", "5.2.2", "failed"),
        ("mx.example (212.4.17.5) said: 451 4.7.1 later.", "4.7.1", "delayed"),
        ("#5.1.0 unknown", "5.1.0", "failed"),
    ],
)
def test_the_address_of_a_server_is_no_status(said: str, status: str | None, action: str) -> None:
    (told,) = bounce_of(
        report(f"Final-Recipient: rfc822; bob@example.org\r\nDiagnostic-Code: smtp; {said}\r\n")
    ).recipients
    assert (told.status, told.action) == (status, action)
