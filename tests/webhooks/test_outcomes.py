"""What each behaviour of a receiver leads to (E1): the table of scripts, states and limits."""

import asyncio
import email.utils
import gzip
import ssl
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from kernel.transactions import in_all_workspaces
from tests.webhooks.conftest import SLUG, dispatch, drain, emit, fresh, hook, rows
from tests.webhooks.receiver import Script, answer, hang, reset, write
from webhooks.models import SystemEvent, WebhookAttempt
from webhooks.transport import wakeups

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNK = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"


@dataclass(frozen=True)
class Case:
    script: Script
    status: str
    code: int | None
    error: str = ""


CASES = {
    "200": Case(answer(200), "delivered", 200),
    "201": Case(answer(201, body=b"{}"), "delivered", 201),
    "204": Case(write(b"HTTP/1.1 204 No Content\r\n\r\n", close=False), "delivered", 204),
    "299": Case(answer(299), "delivered", 299),
    "301": Case(answer(301, "location: /secret"), "pending", 301, "Redirects are not followed"),
    "302": Case(answer(302, "location: /secret"), "pending", 302, "Redirects are not followed"),
    "303": Case(answer(303, "location: /secret"), "pending", 303, "Redirects are not followed"),
    "307": Case(answer(307, "location: /secret"), "pending", 307, "Redirects are not followed"),
    "308": Case(answer(308, "location: /secret"), "pending", 308, "Redirects are not followed"),
    "304": Case(write(b"HTTP/1.1 304 Not Modified\r\n\r\n", close=False), "pending", 304),
    "400": Case(answer(400), "pending", 400, "only 2xx"),
    "401": Case(answer(401, "www-authenticate: Basic"), "pending", 401),
    "404": Case(answer(404), "pending", 404),
    "410": Case(answer(410), "failed", 410, "410 Gone"),
    "429": Case(answer(429), "pending", 429),
    "500": Case(answer(500, body=b"Traceback: secret"), "pending", 500),
    "502": Case(answer(502), "pending", 502),
    "503": Case(answer(503), "pending", 503),
    "504": Case(answer(504), "pending", 504),
    "hang": Case(hang, "pending", None, "No complete answer within"),
    "drip of the head": Case(write(*[bytes([byte]) for byte in HEAD], pause=0.2), "pending", None, "No complete"),
    "drip of the body": Case(
        write(HEAD + b"content-length: 50\r\n\r\n", *[b"x"] * 50, pause=0.2), "pending", None, "No complete answer"
    ),
    "huge body": Case(write(HEAD + b"transfer-encoding: chunked\r\n\r\n", *[CHUNK] * 400), "delivered", 200),
    "reset": Case(reset, "pending", None, "closed before an answer"),
    "half close": Case(write(HEAD + b"content-length: 9\r\n\r\nhalf"), "pending", None, "broke off"),
    "close before an answer": Case(write(), "pending", None, "closed before an answer"),
    "no http": Case(write(b"220 smtp.example.com ESMTP\r\n"), "pending", None),
    "1xx flood": Case(write(*[b"HTTP/1.1 102 Processing\r\n\r\n"] * 200, pause=0.02), "pending", None, "No complete"),
    "head of a megabyte": Case(write(HEAD + b"x-a: " + b"a" * 1_000_000), "pending", None),
    "gzip bomb": Case(answer(200, "content-encoding: gzip", body=gzip.compress(b"\0" * 30_000_000)), "delivered", 200),
    "two lengths": Case(write(HEAD + b"content-length: 1\r\ncontent-length: 2\r\n\r\nxx"), "pending", None),
    "NUL in the answer": Case(answer(500, body=b"a\0b\xff\xfe"), "pending", 500),
}


def test_each_script_leads_to_its_state(workspace, receiver, cases):
    """All at once, as they meet in life: none of them may hold up another."""
    hooks = {}
    for name, case in CASES.items():
        path = "/" + name.replace(" ", "-")
        receiver.scripts[path] = case.script
        hooks[name] = hook(workspace, receiver.url(path))
    emit(workspace)
    began = time.monotonic()
    dispatch()
    by_hook = {row.webhook_id: row for row in rows(system_event__slug=SLUG)}
    found = {name: by_hook[hooks[name].id] for name in CASES}
    assert {n: (r.status, r.last_status_code) for n, r in found.items()} == {
        n: (case.status, case.code) for n, case in CASES.items()
    }
    for name, case in CASES.items():
        assert case.error in found[name].last_error, name
        assert found[name].attempts == 1, name
        assert len(receiver.at("/" + name.replace(" ", "-"))) == 1, name
    assert receiver.at("/secret") == []
    assert time.monotonic() - began < 15  # far below the sum of the time-outs

    with in_all_workspaces("test"):
        attempts = {a.delivery_id: a for a in WebhookAttempt.objects.all()}
    assert len(attempts) == len(CASES)
    cases("E1", len(CASES))
    assert all(len(a.response_excerpt) <= 1000 for a in attempts.values())
    assert attempts[found["huge body"].id].response_excerpt == "x" * 1000
    assert attempts[found["NUL in the answer"].id].response_excerpt == "a\ufffdb\ufffd\ufffd"
    assert {n for n, h in hooks.items() if fresh(h).state == "disabled"} == {"410"}


def test_tls_must_be_trusted(workspace, receiver, tmp_path, settings):
    """A server that speaks no TLS, and one whose certificate nobody signed."""
    import asyncio
    import threading

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
        .not_valid_before(datetime.now(UTC) - timedelta(days=1)).not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    pem = tmp_path / "pem"
    pem.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    heard: list[bytes] = []

    async def accept(reader, writer):
        heard.append(await reader.read(10))
        writer.close()

    loop, ready, ports = asyncio.new_event_loop(), threading.Event(), []

    def serve():
        server = loop.run_until_complete(asyncio.start_server(accept, "127.0.0.1", 0, ssl=context))
        ports.append(server.sockets[0].getsockname()[1])
        ready.set()
        loop.run_forever()
        server.close()
        loop.run_until_complete(asyncio.sleep(0.05))
        loop.close()

    thread = threading.Thread(target=serve)
    thread.start()
    ready.wait(5)
    try:
        untrusted = hook(workspace, f"https://127.0.0.1:{ports[0]}/")
        plain = hook(workspace, receiver.url().replace("http:", "https:"))
        emit(workspace)
        dispatch()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
    for webhook in (untrusted, plain):
        (row,) = rows(webhook=webhook)
        assert (row.status, row.last_status_code) == ("pending", None)
        assert "TLS" in row.last_error or webhook is plain
    assert heard in ([], [b""])
    assert receiver.requests == []


MINUTE = timedelta(seconds=60)


@pytest.mark.parametrize(
    ("code", "text", "pause"),
    [
        (429, "60", MINUTE),
        (503, "60", MINUTE),
        (500, "60", MINUTE),
        (404, "60", None),
        (429, "999999999999999999999", timedelta(seconds=3600)),
        (429, "-5", None),
        (429, "soon", None),
        (429, "", None),
        (429, "1e9", None),
        (429, "²", None),
        (429, "Thu, 01 Jan 1970 00:00:00 GMT", None),
        (429, "Fri, 31 Dec 9999 23:59:59 GMT", timedelta(seconds=3600)),
        (429, "DATE", MINUTE),
    ],
)
def test_retry_after_is_honoured_within_a_cap(workspace, receiver, settings, code, text, pause):
    settings.WEBHOOK_RETRY_SECONDS, settings.WEBHOOK_RETRY_JITTER = [1, 1], 0
    settings.WEBHOOK_RETRY_AFTER_MAX_SECONDS = 3600
    if text == "DATE":
        text = email.utils.format_datetime(datetime.now(UTC) + MINUTE, usegmt=True)
    receiver.scripts["/hook"] = answer(code, f"retry-after: {text}")
    hook(workspace, receiver.url())
    emit(workspace)
    dispatch(lambda: rows(attempts=1))
    (row,) = rows()
    waits = row.due_at - row.updated_at
    expected = pause or timedelta(seconds=1)
    assert expected - timedelta(seconds=2) < waits <= expected + timedelta(seconds=1)


def test_an_endpoint_that_asks_for_a_pause_gets_it_for_everything(workspace, receiver):
    receiver.scripts["/hook"] = answer(429, "retry-after: 60")
    tired, awake = hook(workspace, receiver.url()), hook(workspace, receiver.url("/awake"))
    emit(workspace, 40)
    dispatch(lambda: len(rows(webhook=awake, status="delivered")) == 40 and not rows(lease_until__isnull=False))
    assert len(receiver.at()) <= 8  # those that were in flight together when the first answer came
    tried = [row for row in rows(webhook=tired) if row.attempts]
    assert all(row.due_at > row.updated_at + MINUTE / 2 for row in tried)


def test_410_disables_and_says_so(workspace, receiver):
    receiver.scripts["/hook"] = answer(410)
    watcher = hook(workspace, receiver.url("/watch"), ["webhook.*"])
    gone = hook(workspace, receiver.url())
    emit(workspace, 1)
    dispatch()
    assert (fresh(gone).state, fresh(gone).disabled_reason) == ("disabled", "The endpoint answered 410 Gone.")
    emit(workspace, 2)
    dispatch(lambda: len(rows(status="cancelled")) == 2)
    assert len(receiver.at()) == 1
    drain()
    dispatch(lambda: rows(webhook=watcher, status="delivered"))
    with in_all_workspaces("test"):
        assert SystemEvent.objects.get(slug="webhook.disabled").data["webhook_id"] == str(gone.id)


def test_a_dispatcher_stops_though_a_cancellation_is_lost_on_the_way(workspace, receiver, monkeypatch):
    """As a client library may lose one that comes while it connects."""
    lost = []

    async def deaf(_heard) -> None:
        while True:
            try:
                await asyncio.sleep(3_600)
            except asyncio.CancelledError:
                lost.append(1)
                if len(lost) > 2:
                    raise

    monkeypatch.setattr(wakeups, "listen", deaf)
    hook(workspace, receiver.url("/"), ["*"])
    emit(workspace)
    dispatch()
    assert len(lost) == 3
    assert [row.status for row in rows()] == ["delivered"]
