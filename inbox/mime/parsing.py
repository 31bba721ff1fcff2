"""Bytes of one mail to its normal form. `parse` answers for every input; only MemoryError leaves it.

An own reader over bytes, not the standard library's: `email.policy.default` raises on about one real mail
in seventy and is quadratic in places; the tests keep the library as an oracle.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from inbox.mime import subjects
from inbox.mime.bodies import choose_bodies
from inbox.mime.bounces import read_bounce
from inbox.mime.classify import classify, looks_like_bounce
from inbox.mime.content import Content, read_content, read_reply
from inbox.mime.dates import parse_date
from inbox.mime.fields import Fields
from inbox.mime.headers import Header, read_header
from inbox.mime.limits import DEFAULT_LIMITS, Limits
from inbox.mime.prescan import Scan, prescan
from inbox.mime.rendering import quarantined
from inbox.mime.structure import Part, Tree, read_tree
from inbox.mime.types import ParsedMail, Status

_LEADING_BLANK = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*\r?\n)+(?=[!-9;-~]+[ \t]*:)")
_MBOX = re.compile(rb">?From [^\n]*\n")


def parse(raw: bytes, *, limits: Limits = DEFAULT_LIMITS) -> ParsedMail:
    """The one door. A mail that cannot be read is `quarantined`; it is never an exception."""
    try:
        return _parse(_normalised(raw), len(raw), limits)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - the promise of this function; the type goes into the reason
        return quarantined(f"unreadable: {type(error).__name__}", len(raw))


def _normalised(raw: bytes) -> bytes:
    """Before the first field: byte-order mark, blank lines, an mbox separator. Bare CR line ends become LF."""
    if raw[:1] in {b"\xef", b"\r", b"\n", b" ", b"\t"}:
        match = _LEADING_BLANK.match(raw)
        raw = raw[match.end() :] if match else raw.removeprefix(b"\xef\xbb\xbf")
    if raw.startswith((b"From ", b">From ")):
        match = _MBOX.match(raw)
        raw = raw[match.end() :] if match else raw
    if b"\n" not in raw[:4096] and b"\r" in raw[:4096]:
        raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return raw


def _parse(raw: bytes, size: int, limits: Limits) -> ParsedMail:
    scan = prescan(raw, limits)
    reason = scan.reason
    if scan.verdict == "quarantined":
        header = read_header(raw, 0, scan.header_end, limits)
        return _mail(header, None, Content(), Scan("quarantined", reason, scan.header_end), size, limits)
    if len(raw) > limits.size:
        raw = raw[: scan.header_end + limits.oversize_window]
    header = read_header(raw, 0, len(raw), limits)
    tree = read_tree(raw, header, limits)
    if tree.overflow is not None or header.truncated:
        reason = reason or tree.overflow or "a header field beyond the limit"
    content = read_content(raw, tree, choose_bodies(tree), limits)
    reason = reason or content.partial
    verdict: Status = "parsed" if reason is None else "parsed_partial"
    return _mail(header, tree, content, Scan(verdict, reason, scan.header_end), size, limits)


def _mail(header: Header, tree: Tree | None, content: Content, scan: Scan, size: int, limits: Limits) -> ParsedMail:
    reader = Fields(header, content.charset, limits)
    origin = reader.origin()
    root = tree.root if tree is not None else Part(header, None, 0, "text/plain")
    subject = reader.subject()
    in_reply_to, references = reader.ids("in-reply-to"), reader.ids("references")
    read_reply(content, limits, subject, answered=bool(in_reply_to), referred=bool(references))
    warnings = [*reader.warnings, *content.warnings][: limits.warnings]
    partial = reader.partial if scan.reason is None else None
    mail = ParsedMail(
        status="parsed_partial" if partial else scan.verdict,
        reason=scan.reason or partial,
        size=size,
        subject=subject,
        from_=origin,
        from_ambiguous=reader.ambiguous,
        sender=reader.single("sender"),
        reply_to=reader.addresses("reply-to"),
        return_path=reader.return_path(),
        to=reader.addresses("to"),
        cc=reader.addresses("cc"),
        date=parse_date(header.get("date")),
        message_id=next(iter(reader.ids("message-id")), None),
        in_reply_to=in_reply_to,
        references=references,
        text=content.text,
        text_source=content.text_source,
        html=content.html,
        reply_text=content.reply_text,
        attachments=content.attachments,
        headers=reader.decoded(),
        content_type=root.declared,
        report_type=root.params.get("report-type"),
        signed=content.signed,
        encrypted=content.encrypted,
        is_forward=content.forwarded or subjects.is_forward(subject),
        warnings=warnings,
    )
    return _judged(mail)


def _judged(mail: ParsedMail) -> ParsedMail:
    """The class as far as the message alone tells; ingest asks again with the envelope, verdicts and own addresses."""
    if mail.status == "quarantined":
        return replace(mail, class_reason="not read", may_auto_answer=False)
    judged = classify(mail)
    # Only the envelope may tell that it is one; it is read here, where its time is bounded.
    bounce = read_bounce(mail) if judged.kind == "bounce" or looks_like_bounce(mail) else None
    return replace(
        mail, mail_class=judged.kind, class_reason=judged.reason, may_auto_answer=judged.may_auto_answer, bounce=bounce
    )
