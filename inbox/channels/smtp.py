"""Mail out by SMTP (RFC 5321). The one moment of doubt is between the end of DATA and its answer."""

import smtplib
import ssl
from dataclasses import dataclass

from inbox.channels.transport import MaybeAccepted, NotAccepted, Receipt

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
        except smtplib.SMTPDataError as error:
            raise _refusal(error.smtp_code, error.smtp_error) from error
        except (smtplib.SMTPException, OSError) as error:
            client.close()
            raise MaybeAccepted(f"{type(error).__name__}: {error}") from error
        if code != 250:
            raise _refusal(code, answer)
        try:
            client.quit()
        except (smtplib.SMTPException, OSError):
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
            code, answer = client.mail(envelope_from)
            refused = _refusal(code, answer) if code != 250 else None
            for address in envelope_to if refused is None else []:
                code, answer = client.rcpt(address)
                if code not in (250, 251):
                    refused = _refusal(code, answer)
                    break
        except (smtplib.SMTPException, OSError) as error:
            client.close()
            raise NotAccepted(f"{type(error).__name__}: {error}", permanent=False) from error
        if refused is not None:
            client.close()
            raise refused
        return client

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
