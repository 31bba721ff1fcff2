"""Mail in by SMTP (RFC 5321) or LMTP (RFC 2033): 250 is said only after the bytes are committed."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope, Session, syntax

from inbox.channels.line import our_name

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


class _Server(SMTP):
    """The library's server, but for what follows DATA: lines of content may have any length.

    RFC 5321 asks for lines of at most 1000 octets (4.5.3.1.6), and mail with longer ones is sent all the same; a mail is
    limited as a whole. The library's limit stays for commands, so that nobody who has named no recipient fills memory.
    """

    @syntax("DATA")
    async def smtp_DATA(self, arg: str | None) -> None:  # noqa: N802 - the library's name
        if await self.check_helo_needed():
            return
        envelope = self.envelope or self._create_envelope()
        if not envelope.rcpt_tos:
            await self.push("503 5.5.1 Error: need RCPT command")
        elif arg:
            await self.push("501 5.5.4 Syntax: DATA")
        else:
            await self.push("354 End data with <CR><LF>.<CR><LF>")
            status = await self._received(envelope)
            self.envelope = self._create_envelope()
            await self.push("\r\n".join([status] * self._answers(envelope)))

    def _answers(self, envelope: Envelope) -> int:
        return 1

    async def _received(self, envelope: Envelope) -> str:
        content = await self._content(self.data_size_limit or 0)
        if content is None:
            return "552 5.3.4 Error: too much mail data"
        envelope.content = envelope.original_content = content
        return str(await self.event_handler.handle_DATA(self, self.session, envelope))

    async def _content(self, limit: int) -> bytes | None:
        """The mail as it was sent, without the dots that were added for the transfer (4.5.2); None when it is too large.

        Only a line that is a dot ends it, and only CR LF ends a line: with any other reading, two servers could differ in
        where a mail ends. What is too large is read to its end and not kept.
        """
        kept, begins = bytearray(), True
        is_kept = True
        while (piece := await self._piece()) != b".\r\n" or not begins:
            if begins and piece.startswith(b"."):
                piece = piece[1:]
            is_kept = is_kept and len(kept) + len(piece) <= limit
            if is_kept:
                kept += piece
            else:
                kept.clear()
            begins = piece.endswith(b"\r\n")
        return bytes(kept) if is_kept else None

    async def _piece(self) -> bytes:
        """A line, or as much of it as the reader takes at once. A connection that ends here ends this task."""
        try:
            return bytes(await self._reader.readuntil(b"\r\n"))
        except asyncio.LimitOverrunError as error:
            return bytes(await self._reader.readexactly(error.consumed))


class _LocalServer(_Server, LMTP):
    """LMTP answers once for each recipient that was taken (RFC 2033, 4.2); they share one fate, being stored together."""

    def _answers(self, envelope: Envelope) -> int:
        return len(envelope.rcpt_tos)


async def serve(*, host: str, port: int, lmtp: bool, handler: Handler, limit: int) -> asyncio.Server:
    """Listen until the caller closes the server. `limit` is in bytes and announced with SIZE (RFC 1870)."""
    loop = asyncio.get_running_loop()
    options: dict[str, Any] = {
        "data_size_limit": limit,
        "enable_SMTPUTF8": True,
        "decode_data": False,
        "loop": loop,
        "hostname": our_name(),
        "ident": "Autonomous Inbox",
    }
    kind = _LocalServer if lmtp else _Server
    return await loop.create_server(lambda: kind(handler, **options), host=host, port=port)
