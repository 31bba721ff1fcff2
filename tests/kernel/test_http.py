"""The guarded client: no spelling of an address, no name, no redirect leads to a place that is not public."""

import pytest

from kernel import http
from kernel.http import AddressRefused, check_url, fetch
from tests.kernel.listener import listening

# Hosts that are, or may become, a place inside. Each is tried bare and with the canary's port.
CLOSED_HOSTS = [
    "127.0.0.1",
    "127.0.0.2",
    "127.1",
    "127.0.1",
    "127.255.255.254",
    "0",
    "0.0.0.0",
    "0.0.0.1",
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0x7f.1",
    "0x7f.0.0.1",
    "0x7F.0.0.0x1",
    "0177.0.0.1",
    "0177.0.0.01",
    "00177.0.0.1",
    "127.0.0.0x1",
    "127.0.0.0xf",
    "0x7f.0x0.0x0.0xf",
    "127.0.0.01",
    "127.0.0.1.",
    "127.0.0.1..",
    "2130706433.",
    "0x7f.0.0.0xf.",
    "127.0.0.1%00",
    "127%2e0%2e0%2e1",
    "%31%32%37.0.0.1",
    "127.0.0.1%20",
    "①②⑦.⓪.⓪.①",
    "１２７.０.０.１",
    "127。0。0。1",
    "127．0．0．1",
    "ⓛocalhost",
    "ｌocalhost",
    "1２7.0.0.1",
    "127.0.0.１",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "app.localhost",
    "a.b.localhost.",
    "localhost.localdomain",
    "intranet",
    "router",
    "printer.local",
    "metadata.google.internal",
    "metadata",
    "db.internal.",
    "nas.home.arpa",
    "1.0.0.127.in-addr.arpa",
    "hidden.onion",
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.168.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "100.100.100.200",
    "169.254.169.254",
    "169.254.170.2",
    "0251.0376.0251.0376",
    "0xa9fea9fe",
    "2852039166",
    "168.63.129.16",
    "192.0.0.192",
    "192.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "192.88.99.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[::ffff:10.0.0.1]",
    "[::ffff:100.100.100.200]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::]",
    "[2001::1]",
    "[2001:0:7f00:1::]",
    "[2001:db8::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fe80::1%25eth0]",
    "[fe80::1%eth0]",
    "[fec0::1]",
    "[ff02::1]",
    "[ff0e::1]",
    "[100::1]",
    "[3fff::1]",
    "[5f00::1]",
    "[4000::1]",
    "[2620:4f:8000::1]",
    "[::1%25lo]",
    "256.256.256.256",
    "1.2.3.4.5",
    "1.2.3",
    "1.2.3.4.0x5",
    "example.123",
    "example.0x7f",
    "a..b",
    ".example.com",
    "-.com",
    "xn--",
    "xn--a.b",
    "exa_mple",
]

# Whole URLs that parsers disagree about, or that carry more than an address.
CLOSED_URLS = [
    r"http://user@example.com/",
    r"http://user:secret@example.com/",
    r"http://@example.com/",
    r"http://:@example.com/",
    r"http://a@b@example.com/",
    r"http://example.com@127.0.0.1/",
    r"http://127.0.0.1@example.com/",
    r"http://example.com:80@127.0.0.1/",
    r"http://example.com\@127.0.0.1/",
    r"http:\\127.0.0.1/",
    r"http:/127.0.0.1/",
    r"http:127.0.0.1/",
    r"http:///127.0.0.1/",
    r"http:////",
    r"http://",
    r"http:",
    r"//example.com/",
    r"example.com",
    r"ftp://example.com/",
    r"file:///etc/passwd",
    r"gopher://example.com/",
    r"data:text/plain,x",
    r"javascript:alert(1)",
    r"unix:///run/socket",
    r"http+unix://%2frun%2fsocket/",
    r"ws://example.com/",
    r"https+http://example.com/",
    r"http://example.com:99999/",
    r"http://example.com:-1/",
    r"http://example.com:80:80/",
    r"http://example.com:x/",
    r"http://example.com:22/",
    r"http://example.com:25/",
    r"http://example.com:5432/",
    r"http://example.com:6379/",
    r"http://example.com:11211/",
    r"http://[127.0.0.1]/",
    r"http://[::1/",
    r"http://::1/",
    r"http://[::1]evil.com/",
    r"http://example.com%2f@127.0.0.1/",
    r"http://127.0.0.1%2f.example.com/",
    r"http://127.0.0.1%00.example.com/",
    r"http://127.0.0.1%23.example.com/",
    r"http://127.0.0.1%09.example.com/",
]
CLOSED_URLS += [
    "http://exa mple.com/",
    "http://example.com/\n",
    "\thttp://example.com/",
    "http://127.0.0.1\r\n.example.com/",
]
CLOSED_URLS += [" ", "", "http://example.com/a b", "http://\x00example.com/", "http://" + "a." * 200 + "com/"]

OPEN = ["http://example.com/", "https://example.com:8443/a?b=c#d", "http://xn--mnchen-3ya.de/", "http://münchen.de/"]
OPEN += ["http://1.1.1.1/", "http://[2606:4700:4700::1111]/", "http://a-b.example.co.uk./", "http://EXAMPLE.com/"]
OPEN += ["http://_hooks.example.com/", "http://127.0.0.1.example.com/", "http://0x7f.example.com/"]


@pytest.fixture
def closed(settings):
    """As in production, but for plain http, so that the address is what is judged."""
    settings.OUTBOUND_ALLOW_HTTP = True
    settings.OUTBOUND_ALLOWED_NETWORKS = []


@pytest.fixture
def canary():
    with listening("127.0.0.1") as listener:
        yield listener


def test_there_are_enough_forms():
    assert len(CLOSED_HOSTS) + len(CLOSED_URLS) >= 120
    assert len(set(CLOSED_HOSTS)) == len(CLOSED_HOSTS)


def test_no_form_of_an_inner_address_is_called(closed, canary):
    accepted = []
    for host in CLOSED_HOSTS:
        for url in (f"http://{host}/", f"http://{host}:{canary.port}/hook"):
            try:
                fetch("POST", url, deadline=2, body=b"{}")
                accepted.append(url)
            except AddressRefused:
                pass
            except Exception as error:
                accepted.append((url, repr(error)))
    assert accepted == []
    assert canary.hits == 0


@pytest.mark.parametrize("url", CLOSED_URLS)
def test_urls_that_hold_more_than_an_address_are_refused(closed, url):
    with pytest.raises(AddressRefused):
        check_url(url)


@pytest.mark.parametrize("url", OPEN)
def test_public_urls_pass(closed, url):
    assert check_url(url).scheme in {"http", "https"}


@pytest.mark.parametrize("url", ["http://example.com/", "http://1.1.1.1/"])
def test_plain_http_is_for_development_only(settings, url):
    settings.OUTBOUND_ALLOW_HTTP = False
    with pytest.raises(AddressRefused):
        check_url(url)
    check_url(url.replace("http:", "https:"))


def test_a_network_that_the_operator_opened_is_called(settings, canary):
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.1/32"]
    reply = fetch("POST", f"http://127.0.0.1:{canary.port}/hook", body=b"{}", headers={"X-A": "b"})
    assert (reply.status, reply.body, reply.headers["x-mood"], canary.hits) == (200, b"ok", "fine", 1)
    assert b"X-A: b" in canary.requests[0]


# --- names: what the resolver says ---------------------------------------------------------------------------------


class Script:
    """Gives the next of its answers at each look-up."""

    def __init__(self) -> None:
        self.answers: list[list[str]] = []
        self.asked = 0

    async def resolve(self, host: str, port: int, _threads: object) -> list[str]:
        self.asked += 1
        return self.answers.pop(0)


@pytest.fixture
def script(monkeypatch):
    made = Script()
    monkeypatch.setattr(http, "resolve", made.resolve)
    return made


@pytest.mark.parametrize(
    "answer",
    [
        ["127.0.0.1"],
        ["1.1.1.1", "127.0.0.1"],
        ["127.0.0.1", "1.1.1.1"],
        ["1.1.1.1", "2606:4700:4700::1111", "10.0.0.7"],
        ["::1"],
        ["2606:4700:4700::1111", "::ffff:127.0.0.1"],
        ["169.254.169.254"],
        ["64:ff9b::7f00:1"],
        [],
    ],
)
def test_one_inner_address_spoils_a_name(closed, canary, script, answer):
    script.answers = [answer]
    with pytest.raises(AddressRefused):
        fetch("POST", f"http://hooks.example.com:{canary.port}/", deadline=2)
    assert canary.hits == 0


def test_the_address_that_was_checked_is_the_one_that_is_called(settings, canary, script):
    """Rebinding: the name changes its address between the check and the call."""
    settings.OUTBOUND_ALLOW_HTTP, settings.OUTBOUND_ALLOWED_NETWORKS = True, ["127.0.0.2/32"]
    with listening("127.0.0.2", canary.port) as other:
        script.answers = [["127.0.0.2"], ["127.0.0.1"]]
        assert fetch("POST", f"http://hooks.example.com:{canary.port}/", deadline=2).status == 200
        assert (other.hits, script.asked) == (1, 1)
        with pytest.raises(AddressRefused):
            fetch("POST", f"http://hooks.example.com:{canary.port}/", deadline=2)
        assert (other.hits, canary.hits) == (1, 0)


def test_no_socket_is_opened_to_a_closed_place_whatever_was_looked_up(closed, canary, monkeypatch, script):
    """The second line: as if the check of the names had let one pass."""

    def careless(target, _found) -> list[str]:
        return [f"{target.host}:{target.port}:127.0.0.1"]

    script.answers = [["127.0.0.1"]]
    monkeypatch.setattr(http, "_entries", careless)
    with pytest.raises(AddressRefused, match="would have gone"):
        fetch("POST", f"http://hooks.example.com:{canary.port}/", deadline=2)
    assert canary.hits == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_answers_and_are_not_followed(settings, canary, status):
    settings.OUTBOUND_ALLOW_HTTP, settings.OUTBOUND_ALLOWED_NETWORKS = True, ["127.0.0.2/32"]
    answer = f"HTTP/1.1 {status} Elsewhere\r\nLocation: http://127.0.0.1:{canary.port}/\r\nContent-Length: 0\r\n\r\n"
    with listening("127.0.0.2", answer=answer.encode()) as other:
        assert fetch("POST", f"http://127.0.0.2:{other.port}/").status == status
    assert canary.hits == 0


def test_proxies_of_the_environment_are_not_used(settings, canary, monkeypatch):
    settings.OUTBOUND_ALLOW_HTTP, settings.OUTBOUND_ALLOWED_NETWORKS = True, ["127.0.0.2/32"]
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{canary.port}")
    with listening("127.0.0.2") as other:
        assert fetch("GET", f"http://127.0.0.2:{other.port}/").body == b"ok"
    assert canary.hits == 0
