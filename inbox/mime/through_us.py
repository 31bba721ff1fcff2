"""Mail of a customer that came by way of an address of ours: a mailing group, a web form, a tool that marks its mail.

A group that is itself an inbox's address puts list fields on everything, and writes its own address into From where the
author's domain forbids others to send in its name. A web form does the latter always. Both name the author in Reply-To. A
person is behind such mail, whom a list or our own mail come back would keep from everybody's sight; but nothing in it proves
that, so no machine answers it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from inbox.mime.types import Address, ParsedMail

# Why a mail is a person's although From is ours: kept with it, so that whoever answers finds the author (named_by).
WRITTEN_THROUGH_US = "sender is one of our inboxes, and Reply-To names who wrote"

_ID = re.compile(r"<([^<>\s]{1,255})>\s*$")
_ADDRESS = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\w.-]{1,255}", re.ASCII)
_NAMING_FIELDS = frozenset({"list-post", "mailing-list", "x-mailing-list", "x-beenthere"})
_MAX_NAMES = 20


def author(mail: ParsedMail, is_own: Callable[[str], bool]) -> Address | None:
    """Who wrote it: From, and where that is an address of ours, the Reply-To that is none."""
    origin = mail.from_
    if origin is None or not mail.reply_to or not is_own(origin.address):
        return origin
    first = next((item for item in mail.reply_to if "@" in item.address), None)
    return origin if first is None or is_own(first.address) else first


def is_own_list(mail: ParsedMail, is_own: Callable[[str], bool]) -> bool:
    """Whether the list that has sent it is an address of ours, by its id (RFC 2919) or else by its address."""
    names = list(_lists(mail))
    return bool(names) and all(any(is_own(address) for address in spellings) for spellings in names)


def list_addresses(mail: ParsedMail) -> list[str]:
    """All addresses that the list of the mail may have."""
    return [address for spellings in _lists(mail) for address in spellings]


def _lists(mail: ParsedMail) -> Iterator[list[str]]:
    """Each list that the mail names, in the spellings of its address: an id has a dot where the @ was."""
    ids = [value for name, value in mail.headers if name.lower() == "list-id"][:_MAX_NAMES]
    for value in ids:
        found = _ID.search(value)
        labels = (found[1] if found else value.strip()).split(".")[:_MAX_NAMES]
        yield [f"{'.'.join(labels[:place])}@{'.'.join(labels[place:])}" for place in range(1, len(labels))]
    if ids:
        return
    for name, value in mail.headers:
        if name.lower() in _NAMING_FIELDS and (match := _ADDRESS.search(value[:1000])) is not None:
            yield [match[0]]
