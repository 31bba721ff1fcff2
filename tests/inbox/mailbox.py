"""A mail server that asks who we are: TLS with a certificate of its own authority, users with passwords, a ledger."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

from config import ports
from config.demo.sink import Ledger
from tests.world.amazon import server_certificate


class Mailbox:
    """Lets in whom `passwords` knows; `asked` holds every sign-in with its outcome."""

    def __init__(self, folder: Path, *, implicit: bool = False) -> None:
        self.ledger, self.passwords, self.asked = Ledger(), {"support": "right-password"}, []
        self.authority, key = server_certificate(folder)
        self.port = ports.choose(0)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.authority, key)
        options: dict[str, Any] = {"authenticator": self._let_in, "auth_required": True}
        if implicit:
            options |= {"ssl_context": context, "auth_require_tls": False}
        else:
            options |= {"tls_context": context, "require_starttls": True}
        self._controller = Controller(self.ledger, hostname="127.0.0.1", port=self.port, **options)

    def _let_in(self, server: SMTP, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        user, password = data.login.decode(), data.password.decode()
        good = self.passwords.get(user) == password
        self.asked.append((user, good))
        return AuthResult(success=good, handled=False)


@contextmanager
def mailbox(folder: Path, *, implicit: bool = False) -> Iterator[Mailbox]:
    """The server, while it runs."""
    server = Mailbox(folder, implicit=implicit)
    server._controller.start()
    try:
        yield server
    finally:
        server._controller.stop()
