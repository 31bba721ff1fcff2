"""Which addresses an outbound request may reach, at the edges of the lists."""

import pytest

from kernel.addresses import may_connect


@pytest.mark.parametrize(
    ("text", "open_to"),
    [
        ("1.1.1.1", True),
        ("8.8.8.8", True),
        ("100.63.255.255", True),
        ("100.128.0.0", True),
        ("172.15.255.255", True),
        ("172.32.0.0", True),
        ("11.0.0.0", True),
        ("223.255.255.255", True),
        ("2606:4700::1111", True),
        ("2a00:1450::1", True),
        ("9.255.255.255", True),
        ("100.64.0.0", False),
        ("172.16.0.0", False),
        ("::ffff:1.1.1.1", False),
        ("1.1.1.1 ", False),
        ("", False),
        ("example.com", False),
        ("2606:4700::1111%eth0", False),
    ],
)
def test_the_edges_of_the_public_internet(text, open_to):
    assert may_connect(text) is open_to


def test_opened_networks_open_themselves_only():
    allowed = ["10.1.0.0/16", "fd00::/8"]
    assert [may_connect(t, allowed=allowed) for t in ("10.1.2.3", "10.2.0.1", "fd12::1", "fc00::1", "127.0.0.1")] == [
        True, False, True, False, False,
    ]  # fmt: skip
