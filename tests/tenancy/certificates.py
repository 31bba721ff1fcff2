"""A certificate authority, its certificates, and the headers in which proxies hand them on."""

import base64
from datetime import timedelta
from functools import cache
from typing import Any
from urllib.parse import quote

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kernel import clock


@cache
def key(name: str) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)] if common else [])


def certificate(
    common: str = "shop",
    *,
    ca: str = "Acme CA",
    serial: int | None = None,
    begins: float = -1,
    ends: float = 1,
    of: str = "",
) -> x509.Certificate:
    """A client certificate; `begins` and `ends` are in days from now, `of` names its key."""
    now = clock.now()
    return (
        x509.CertificateBuilder()
        .subject_name(name(common))
        .issuer_name(name(ca))
        .public_key(key(of or common).public_key())
        .serial_number(serial or x509.random_serial_number())
        .not_valid_before(now + timedelta(days=begins))
        .not_valid_after(now + timedelta(days=ends))
        .sign(key(ca), hashes.SHA256())
    )


def pem(one: x509.Certificate) -> str:
    return one.public_bytes(serialization.Encoding.PEM).decode()


def der(one: x509.Certificate) -> bytes:
    return one.public_bytes(serialization.Encoding.DER)


def rfc9440(one: x509.Certificate) -> str:
    return f":{base64.b64encode(der(one)).decode()}:"


def escaped(one: x509.Certificate) -> str:
    """As nginx writes $ssl_client_escaped_cert."""
    return quote(pem(one), safe="")


def thumbprint(one: Any) -> str:
    return base64.urlsafe_b64encode(one.fingerprint(hashes.SHA256())).rstrip(b"=").decode()
