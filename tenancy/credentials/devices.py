"""Where a person comes from: the address, the browser, and what to call the two together."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_network
from typing import Any

from ua_parser import parse

from tenancy.credentials import peers

LONGEST = 400


@dataclass(frozen=True)
class Origin:
    """Of a request. `address` is empty where a trusted proxy wrote none."""

    address: str = ""
    user_agent: str = ""

    @property
    def device(self) -> str:
        return described(self.user_agent)

    @property
    def network(self) -> str:
        """What counters count by: one IPv4 address, or the /64 that one IPv6 subscriber has."""
        return str(ip_network(f"{self.address}/64", strict=False)) if ":" in self.address else self.address


def origin_of(meta: Mapping[str, Any]) -> Origin:
    """Of the environment of a WSGI request. X-Forwarded-For counts only when our own proxy wrote it."""
    agent = "".join(letter for letter in str(meta.get("HTTP_USER_AGENT", "")) if letter.isprintable())
    return Origin(peers.address_of(meta), agent[:LONGEST])


@lru_cache(maxsize=1_000)
def _known(user_agent: str) -> str:
    found = parse(user_agent)
    browser = found.user_agent.family if found.user_agent else ""
    system = found.os.family if found.os else ""
    return " on ".join(filter(None, (browser, system)))[:100]


def described(user_agent: str) -> str:
    """Such as “Firefox on Linux”; empty when it says nothing that is known."""
    return _known(user_agent) if user_agent else ""
