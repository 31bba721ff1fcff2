"""The parts of a mail as text, HTML and files."""

from __future__ import annotations

import html as entities
import re
from hashlib import sha256
from typing import Literal
from urllib.parse import unquote

from msgspec.structs import replace

from inbox.mime import subjects
from inbox.mime.bodies import Bodies
from inbox.mime.charsets import decode, meta_charset
from inbox.mime.flowed import unflow
from inbox.mime.html_text import html_to_text, html_without_quote
from inbox.mime.limits import Limits
from inbox.mime.mail_role import role_of
from inbox.mime.naming import safe_filename
from inbox.mime.params import parameter
from inbox.mime.reply_text import reply_text
from inbox.mime.sanitise import body_text, header_text
from inbox.mime.sniffing import sniff
from inbox.mime.structure import Part, Tree
from inbox.mime.tnef import SIGNATURE, read_tnef
from inbox.mime.transfer import QUOTED_PRINTABLE, decode_transfer, is_quoted_printable
from inbox.mime.types import ParsedAttachment

_CID = re.compile(r"cid:([^\"'<>\s)\\]{1,300})", re.IGNORECASE)
_TNEF = frozenset({"application/ms-tnef", "application/vnd.ms-tnef"})
_MEDIA = ("image/", "audio/", "video/")
_PGP = "-----BEGIN PGP MESSAGE-----"
Origin = Literal["mime", "tnef"]


class Content:
    """What `_Reader` collects; the empty one stands for a mail whose parts were not read."""

    def __init__(self) -> None:
        self.text = ""
        self.text_source: Literal["plain", "html", "tnef", "none"] = "none"
        self.html = ""
        self.reply_text = ""
        self.attachments: list[ParsedAttachment] = []
        self.charset: str | None = None
        self.signed = False
        self.encrypted = False
        self.forwarded = False
        self.partial: str | None = None
        self.warnings: list[str] = []


def read_content(raw: bytes, tree: Tree, bodies: Bodies, limits: Limits) -> Content:
    reader = _Reader(raw, bodies, limits)
    reader.content.warnings.extend(tree.warnings)
    reader.read_texts()
    for part in bodies.attachments:
        reader.read_attachment(part)
    content = reader.content
    if content.html and content.attachments:
        referred = frozenset(unquote(found).lower() for found in _CID.findall(content.html))
        content.attachments = [_placed(item, referred, content.html) for item in content.attachments]
    _flags(tree, content)
    return content


class _Reader:
    def __init__(self, raw: bytes, bodies: Bodies, limits: Limits) -> None:
        self.raw = raw
        self.bodies = bodies
        self.limits = limits
        self.content = Content()
        self.text_left = limits.text_bytes
        self.file_left = limits.attachment_bytes
        self.tnef_left = limits.tnef
        self.texts: dict[int, str] = {}

    def read_texts(self) -> None:
        content = self.content
        shown = self.bodies.text or self.bodies.damaged
        plain = [self.text_of(part) for part in shown if part.kind == "text/plain"]
        html = self.bodies.html or self.bodies.damaged
        if any(part.kind == "text/html" for part in html):
            content.html = "\n".join(filter(None, (self.html_of(part) for part in html)))
        if len(plain) == len(shown) == 1:
            content.text = plain[0]
        else:
            content.text = _joined([self.as_text(part) for part in shown])
        if any(text.strip() for text in plain):
            content.text_source = "plain"
        elif content.html:
            content.text = (
                content.text if content.text.strip() else html_to_text(content.html, self.limits.html_to_text)
            )
            content.text_source = "html" if content.text else "none"

    def as_text(self, part: Part) -> str:
        if part.kind == "text/html":
            return html_to_text(self.text_of(part), self.limits.html_to_text)
        return self.text_of(part) if part.kind == "text/plain" else ""

    def html_of(self, part: Part) -> str:
        """Plain parts between the HTML ones are shown too: they are part of what was said."""
        if part.kind == "text/html":
            return self.text_of(part)
        text = self.text_of(part).strip() if part.kind == "text/plain" else ""
        return f"<pre>{entities.escape(text)}</pre>" if text else ""

    def text_of(self, part: Part) -> str:
        known = self.texts.get(id(part))
        if known is None:
            known = self.texts[id(part)] = self.decoded(part)
        return known

    def decoded(self, part: Part) -> str:
        end = part.end
        if end - part.start > self.text_left:
            end = part.start + self.text_left
            self.content.partial = f"text cut after {self.limits.text_bytes} bytes"
        self.text_left -= end - part.start
        data, remark = decode_transfer(self.raw, part.start, end, part.encoding)
        if is_quoted_printable(data, part.encoding):
            data, remark = (
                decode_transfer(data, 0, len(data), QUOTED_PRINTABLE)[0],
                "transfer: quoted-printable, not declared",
            )
        declared = part.params.get("charset") or part.params.get("charset*")
        text, used, honest = decode(data, declared, meta_charset(data) if part.kind == "text/html" else None)
        self.note(part, declared, used, honest, remark)
        text = body_text(text.removeprefix("\ufeff"))
        if part.kind == "text/plain" and part.params.get("format", "").lower() == "flowed":
            text = unflow(text, delete_space=part.params.get("delsp", "").lower() == "yes")
        return text

    def note(self, part: Part, declared: str | None, used: str, honest: bool, remark: str | None) -> None:
        if self.content.charset is None and used not in {"us-ascii", "utf-8"}:
            self.content.charset = used
        if not honest:
            shown = f"declared {header_text(declared)[:40]!r}" if declared else "nothing declared"
            self.content.warnings.append(f"charset: part {part.number} {shown}, read as {used}")
        if remark is not None:
            self.content.warnings.append(f"{remark} (part {part.number})")

    def read_attachment(self, part: Part) -> None:
        data, remark = decode_transfer(self.raw, part.start, part.end, part.encoding)
        if remark is not None:
            self.content.warnings.append(f"{remark} (part {part.number})")
        if (part.kind in _TNEF or data.startswith(SIGNATURE)) and self.unpacked(data, part):
            return
        self.keep(data, part, self.filename(part), part.kind, "mime")

    def filename(self, part: Part) -> str | None:
        name = parameter(part.disposition_params, "filename", self.content.charset)
        return name or parameter(part.params, "name", self.content.charset)

    def unpacked(self, data: bytes, part: Part) -> bool:
        self.tnef_left -= 1
        content = read_tnef(data) if self.tnef_left >= 0 else None
        if content is None:
            self.content.warnings.append(f"tnef: broken, kept as one file (part {part.number})")
            return False
        for item in content.files:
            kind = item.content_type or ""
            self.keep(item.content, part, item.filename, kind, "tnef", item.content_id)
        if not self.content.html:
            self.content.html = content.html
        if not self.content.text.strip():
            self.content.text = content.text or html_to_text(content.html, self.limits.html_to_text)
            self.content.text_source = "tnef"
        return True

    def keep(
        self, data: bytes, part: Part, name: str | None, kind: str, origin: Origin, cid: str | None = None
    ) -> None:
        filename = safe_filename(name)
        if name and filename != name.strip():
            self.content.warnings.append(f"filename: {header_text(name)[:120]!r} kept as {filename!r}")
        self.file_left -= len(data)
        header = part.header.first if origin == "mime" else {}
        sniffed = sniff(data)
        self.content.attachments.append(
            ParsedAttachment(
                filename=filename,
                content_type=header_text(kind)[:255] or sniffed,
                sniffed_type=sniffed,
                size=len(data),
                sha256=sha256(data).hexdigest(),
                inline=origin == "mime" and part.disposition == "inline" and part.kind.startswith(_MEDIA),
                content_id=cid or _bare_id(header.get("content-id")),
                content_location=header_text(header["content-location"])[:500]
                if "content-location" in header
                else None,
                disposition=part.disposition or None,
                content=data if self.file_left >= 0 else None,
                part=part.number,
                origin=origin,
            )
        )


def _bare_id(value: str | None) -> str | None:
    return header_text(value).strip("<> ")[:500] or None if value else None


def _joined(texts: list[str]) -> str:
    """Each part starts on a line of its own."""
    return "".join(text if text.endswith("\n") else text + "\n" for text in texts if text)


def _placed(item: ParsedAttachment, referred: frozenset[str], html: str) -> ParsedAttachment:
    """The HTML shows it: by Content-ID whatever its case or container, or by Content-Location (RFC 2557)."""
    shown = (item.content_id or "").lower() in referred or bool(item.content_location and item.content_location in html)
    return replace(item, inline=True) if shown and not item.inline else item


def _flags(tree: Tree, content: Content) -> None:
    kinds = {tree.root.kind}
    for leaf in tree.leaves:
        kinds.add(leaf.kind)
        if leaf.parent is not None:
            kinds.add(leaf.parent.kind)
        if leaf.kind.endswith("pkcs7-mime"):
            opaque = "signed" in leaf.params.get("smime-type", "")
            content.signed = content.signed or opaque
            content.encrypted = content.encrypted or not opaque
    content.signed = content.signed or "multipart/signed" in kinds
    content.encrypted = content.encrypted or "multipart/encrypted" in kinds or _PGP in content.text[:2000]


def read_reply(content: Content, limits: Limits, subject: str, *, answered: bool, referred: bool) -> None:
    """The fields of the mail decide with its text, and are read with the charset of its parts."""
    role = role_of(subject, answered, referred)
    whole = reply_text(content.text, role=role)
    if role == "forward" and answered and not whole.forwarded:
        # Only the text tells a forward, in which programs name the mail, too, from an answer whose subject was left as it was.
        role = "reply"
        whole = reply_text(content.text)
    content.reply_text = whole.text
    content.forwarded = whole.forwarded and not subjects.is_answer(subject)
    passed_on = role == "forward" or (role == "first" and whole.forwarded)
    if content.text_source == "html" and not passed_on:
        own = html_without_quote(content.html, limits.html_to_text)
        content.reply_text = reply_text(own, role=role).text if own else whole.text
