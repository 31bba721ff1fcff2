"""Client certificates: read from what a proxy hands on, or from a file; known by the SHA-256 of their DER bytes."""

import base64
import binascii
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import unquote_to_bytes

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization

MOST_BYTES: Final = 16 * 1024
LONGEST_NAME: Final = 600
# RFC 9440: one byte sequence of structured fields, without parameters.
_BYTES: Final = re.compile(r":([A-Za-z0-9+/]+={0,2}):")
_ESCAPED: Final = re.compile(r"(?:%[0-9A-Fa-f]{2}|[A-Za-z0-9._~+/=-])+")
_PEM: Final = re.compile(rb"\s*-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*")


class Unreadable(ValueError):
    """This is not one certificate in a form that is taken here."""


@dataclass(frozen=True)
class Certificate:
    """What we keep of one. `serial` is in lower-case hex; names are as RFC 4514 writes them."""

    fingerprint: bytes
    serial: str
    issuer: str
    subject: str
    not_before: datetime
    not_after: datetime

    @property
    def thumbprint(self) -> str:
        """As tokens name it (RFC 8705, 3.1)."""
        return base64.urlsafe_b64encode(self.fingerprint).rstrip(b"=").decode()


def from_header(value: str) -> Certificate:
    """The certificate of a proxy's header: `:base64 of DER:` (RFC 9440), or PEM with its special characters escaped.

    A comma, which neither form has, is what a header that was sent twice looks like by now.
    """
    if len(value) > MOST_BYTES or "," in value:
        raise Unreadable
    if match := _BYTES.fullmatch(value):
        try:
            return _load(base64.b64decode(match[1], validate=True))
        except binascii.Error as error:
            raise Unreadable from error
    # Without an escape it is not the escaped form: its line breaks could not have come through a header.
    if "%" not in value or not _ESCAPED.fullmatch(value):
        raise Unreadable
    return from_pem(unquote_to_bytes(value))


def from_pem(text: bytes) -> Certificate:
    """The one certificate of a PEM text."""
    if len(text) > MOST_BYTES or not _PEM.fullmatch(text):
        raise Unreadable
    try:
        parsed = x509.load_pem_x509_certificate(text)
        return _load(parsed.public_bytes(serialization.Encoding.DER))
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise Unreadable from error


def normal_serial(text: str) -> str:
    """A serial number as people copy it (`0x0A:1b`, upper case, leading zeros) in our one form."""
    plain = text.strip().lower().replace(":", "").removeprefix("0x").lstrip("0") or "0"
    if not re.fullmatch(r"[0-9a-f]{1,64}", plain):
        raise Unreadable
    return plain


def normal_name(text: str) -> str:
    """A distinguished name in our one form (RFC 4514)."""
    try:
        name = x509.Name.from_rfc4514_string(text.strip()).rfc4514_string()
    except (ValueError, TypeError) as error:
        raise Unreadable from error
    if not 0 < len(name) <= LONGEST_NAME:
        raise Unreadable
    return name


def _load(der: bytes) -> Certificate:
    try:
        parsed = x509.load_der_x509_certificate(der)
        found = Certificate(
            fingerprint=parsed.fingerprint(hashes.SHA256()),
            serial=f"{parsed.serial_number:x}",
            issuer=parsed.issuer.rfc4514_string(),
            subject=parsed.subject.rfc4514_string(),
            not_before=parsed.not_valid_before_utc,
            not_after=parsed.not_valid_after_utc,
        )
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise Unreadable from error
    # An empty issuer could not be named when it has to be refused.
    if not found.issuer or max(len(found.issuer), len(found.subject)) > LONGEST_NAME:
        raise Unreadable
    return found
