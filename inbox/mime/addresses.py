"""Address fields (RFC 5322 §3.4, RFC 6532), read in one pass without recursion.

What cannot be an address is dropped with a warning, never an error: one bad Cc must not stop a mail.
"""

from __future__ import annotations

import re

from inbox.mime.sanitise import name_text
from inbox.mime.types import Address
from inbox.mime.words import decode_words, raw_text

_PLAIN = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]+@[\w.-]+", re.ASCII)
_SPECIAL = re.compile(r'["(:;\\]')
_TOKEN = re.compile(
    r'"((?:[^"\\]|\\.)*)"?|<([^<>"]*(?:"(?:[^"\\]|\\.)*"[^<>"]*)*)>?|([(),;:])|((?:[^\s"<>(),;:\\]|\\[()<>,;:"\\]?)+)|(\s+)'
)
_PAIR = re.compile(r'\\([()<>,;:"\\])')
_COMMENT = re.compile(r"\((?:[^()\\]|\\.)*\)")
_NESTED = 4
_EMBEDDED = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
_SOURCE_ROUTE = re.compile(r"@[^:]*:")
_BAD_ADDRESS = re.compile(r"[\x00-\x20\x7f<>()\[\],;\"\\]")
_MAX_LENGTH = 320
_MAX_NAME = 500


class AddressList:
    """What a field held: mailboxes, whether some were left out, and leftovers that were no address."""

    __slots__ = ("angles", "mailboxes", "rubbish", "truncated")

    def __init__(self) -> None:
        self.mailboxes: list[Address] = []
        self.rubbish: list[str] = []
        self.truncated = False
        self.angles = 0


def parse_addresses(value: str, hint: str | None = None, *, limit: int = 1_000) -> AddressList:
    result = AddressList()
    if not value:
        return result
    if _SPECIAL.search(value) is None and _read_plain(value, result, hint, limit):
        return result
    if value.count('"') % 2:
        value = value.replace('"', "")  # unbalanced: an open quote would swallow the addresses after it
    _Reader(result, hint, limit).read(value)
    return result


def _read_plain(value: str, result: AddressList, hint: str | None, limit: int) -> bool:
    """Nearly all mail: `Name <address>` and bare addresses, no quotes or comments; False sends it the long way."""
    items = value.split(",", limit + 1)
    found = []
    for item in items[:limit]:
        name, bracket, rest = item.strip().partition("<")
        address, name = (rest[:-1], name.rstrip()) if bracket and rest.endswith(">") else (name, "")
        if (bracket and not rest.endswith(">")) or _PLAIN.fullmatch(address) is None or len(address) > _MAX_LENGTH:
            return False
        found.append(Address(name_text(decode_words(name, hint))[:_MAX_NAME] if name else "", address))
    result.mailboxes = found
    result.truncated = len(items) > limit
    result.angles = min(1, len(found))
    return True


class _Reader:
    def __init__(self, result: AddressList, hint: str | None, limit: int) -> None:
        self.result = result
        self.hint = hint
        self.limit = limit
        self.clear()

    def clear(self) -> None:
        self.words: list[str] = []
        self.comment: list[str] = []
        self.angle: str | None = None
        self.named = 0

    def read(self, value: str) -> None:
        depth = 0
        for match in _TOKEN.finditer(value):
            mark = match[3]
            if mark == "(":
                depth += 1
            elif mark == ")":
                depth = max(0, depth - 1)
            elif depth:
                self.comment.append(_PAIR.sub(r"\1", match[0] if match[1] is None else match[1]))
            elif mark is not None:
                self.separator(mark)
            else:
                self.token(match)
            if len(self.result.mailboxes) >= self.limit:
                self.result.truncated = True
                return
        self.finish()

    def separator(self, mark: str) -> None:
        if mark == ":" and self.angle is None:
            self.clear()  # a group name (RFC 5322 §3.4); its members follow
        else:
            self.finish()

    def token(self, match: re.Match[str]) -> None:
        quoted, angle, _, atom, space = match.groups()
        if angle is not None:
            self.result.angles += 1
            if self.angle is not None and self.angle.strip():
                if angle.strip():
                    self.missing_comma(angle)
                return
            self.angle, self.named = angle, len(self.words)
        elif quoted is not None:
            self.words.append(re.sub(r"\\(.)", r"\1", quoted))
        elif atom is not None:
            self.words.append(_PAIR.sub(r"\1", atom))
        elif space and self.words:
            self.words.append(" ")

    def missing_comma(self, angle: str) -> None:
        """What was said after the one address is the name of the next."""
        after = self.words[self.named :]
        del self.words[self.named :]
        self.finish()
        self.words, self.angle, self.named = after, angle, len(after)

    def finish(self) -> None:
        """End of one mailbox: `name <address>`, a bare address, or an address with its name as a comment."""
        name = "".join(self.words).strip()
        address = self.angle
        comment = "".join(self.comment).strip()
        self.clear()
        if address is None:
            name, address = _bare(name)
        mailbox = self.mailbox(name or comment, address)
        if mailbox is not None:
            self.result.mailboxes.append(mailbox)
        elif name or address:
            self.result.rubbish.append(name_text(decode_words(name or address, self.hint))[:200])

    def mailbox(self, name: str, address: str) -> Address | None:
        cleaned = clean_address(address, self.hint)
        if cleaned is None:
            return None
        return Address(name_text(decode_words(name, self.hint))[:_MAX_NAME] if name else "", cleaned)


def _bare(text: str) -> tuple[str, str]:
    """No angle brackets: the one word with an @ is the address, the rest its name (RFC 822 §6.2.7 and habit)."""
    words = text.split()
    for position, word in enumerate(words):
        if "@" in word:
            return " ".join(words[:position] + words[position + 1 :]), word
    return text, ""


def clean_address(address: str, hint: str | None = None) -> str | None:
    """A usable addr-spec or None; comments, source routes (RFC 5322 §4.4) and stray brackets or `mailto:` are taken off."""
    text = raw_text(address, hint).strip("<> \t").removeprefix("mailto:").strip("'")
    if "(" in text and '"' not in text:
        for _ in range(_NESTED):
            text = _COMMENT.sub("", text)
        text = text.strip()
    if text.startswith("@"):
        text = _SOURCE_ROUTE.sub("", text, count=1)
    if "=?" in text:
        text = decode_words(text, hint)
    local, at, domain = text.rpartition("@")
    if not at or not local or not domain or len(text) > _MAX_LENGTH:
        return None
    quoted = local.startswith('"') and local.endswith('"')
    # A local part of nothing but control characters splits into nothing.
    local = local.strip('"') if quoted else (local.split() or [""])[-1]
    if not local or _BAD_ADDRESS.search(local.replace(" ", "")) or _BAD_ADDRESS.search(domain.strip("[]")):
        return None
    return name_text(f'"{local}"@{domain}' if " " in local else f"{local}@{domain}")


def name_disguises(mailbox: Address) -> bool:
    """`"ceo@corp.example" <x@evil.example>`: the name shows an address that the mail does not come from."""
    return any(found.casefold() != mailbox.address.casefold() for found in _EMBEDDED.findall(mailbox.name))
