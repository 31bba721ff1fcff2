"""Mail out by SMTP (RFC 5321). The one moment of doubt is between the end of DATA and its answer."""

import smtplib
import ssl
from contextlib import suppress
from dataclasses import dataclass

from inbox.channels.transport import MaybeAccepted, NotAccepted, Receipt

_ACCEPTED = 250
_PERMANENT = 500


@dataclass(frozen=True)
class SmtpTransport:
    """One connection for each message. `tls` is starttls, implicit or none."""

    host: str
    port: int
    user: str
    password: str
    tls: str
    timeout: float

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

    def _prepare(self, envelope_from: str, envelope_to: list[str]) -> smtplib.SMTP:
        """Everything before DATA: whatever fails here, the other side has nothing."""
        try:
            client = self._connect()
        except smtplib.SMTPAuthenticationError as error:
            raise NotAccepted(f"signing in failed: {_text(error.smtp_error)}", permanent=False) from error
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
        client: smtplib.SMTP
        if self.tls == "implicit":
            client = smtplib.SMTP_SSL(self.host, self.port, timeout=self.timeout, context=context)
        else:
            client = smtplib.SMTP(self.host, self.port, timeout=self.timeout)
        client.ehlo_or_helo_if_needed()
        if self.tls == "starttls":
            client.starttls(context=context)
            client.ehlo()
        if self.user:
            client.login(self.user, self.password)
        return client


def _refusal(code: int, answer: bytes | str) -> NotAccepted:
    return NotAccepted(f"{code} {_text(answer)}", permanent=code >= _PERMANENT)


def _text(answer: bytes | str) -> str:
    return answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
