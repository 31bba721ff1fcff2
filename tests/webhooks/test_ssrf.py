"""Places that no webhook may reach (E5): refused when it is made, when it is changed, and before a byte is sent."""

import socket
import threading
from collections.abc import Iterator

import pytest

from kernel import http
from kernel.http import AddressRefused
from tests.webhooks.conftest import Api, as_owner, dispatch, emit, hook, rows

HOSTS = [
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "0177.0.0.1", "017700000001",
    "127.0.0.1.", "0", "0.0.0.0", "00000127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1",
    "169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192", "198.18.0.1", "224.0.0.1",
    "240.0.0.1", "255.255.255.255", "192.0.2.1", "203.0.113.1", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376",
    "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]",
    "[fd00:ec2::254]", "[fe80::1]", "[fe80::1%25eth0]", "[fec0::1]", "[ff02::1]", "[::ffff:169.254.169.254]",
    "[2001:db8::1]", "localhost", "LOCALHOST", "localhost.", "a.localhost", "ip6-localhost", "metadata",
    "metadata.google.internal", "printer.local", "router.home.arpa", "db.internal", "①②⑦.⓪.⓪.①", "127。0。0。1", "ⓛocalhost",
    "127.0.0.1%00.example.com", "1.1.1.1 .example.com", "", "..", "example", "-",
    "127.0.0.2", "127.255.255.254", "0.0.0.1", "127.0.0.01", "0x7f.0.0.0xf.", "2130706433.", "127.0.0.1..", "10.255.255.255",
    "172.31.255.255", "192.168.255.255", "100.127.255.255", "198.51.100.1", "192.88.99.1", "239.255.255.250", "192.0.0.1",
    "[0:0:0:0:0:0:0:1]", "[::ffff:10.0.0.1]", "[::ffff:100.100.100.200]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]",
    "[2001::1]", "[ff0e::1]", "[100::1]", "[3fff::1]", "[5f00::1]", "[2620:4f:8000::1]", "[::1%25lo]", "127%2e0%2e0%2e1",
    "１２７.０.０.１", "localhost.localdomain", "nas.home.arpa", "1.0.0.127.in-addr.arpa", "hidden.onion", "256.256.256.256",
]  # fmt: skip
URLS = [
    "https://user@example.com/", "https://user:password@example.com/", "https://example.com@127.0.0.1/",
    "https://example.com\\@127.0.0.1/", "https://example.com:22/", "https://example.com:25/", "https://example.com:6379/",
    "https://example.com:5432/", "https://example.com:0/", "https://example.com:65536/", "https://example.com:80:80/",
    "https:///etc/passwd", "https:example.com", "//example.com/", "example.com/hook", "file:///etc/passwd",
    "gopher://example.com/", "ftp://example.com/", "dict://example.com/", "ldap://example.com/", "data:text/plain,x",
    "javascript:alert(1)", "unix:///var/run/docker.sock", "http+unix://%2Fvar%2Frun/", "ws://example.com/",
    "http://example.com/", "https://exam\tple.com/", "https://example.com/\r\nHost: x", "https://exa mple.com/",
    "HTTPS://127.0.0.1/", "https://[::1/", "https://]/", "", " ", "https://" + "a" * 64 + ".com/", "https://a..com/",
]  # fmt: skip
REFUSED = [f"https://{host}/hook" for host in HOSTS] + URLS


@pytest.fixture(autouse=True)
def closed_world(settings) -> None:
    """As in production: the loopback that other tests use is closed here."""
    settings.OUTBOUND_ALLOW_HTTP = False
    settings.OUTBOUND_ALLOWED_NETWORKS = []


@pytest.fixture
def canary() -> Iterator[list[object]]:
    """Listeners on the loopback of both families that must hear nothing."""
    heard: list[object] = []
    listeners = []
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        listener = socket.socket(family)
        listener.bind((address, 0))
        listener.listen()
        listener.settimeout(0.05)
        listeners.append(listener)
    stop = threading.Event()

    def listen(listener: socket.socket) -> None:
        while not stop.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            heard.append(connection.getpeername())
            connection.close()

    threads = [threading.Thread(target=listen, args=(listener,)) for listener in listeners]
    for thread in threads:
        thread.start()
    heard_ports = [listener.getsockname()[1] for listener in listeners]
    yield [heard, *heard_ports]
    stop.set()
    for thread in threads:
        thread.join()
    for listener in listeners:
        listener.close()


def test_the_set_is_large_enough():
    assert len(set(REFUSED)) >= 120


def test_refused_at_creation_and_change(workspace, cases):
    api = Api(workspace, "webhook.manage", "webhook.read")
    good = api("POST", "/webhooks", {"url": "https://example.com/hook", "slugs": ["*"]}).json()
    for url in REFUSED:
        for response in (
            api("POST", "/webhooks", {"url": url, "slugs": ["*"]}),
            api("PATCH", f"/webhooks/{good['id']}", {"url": url}),
        ):
            assert response.status_code == 422, (url, response.content)
            assert response.json()["errors"][0]["pointer"] == "/url"
    assert [row["url"] for row in api("GET", "/webhooks").json()["data"]] == ["https://example.com/hook"]
    cases("E5", 2 * len(REFUSED))


def test_refused_at_delivery_before_a_byte_is_sent(workspace, canary, settings, cases):
    """Rows that came past the check, say from before a stricter release, or a restored backup."""
    heard, port_4, port_6 = canary
    urls = [
        *REFUSED,
        f"https://127.0.0.1:{port_4}/", f"https://[::1]:{port_6}/", f"https://[::ffff:127.0.0.1]:{port_4}/",
        f"https://127.1:{port_4}/", f"https://0:{port_4}/", f"https://localhost:{port_4}/", f"http://127.0.0.1:{port_4}/",
    ]  # fmt: skip
    made = [hook(workspace, "https://example.com/") for _ in urls]
    for webhook, url in zip(made, urls, strict=True):
        as_owner("UPDATE webhooks_webhook SET url = %s WHERE id = %s", url, webhook.id)
    emit(workspace)
    dispatch()
    found = {row.webhook_id: row for row in rows()}
    for webhook, url in zip(made, urls, strict=True):
        row = found[webhook.id]
        assert (row.status, row.attempts, row.last_status_code) == ("pending", 1, None), url
        assert row.last_error.startswith("Not sent: "), (url, row.last_error)
    assert heard == []
    cases("E5", len(urls))


def test_refused_at_a_test_send_before_a_byte_is_sent(workspace, canary, cases):
    heard, *_ = canary
    webhook = hook(workspace, "https://example.com/")
    api = Api(workspace, "webhook.manage", "webhook.read")
    for url in REFUSED:
        as_owner("UPDATE webhooks_webhook SET url = %s WHERE id = %s", url, webhook.id)
        made = api("POST", f"/webhooks/{webhook.id}/test")
        assert made.status_code == 202
    dispatch()
    assert len(rows()) == len(REFUSED)
    assert all(row.last_error.startswith("Not sent: ") for row in rows())
    assert heard == []
    cases("E5", len(REFUSED))


ANSWERS = {
    "a private address": ["10.0.0.5"],
    "the loopback": ["127.0.0.1"],
    "the loopback, 6": ["::1"],
    "one public and one private": ["93.184.216.34", "127.0.0.1"],
    "fifty, one of them private": [*[f"93.184.216.{n}" for n in range(1, 50)], "169.254.169.254"],
    "a mapped address": ["::ffff:127.0.0.1"],
    "a translated address": ["64:ff9b::7f00:1"],
    "nothing": [],
}


@pytest.mark.parametrize("addresses", ANSWERS.values(), ids=ANSWERS)
def test_a_name_that_resolves_to_a_closed_place_is_not_connected(workspace, canary, monkeypatch, addresses):
    heard, port, _ = canary
    monkeypatch.setattr(http, "resolve", _resolver(lambda: addresses))
    hook(workspace, f"https://rebind.example.com:{port}/")
    emit(workspace)
    dispatch()
    (row,) = rows()
    assert row.last_error == "Not sent: rebind.example.com resolves to an address that is not public."
    assert heard == []


def test_a_name_that_changes_its_mind_is_asked_once_and_believed_once(workspace, canary, monkeypatch):
    """Rebinding: the address that was checked is the address that is connected to, or none is."""
    heard, port, _ = canary
    asked = []

    def flip() -> list[str]:
        asked.append(1)
        return ["127.0.0.1"] if len(asked) > 1 else ["192.0.2.1"]

    monkeypatch.setattr(http, "resolve", _resolver(flip))
    hook(workspace, f"https://flip.example.com:{port}/")
    emit(workspace, 3)
    dispatch()
    assert all(row.last_error.startswith("Not sent: ") for row in rows())
    assert heard == []


def test_the_reason_tells_nothing_of_the_place(workspace, canary):
    heard, port, _ = canary
    webhook = hook(workspace, "https://example.com/")
    as_owner("UPDATE webhooks_webhook SET url = %s WHERE id = %s", f"https://127.0.0.1:{port}/", webhook.id)
    emit(workspace)
    dispatch()
    body = Api(workspace)("GET", f"/webhook-deliveries/{rows()[0].id}").json()
    assert (
        body["last_error"]
        == "Not sent: "
        + AddressRefused("The host must be a public name such as example.com, or a public address.").detail
    )
    assert "response_excerpt" not in str(body)
    assert heard == []


def _resolver(answers):
    async def resolve(host: str, port: int, _threads: object) -> list[str]:
        return answers()

    return resolve
