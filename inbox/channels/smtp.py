"""Mail out by SMTP (RFC 5321). The one moment of doubt is between the end of DATA and its answer."""

import re
import smtplib
import ssl
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from inbox.channels.line import Line, PlainClient, TlsClient, our_name
from inbox.channels.transport import MaybeAccepted, NotAccepted, Receipt, SignInRefused
from kernel.secrecy import Secret

_ACCEPTED, _GO_ON = 250, 354
_PERMANENT = 500
_END = b".\r\n"


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
    # For each answer, and for all of the conversation.
    timeout: float
    deadline: float
    guarded: bool = False

    def send(self, *, raw: bytes, envelope_from: str, envelope_to: list[str], tag: str) -> Receipt:
        with Line(deadline=self.deadline, guarded=self.guarded) as line:
            client = self._prepare(line, raw, envelope_from, envelope_to)
            try:
                client.send(_END)
                code, answer = client.getreply()
                if code != _ACCEPTED:
                    raise _refusal(code, answer)
                with suppress(smtplib.SMTPException, OSError):
                    client.quit()
            except (smtplib.SMTPException, OSError) as error:
                raise MaybeAccepted(line.fault(error)) from error
            finally:
                client.close()
        return Receipt(reference=_text(answer)[:200])

    def check(self) -> dict[str, Any]:
        """Sign in, ask for nothing, and go."""
        with Line(deadline=self.deadline, guarded=self.guarded) as line:
            try:
                client = self._connect(line)
                with client:
                    client.noop()
                    offered = client.esmtp_features
            except smtplib.SMTPAuthenticationError as error:
                raise _not_signed_in(error) from error
            except (smtplib.SMTPException, OSError) as error:
                raise NotAccepted(line.fault(error), permanent=False) from error
        size = offered.get("size", "")
        return {"extensions": sorted(offered), "max_bytes": int(size) if size.isdecimal() and int(size) else None}

    def _prepare(self, line: Line, raw: bytes, envelope_from: str, envelope_to: list[str]) -> smtplib.SMTP:
        """Everything before the end of DATA: whatever fails here, the other side has nothing that it may deliver."""
        try:
            client = self._connect(line)
        except smtplib.SMTPAuthenticationError as error:
            raise _not_signed_in(error) from error
        except (smtplib.SMTPException, OSError) as error:
            raise NotAccepted(line.fault(error), permanent=False) from error
        try:
            self._address(client, envelope_from, envelope_to)
            self._tell(client, raw)
        except NotAccepted:
            client.close()
            raise
        except (smtplib.SMTPException, OSError) as error:
            client.close()
            raise NotAccepted(line.fault(error), permanent=False) from error
        return client

    def _tell(self, client: smtplib.SMTP, raw: bytes) -> None:
        """The message, up to its last line; it is not the server's before the end of DATA."""
        code, answer = client.docmd("data")
        if code != _GO_ON:
            raise _refusal(code, answer)
        quoted = re.sub(rb"(?m)^\.", b"..", raw)
        client.send(quoted if quoted.endswith(b"\r\n") else quoted + b"\r\n")

    def _address(self, client: smtplib.SMTP, envelope_from: str, envelope_to: list[str]) -> None:
        code, answer = client.mail(envelope_from)
        if code != _ACCEPTED:
            raise _refusal(code, answer)
        for address in envelope_to:
            code, answer = client.rcpt(address)
            if code not in (_ACCEPTED, 251):
                raise _refusal(code, answer)

    def _connect(self, line: Line) -> smtplib.SMTP:
        context = ssl.create_default_context() if self.tls != "none" else None
        if context and settings.MAIL_CA_FILE:
            context.load_verify_locations(settings.MAIL_CA_FILE)
        client: smtplib.SMTP
        options: dict[str, Any] = {"local_hostname": our_name(), "timeout": self.timeout, "line": line}
        if self.tls == "implicit":
            client = TlsClient(self.host, self.port, context=context, **options)
        else:
            client = PlainClient(self.host, self.port, **options)
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


def _not_signed_in(error: smtplib.SMTPAuthenticationError) -> SignInRefused:
    # Only the number: what a server says to a password may repeat it.
    return SignInRefused(f"signing in failed: {error.smtp_code}")


def _refusal(code: int, answer: bytes | str) -> NotAccepted:
    return NotAccepted(f"{code} {_text(answer)}", permanent=code >= _PERMANENT)


def _text(answer: bytes | str) -> str:
    return answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
