"""Who is at the other end of the connection, and which of its headers are to be believed: only those of our own proxies."""

from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Any

from django.conf import settings

from kernel.addresses import Address, networks


def address_of(meta: Mapping[str, Any]) -> str:
    """The caller's address: the peer's, or behind TRUSTED_PROXIES the last one in X-Forwarded-For that is none of them.

    Empty when a trusted proxy wrote what is no address: then nobody knows, and no rule about networks holds.
    """
    found = _parse(meta.get("REMOTE_ADDR"))
    hops = [hop.strip() for hop in str(meta.get("HTTP_X_FORWARDED_FOR", "")).split(",")]
    while found is not None and hops and _is_in(found, settings.TRUSTED_PROXIES):
        found = _parse(hops.pop())
    return str(found) if found is not None else ""


def is_certificate_proxy(meta: Mapping[str, Any]) -> bool:
    """Whether the peer itself, whatever its headers say, is a proxy that hands on client certificates."""
    peer = _parse(meta.get("REMOTE_ADDR"))
    return peer is not None and _is_in(peer, settings.CLIENT_CERT_PROXIES)


def is_within(address: str, allowed: Iterable[str]) -> bool:
    """Whether an address lies in one of some networks."""
    found = _parse(address)
    return found is not None and _is_in(found, allowed)


def certificate_header() -> str:
    """The key of the certificate's header in a request's environment."""
    return "HTTP_" + str(settings.CLIENT_CERT_HEADER).upper().replace("-", "_")


def _parse(text: Any) -> Address | None:
    """An address, without a port, in its plain form: ::ffff:192.0.2.1 is 192.0.2.1."""
    try:
        found = ip_address(text if isinstance(text, str) else "")
    except ValueError:
        return None
    if getattr(found, "scope_id", None) is not None:
        return None
    mapped = getattr(found, "ipv4_mapped", None)
    return mapped if mapped is not None else found


def _is_in(address: Address, texts: Iterable[str]) -> bool:
    return any(address in network for network in networks(tuple(texts)))
