"""The fields of the top header as values: where a field occurs twice the first one decides, and From is watched."""

from __future__ import annotations

import re

from inbox.mime.addresses import AddressList, clean_address, name_disguises, parse_addresses
from inbox.mime.headers import Header
from inbox.mime.limits import Limits
from inbox.mime.sanitise import header_text
from inbox.mime.types import Address
from inbox.mime.words import decode_words, raw_text

_MESSAGE_ID = re.compile(r"<([^<>\s]{1,995})>")
_BARE_ID = re.compile(r"[^\s<>,;\"']{1,500}@[^\s<>,;\"']{1,495}")
_ANGLE = re.compile(r"<([^<>]*)>")


class Fields:
    def __init__(self, header: Header, hint: str | None, limits: Limits) -> None:
        self.header = header
        self.hint = hint
        self.limits = limits
        self.known: dict[str, str] = {}
        self.warnings: list[str] = []
        self.ambiguous = False
        self.partial: str | None = None

    def origin(self) -> Address | None:
        """From, else Sender, else Return-Path, else nobody; ambiguous means: prove nothing by this address."""
        found = self._list("from")
        count = sum(1 for name, _ in self.header.fields if len(name) == 4 and name.lower() == "from")
        self.ambiguous = count > 1 or len(found.mailboxes) > 1 or found.angles > 1
        if found.mailboxes:
            first = found.mailboxes[0]
            self.ambiguous = self.ambiguous or ("@" in first.name and name_disguises(first))
            if self.ambiguous:
                self.warnings.append("from: ambiguous, the sender cannot be relied upon")
            return first
        return self._stand_in()

    def _stand_in(self) -> Address | None:
        sender = self.single("sender")
        if sender is not None:
            self.warnings.append("from: no usable address, Sender stands in")
            return sender
        path = self.return_path()
        if path:
            self.warnings.append("from: no usable address, Return-Path stands in")
            return Address("", path)
        self.warnings.append("from: no usable address")
        return None

    def _list(self, name: str) -> AddressList:
        value = self.header.first.get(name)
        if not value:
            return AddressList()
        found = parse_addresses(value, self.hint, limit=self.limits.addresses)
        if found.truncated:
            self.partial = f"more than {self.limits.addresses} addresses in {name}"
        if found.rubbish:
            self.warnings.append(f"{name}: not an address: {found.rubbish[0][:80]!r}")
        return found

    def addresses(self, name: str) -> list[Address]:
        return self._list(name).mailboxes

    def single(self, name: str) -> Address | None:
        return next(iter(self.addresses(name)), None)

    def subject(self) -> str:
        value = self.header.first.get("subject")
        if not value:
            return ""
        text = self.text(value)
        if len(text) > self.limits.subject:
            self.warnings.append(f"subject: cut from {len(text)} characters")
            text = text[: self.limits.subject]
        return text

    def return_path(self) -> str | None:
        value = self.header.first.get("return-path")
        if value is None:
            return None
        match = _ANGLE.search(value)
        inner = (match[1] if match else value).strip()
        return "" if not inner else clean_address(inner, self.hint)

    def ids(self, name: str) -> list[str]:
        """Message identifiers without their brackets (RFC 5322 §3.6.4); bare ones are taken where none is bracketed."""
        value = self.header.first.get(name)
        if not value:
            return []
        value = raw_text(value, self.hint)
        found = _MESSAGE_ID.findall(value) or _BARE_ID.findall(value)
        if not found and name == "message-id":
            found = value.strip("<> ").split()[:1]
        if len(found) > self.limits.references:
            self.warnings.append(f"{name}: {len(found)} identifiers, the first and the last are kept")
            found = [found[0], *found[-(self.limits.references - 1) :]]
        return [header_text(identifier)[:995] for identifier in found]

    def decoded(self) -> list[tuple[str, str]]:
        """Every field, decoded and safe to store, in the order of the mail."""
        return [
            (name, value if value.isprintable() and value.isascii() and "=?" not in value else self.text(value))
            for name, value in self.header.fields
        ]

    def text(self, value: str) -> str:
        known = self.known.get(value)
        if known is None:
            known = self.known[value] = decode_words(value, self.hint, limit=self.limits.encoded_words)
        return known
