"""One attempt over HTTP: always an Outcome, never an exception, whatever the other side does."""

import asyncio
import logging
from collections.abc import Mapping
from time import monotonic

from kernel import http
from kernel.redaction import redact_text
from webhooks.types import ERROR_LENGTH, EXCERPT_LENGTH, Outcome

logger = logging.getLogger(__name__)

# What every request says, whatever the endpoint adds.
FIXED_HEADERS = {"content-type": "application/json", "user-agent": "Autonomous-Inbox-Webhooks/1"}
_READ_LIMIT = 64 * 1024


async def post(session: http.Session, *, url: str, headers: Mapping[str, str], body: bytes, deadline: float) -> Outcome:
    """POST `body` once and read at most 64 KB of the answer, all of it within `deadline` seconds."""
    began = monotonic()
    try:
        reply = await http.send(
            session, "POST", url, headers=headers, body=body, deadline=deadline, read_limit=_READ_LIMIT
        )
    except (http.NoAnswer, http.AddressRefused, TimeoutError) as error:
        return Outcome(None, error=_reason(error, deadline), duration_ms=_since(began))
    except asyncio.CancelledError:
        raise
    except Exception as error:
        # Whatever a hostile answer makes the client raise is that endpoint's failure, not the dispatcher's.
        logger.exception("unexpected error of the HTTP client")
        return Outcome(None, error=_reason(error, deadline), duration_ms=_since(began))
    return Outcome(
        reply.status,
        retry_after="" if reply.status < 300 else reply.headers.get("retry-after", ""),
        excerpt=reply.body[:EXCERPT_LENGTH].decode(errors="replace").replace("\x00", "\ufffd"),
        duration_ms=_since(began),
    )


def _reason(error: Exception, deadline: float) -> str:
    """A sentence for the owner of the endpoint."""
    match error:
        case http.AddressRefused():
            text = f"Not sent: {error.detail}"
        case TimeoutError():
            text = f"No complete answer within {deadline:g} seconds."
        case http.NoAnswer():
            text = str(error)
        case _:
            text = f"{type(error).__name__}: {error}"
    return redact_text(text).replace("\x00", "\ufffd").encode(errors="replace").decode()[:ERROR_LENGTH]


def _since(began: float) -> int:
    return round((monotonic() - began) * 1000)
