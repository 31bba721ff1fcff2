"""Who wrote what was forwarded: a guess from the forwarded part or from the header lines in the text (FS-5)."""

from __future__ import annotations

from itertools import islice

from inbox.mime.addresses import parse_addresses
from inbox.mime.headers import read_header
from inbox.mime.limits import DEFAULT_LIMITS
from inbox.mime.reply_marks import HEADER
from inbox.mime.types import Address, ParsedMail

_MAX_HEAD = 64 * 1024
_MAX_LINES = 400
# A line that names an author is a header only with others of its kind around it.
_NEAR = 4
_COMPANY = 2


def original_sender(mail: ParsedMail) -> Address | None:
    """The author of the first forwarded message; None when the mail names none."""
    return _of_part(mail) or _of_text(mail.text)


def _of_part(mail: ParsedMail) -> Address | None:
    for item in mail.attachments:
        if item.content_type == "message/rfc822" and item.content:
            head = item.content[:_MAX_HEAD]
            found = parse_addresses(read_header(head, 0, len(head), DEFAULT_LIMITS).get("from"), limit=1).mailboxes
            if found:
                return found[0]
    return None


def _of_text(text: str) -> Address | None:
    lines = list(islice(text.splitlines(), _MAX_LINES))
    for number, line in enumerate(lines):
        match = HEADER.match(line)
        if match is None or match["from"] is None:
            continue
        if sum(HEADER.match(other) is not None for other in lines[number + 1 : number + 1 + _NEAR]) < _COMPANY:
            continue
        # Outlook writes `Name [mailto:address]`; some write their lines in bold.
        _, _, value = line.replace("：", ":").partition(":")
        found = parse_addresses(value.replace("[mailto:", "<").replace("]", ">").strip(" *"), limit=1).mailboxes
        if found and "@" in found[0].address:
            return found[0]
    return None
