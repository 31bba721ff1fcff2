"""Which network addresses an outbound request may reach.

`ipaddress.is_global` calls many special addresses global (NAT64 and 6to4 of loopback, multicast, cloud metadata), so the
lists are our own: the IANA special-purpose registries (RFC 6890 and its updates) plus the metadata addresses of the
large clouds. IPv6 forms that carry an IPv4 address are judged by the address that they carry.
"""

from collections.abc import Iterable
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_CLOSED_V4 = [
    ip_network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
        "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",
        "240.0.0.0/4",
    )
]  # fmt: skip
# Only global unicast is open in IPv6; of it, what is special is closed again.
_OPEN_V6 = IPv6Network("2000::/3")
_CLOSED_V6 = [
    ip_network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
]


def is_public(address: Address) -> bool:
    """Whether an address is of the public internet, by what it finally reaches."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _CLOSED_V4)
    if address.scope_id is not None:
        return False
    return address in _OPEN_V6 and not any(address in network for network in _CLOSED_V6)


@cache
def networks(texts: tuple[str, ...]) -> list[Network]:
    """Parse configured networks, once."""
    return [ip_network(text) for text in texts]


def may_connect(text: str, *, allowed: Iterable[str] = ()) -> bool:
    """Whether a connection to the address `text` may be opened; `allowed` are networks that the operator opened."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if any(address in network for network in networks(tuple(allowed))):
        return True
    return is_public(address)
