"""Mail in by SMTP (RFC 5321) or LMTP (RFC 2033): 250 is said only after the bytes are committed."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope, Session

logger = logging.getLogger(__name__)

Knows = Callable[[str], bool]
Take = Callable[[str, list[str], bytes, str], None]


class Handler:
    """Decides on recipients and hands messages on. Both functions block, so they run in threads."""

    def __init__(self, *, knows: Knows, take: Take) -> None:
        self._knows = knows
        self._take = take

    async def handle_RCPT(  # noqa: N802 - the library's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        try:
            known = await asyncio.to_thread(self._knows, address)
        except Exception:
            logger.exception("a recipient could not be looked up")
            return "451 4.3.0 Temporary failure, please try again later"
        if not known:
            return "550 5.1.1 There is no such mailbox here"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        content = envelope.original_content or b""
        source = "lmtp" if isinstance(server, LMTP) else "smtp"
        try:
            await asyncio.to_thread(self._take, envelope.mail_from or "", list(envelope.rcpt_tos), content, source)
        except Exception:
            logger.exception("a message could not be stored")
            return "451 4.3.0 Temporary failure, please try again later"
        return "250 2.0.0 OK, stored"


async def serve(*, host: str, port: int, lmtp: bool, handler: Handler, limit: int) -> asyncio.Server:
    """Listen until the caller closes the server. `limit` is in bytes and announced with SIZE (RFC 1870)."""
    loop = asyncio.get_running_loop()
    options: dict[str, Any] = {
        "data_size_limit": limit,
        "enable_SMTPUTF8": True,
        "decode_data": False,
        "loop": loop,
        "ident": "Autonomous Inbox",
    }
    kind = LMTP if lmtp else SMTP
    return await loop.create_server(lambda: kind(handler, **options), host=host, port=port)
