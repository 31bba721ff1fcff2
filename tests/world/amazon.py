"""Amazon SNS as a server on the loopback: TLS for its own host name, and a ledger of who asked what."""

import datetime as dt
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pycurl
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from config.demo.amazon import HOST
from kernel import clock, http

CONFIRMED = b"<ConfirmSubscriptionResponse/>"


class Amazon(ThreadingHTTPServer):
    """Answers what `answers` says for a path (query included), else 200 and `otherwise`. `asked` holds Host and path."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.looked_up: list[str] = []
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.otherwise = CONFIRMED

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def handle_error(self, request, client_address) -> None:
        """A client that hangs up early, as the guarded one does on a long answer, is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Amazon

    def do_GET(self) -> None:
        self.server.asked.append(f"{self.headers['Host']}{self.path}")
        status, headers, body = self.server.answers.get(self.path, (200, {}, self.server.otherwise))
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def amazon(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Amazon]:
    """The server, and a world in which every name leads to it and its certificate is one that machines trust."""
    chain, key = server_certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    server = Amazon()
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()

    async def resolve(host: str, port: int, _threads: object) -> list[str]:
        server.looked_up.append(host)
        return ["127.0.0.1"]

    guard = http._guard

    def guard_and_lead(handle: Any) -> None:
        guard(handle)
        handle.setopt(pycurl.CONNECT_TO, [f"::127.0.0.1:{server.port}"])

    monkeypatch.setattr(http, "resolve", resolve)
    monkeypatch.setattr(http, "_guard", guard_and_lead)
    monkeypatch.setenv("SSL_CERT_FILE", str(chain))
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def server_certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
    now, day = clock.now(), dt.timedelta(days=1)
    names = [x509.DNSName(HOST), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    chain, private = folder / "server.pem", folder / "server.key"
    chain.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    return chain, private
