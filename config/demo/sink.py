"""A local mail server that takes everything: where the demo's replies end up, and the only witness of "sent once"."""

import threading
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import default as default_policy

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from config import ports


@dataclass(frozen=True)
class Taken:
    """One accepted message."""

    recipients: tuple[str, ...]
    message_id: str
    subject: str
    raw: bytes


@dataclass
class Ledger:
    """What was accepted, in order; never changed afterwards."""

    messages: list[Taken] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        raw = envelope.original_content or b""
        parsed = message_from_bytes(raw, policy=default_policy)
        taken = Taken(tuple(envelope.rcpt_tos), str(parsed["Message-ID"] or ""), str(parsed["Subject"] or ""), raw)
        with self.lock:
            self.messages.append(taken)
        return "250 2.0.0 OK"

    def by_id(self) -> dict[str, int]:
        """How often each Message-ID was accepted."""
        with self.lock:
            counts: dict[str, int] = {}
            for message in self.messages:
                counts[message.message_id] = counts.get(message.message_id, 0) + 1
            return counts


class Sink:
    """The server, in a thread of its own."""

    def __init__(self, *, port: int = 0) -> None:
        self.ledger = Ledger()
        self.port = ports.choose(port)
        self._controller = Controller(self.ledger, hostname="127.0.0.1", port=self.port)

    def __enter__(self) -> "Sink":
        self._controller.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._controller.stop()
