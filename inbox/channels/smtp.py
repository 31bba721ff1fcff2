"""Mail out by SMTP (RFC 5321). The one moment of doubt is between the end of DATA and its answer."""

import smtplib
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from inbox.channels.transport import MaybeAccepted, NotAccepted, Receipt, SignInRefused
from kernel import addresses
from kernel.secrecy import Secret

_ACCEPTED = 250
_PERMANENT = 500


@dataclass(frozen=True)
class SmtpTransport:
    """One connection for each message. `tls` is starttls, implicit or none.

    `guarded` is for servers that a workspace names: it is spoken to at a public address only, the very one that was
    looked at, so that nobody's setting leads into our own network.
    """

    host: str
    port: int
    user: str
    password: Secret
    tls: str
    timeout: float
    guarded: bool = False

    def send(self, *, raw: bytes, envelope_from: str, envelope_to: list[str], tag: str) -> Receipt:
        client = self._prepare(envelope_from, envelope_to)
        try:
            code, answer = client.data(raw)
            if code != _ACCEPTED:
                raise _refusal(code, answer)
            with suppress(smtplib.SMTPException, OSError):
                client.quit()
        except smtplib.SMTPDataError as error:
            raise _refusal(error.smtp_code, error.smtp_error) from error
        except (smtplib.SMTPException, OSError) as error:
            raise MaybeAccepted(f"{type(error).__name__}: {error}") from error
        finally:
            client.close()
        return Receipt(reference=_text(answer)[:200])

    def check(self) -> dict[str, Any]:
        """Sign in, ask for nothing, and go."""
        try:
            client = self._connect()
            with client:
                client.noop()
                offered = client.esmtp_features
        except smtplib.SMTPAuthenticationError as error:
            raise _not_signed_in(error) from error
        except (smtplib.SMTPException, OSError) as error:
            raise NotAccepted(f"{type(error).__name__}: {error}", permanent=False) from error
        size = offered.get("size", "")
        return {"extensions": sorted(offered), "max_bytes": int(size) if size.isdecimal() and int(size) else None}

    def _prepare(self, envelope_from: str, envelope_to: list[str]) -> smtplib.SMTP:
        """Everything before DATA: whatever fails here, the other side has nothing."""
        try:
            client = self._connect()
        except smtplib.SMTPAuthenticationError as error:
            raise _not_signed_in(error) from error
        except (smtplib.SMTPException, OSError) as error:
            raise NotAccepted(f"{type(error).__name__}: {error}", permanent=False) from error
        try:
            self._address(client, envelope_from, envelope_to)
        except NotAccepted:
            client.close()
            raise
        except (smtplib.SMTPException, OSError) as error:
            client.close()
            raise NotAccepted(f"{type(error).__name__}: {error}", permanent=False) from error
        return client

    def _address(self, client: smtplib.SMTP, envelope_from: str, envelope_to: list[str]) -> None:
        code, answer = client.mail(envelope_from)
        if code != _ACCEPTED:
            raise _refusal(code, answer)
        for address in envelope_to:
            code, answer = client.rcpt(address)
            if code not in (_ACCEPTED, 251):
                raise _refusal(code, answer)

    def _connect(self) -> smtplib.SMTP:
        context = ssl.create_default_context() if self.tls != "none" else None
        if context and settings.MAIL_CA_FILE:
            context.load_verify_locations(settings.MAIL_CA_FILE)
        client: smtplib.SMTP
        if self.tls == "implicit":
            encrypted = _GuardedTls if self.guarded else smtplib.SMTP_SSL
            client = encrypted(self.host, self.port, timeout=self.timeout, context=context)
        else:
            plain = _Guarded if self.guarded else smtplib.SMTP
            client = plain(self.host, self.port, timeout=self.timeout)
        try:
            client.ehlo_or_helo_if_needed()
            if self.tls == "starttls":
                client.starttls(context=context)
                client.ehlo()
            if self.user:
                client.login(self.user, self.password.reveal())
        except BaseException:
            client.close()
            raise
        return client


class _Guarded(smtplib.SMTP):
    """Connects to an address that it has looked at; the name stays what the certificate is held against."""

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        found = {str(item[4][0]) for item in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
        open_networks = settings.OUTBOUND_ALLOWED_NETWORKS
        if not all(addresses.may_connect(address, allowed=open_networks) for address in found):
            raise OSError("the name leads to an address that is not public")
        return socket.create_connection((min(found), port), timeout)


class _GuardedTls(smtplib.SMTP_SSL, _Guarded):
    """The same, with TLS from the first byte."""


def _not_signed_in(error: smtplib.SMTPAuthenticationError) -> SignInRefused:
    # Only the number: what a server says to a password may repeat it.
    return SignInRefused(f"signing in failed: {error.smtp_code}")


def _refusal(code: int, answer: bytes | str) -> NotAccepted:
    return NotAccepted(f"{code} {_text(answer)}", permanent=code >= _PERMANENT)


def _text(answer: bytes | str) -> str:
    return answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
