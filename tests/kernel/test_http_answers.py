"""The guarded client and endpoints that misbehave: every end is an answer, a time-out or a sentence."""

import asyncio
import socket
import ssl
from datetime import UTC, datetime, timedelta
from functools import partial
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kernel.http import NoAnswer, Session, fetch, send
from tests.kernel.listener import listening


def test_a_drip_is_cut_off_at_the_deadline(settings):
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.1/32"]
    with listening("127.0.0.1", drip=0.05) as slow, pytest.raises(TimeoutError):
        fetch("GET", f"http://127.0.0.1:{slow.port}/", deadline=0.3)


def test_an_endless_answer_is_read_to_the_limit(settings):
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.1/32"]
    flood = b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n" + b"x" * 1_000_000
    with listening("127.0.0.1", answer=flood) as loud:
        reply = fetch("GET", f"http://127.0.0.1:{loud.port}/", read_limit=1000)
    assert (len(reply.body), reply.truncated) == (1000, True)


def test_a_bomb_is_not_unpacked(settings):
    import gzip

    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.1/32"]
    packed = gzip.compress(b"\0" * 5_000_000)
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed
    with listening("127.0.0.1", answer=answer) as bomb:
        reply = fetch("GET", f"http://127.0.0.1:{bomb.port}/")
    assert reply.body == packed


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (b"", "The connection was closed before an answer came."),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "The answer broke off."),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "The answer is no HTTP"),
        (b"HTTP/1.1 200 OK\r\nX-Flood: " + b"x" * 500_000 + b"\r\n\r\n", "The exchange failed"),
    ],
    ids=["nothing", "half", "another protocol", "a flood of headers"],
)
def test_what_is_no_whole_answer_is_said_in_a_sentence(settings, answer, sentence):
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.1/32"]
    with listening("127.0.0.1", answer=answer) as odd:
        with pytest.raises(NoAnswer, match=sentence):
            fetch("POST", f"http://127.0.0.1:{odd.port}/", body=b"{}")
        assert odd.hits == 1


def test_nobody_listens(settings):
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.1/32"]
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        with pytest.raises(NoAnswer, match="No connection"):
            fetch("GET", f"http://127.0.0.1:{deaf.getsockname()[1]}/")


def test_a_name_that_nobody_knows(settings):
    settings.OUTBOUND_ALLOW_HTTP, settings.OUTBOUND_ALLOWED_NETWORKS = True, []
    with pytest.raises(NoAnswer, match=r"No connection: nobody\.invalid is not known"):
        fetch("GET", "http://nobody.invalid/")


@pytest.mark.parametrize("value", ["a\r\nX-Injected: 1", "a\nb", "a\x00b"])
def test_a_header_is_one_line(settings, value):
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.1/32"]
    with listening("127.0.0.1") as canary, pytest.raises(ValueError, match="line break"):
        fetch("GET", f"http://127.0.0.1:{canary.port}/", headers={"X-A": value})
    assert canary.hits == 0


def test_headers_of_the_last_answer_count(settings):
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.1/32"]
    twice = b"HTTP/1.1 103 Early\r\nLink: early\r\nX-Once: 1\r\n\r\nHTTP/1.1 204 Done\r\nLINK:  late \r\n\r\n"
    with listening("127.0.0.1", answer=twice) as two:
        reply = fetch("POST", f"http://127.0.0.1:{two.port}/", body=b"")
    assert (reply.status, dict(reply.headers)) == (204, {"link": "late"})


def test_a_request_that_nobody_answers_is_sent_once_however_many_connections_are_kept(settings):
    """Where a kept connection closes, the other side may have taken what was sent: whether to try again is the caller's."""
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.1/32"]
    kept, closed, together = 4, [], asyncio.Barrier(4)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while b"/close" not in (request := await reader.readuntil(b"\r\n\r\n") + await reader.readexactly(4)):
                await together.wait()
                writer.write(b"HTTP/1.1 204 Done\r\n\r\n")
            closed.append(request)
        except asyncio.IncompleteReadError:
            pass
        finally:  # also of those that are still open when the loop ends
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0)
        place = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server, Session() as session:
            post = partial(send, session, "POST", body=b"body", deadline=10)
            assert [reply.status for reply in await asyncio.gather(*(post(f"{place}/open") for _ in range(kept)))] == [
                204
            ] * kept
            with pytest.raises(NoAnswer, match="closed before an answer"):
                await post(f"{place}/close")

    asyncio.run(run())
    assert len(closed) == 1


def _certificate(folder: Path, place: str) -> Path:
    """A certificate that signs itself, for an address; with its key in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(place))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    kind = serialization.Encoding.PEM
    private = key.private_bytes(kind, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / f"{place}.pem"
    file.write_bytes(private + made.public_bytes(kind))
    return file


@pytest.mark.parametrize(("place", "is_trusted"), [("127.0.0.1", True), ("127.0.0.1", False), ("127.0.0.2", True)])
def test_tls_is_trusted_by_authority_and_name(settings, tmp_path, monkeypatch, place, is_trusted):
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.1/32"]
    file = _certificate(tmp_path, place)
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with listening("127.0.0.1", tls=context) as server:
        url = f"https://127.0.0.1:{server.port}/"
        if is_trusted and place == "127.0.0.1":
            assert fetch("POST", url, body=b"secret").body == b"ok"
            assert server.requests[0].endswith(b"secret")
        else:
            with pytest.raises(NoAnswer, match="No trusted TLS connection"):
                fetch("POST", url, body=b"secret")
            assert not any(server.requests)
