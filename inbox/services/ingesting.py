"""Work through stored messages: claim, parse in the bounded child, have them filed.

The row is the queue. Its attempt is counted before anything reads the bytes, so a message that kills its worker, even by
SIGKILL, is quarantined after the last attempt and the next ones go on in the same cycle (FS-1). Messages that have failed
before are claimed alone: the others of a batch are innocent.
"""

import atexit
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import islice
from typing import Any

import orjson
from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections, connection
from msgspec.structs import replace

from inbox.channels.s3 import NotFetched
from inbox.events import MessageQuarantined
from inbox.mime.child import ParserCrashed, ParserPool
from inbox.mime.types import ParsedMail
from inbox.models import Email
from inbox.services import bringing, holding, placing, progress, screening
from inbox.services.filing import Claim
from inbox.services.placing import Read
from inbox.types import EmailState, MessageState
from kernel import clock, outbox
from kernel.crash import crash_point
from kernel.transactions import in_all_workspaces, in_workspace

logger = logging.getLogger(__name__)

# At most so many mails, and about so many bytes, are filed in one transaction: few enough that nobody waits long for what
# it holds, and that they fit into memory.
_TOGETHER = 32
_BYTES_TOGETHER = 4_000_000
# How long a worker waits for a database that went away under a message.
_LOOKS, _LOOK_AGAIN_SECONDS = 20, 0.25
# So long after a mail has come, a database that goes away under it is nobody's fault.
_GIVEN_BACK = timedelta(hours=1)
_PENDING = (EmailState.RECEIVED, EmailState.STORED, EmailState.PARSED)


@dataclass(frozen=True)
class _Claimed:
    claim: Claim
    raw: bytes
    # When its lease ends.
    until: datetime
    # Where the bytes are, when they could not be had as the mail was accepted.
    location: str = ""


_CLAIM = """
UPDATE inbox_inboundmessage SET attempts = attempts + 1, lease_token = lease_token + 1, due_at = now() + %(lease)s
WHERE id IN (
    SELECT id FROM inbox_inboundmessage WHERE state = 'stored' AND due_at <= now() AND (attempts > 0) = %(again)s
    ORDER BY due_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
RETURNING id, workspace_id, lease_token, attempts, envelope_from, source, verdicts, raw, due_at, location, received_at
"""


@cache
def _parser() -> ParserPool:
    """The process's children; they start with the first message."""
    pool = ParserPool(size=2)
    atexit.register(pool.close)
    return pool


def parse(raw: bytes) -> ParsedMail:
    """A mail as the present reader reads it, in the bounded child, its HTML made safe there, too. Raises ParserCrashed.

    HTML that costs too much is left out and its text shown: a mail is never lost by its formatting.
    """
    mail = _parser().parse(raw)
    if not mail.html:
        return mail
    cleaned = _parser().clean(mail.html)
    if cleaned is None:
        return replace(mail, warnings=["html: too costly to show, left out", *mail.warnings])
    return replace(mail, safe_html=cleaned)


def process_due(*, limit: int | None = None) -> int:
    """Take one batch of fresh messages and one that failed before; how many were taken."""
    taken = 0
    for again, size in ((False, limit or settings.INGEST_BATCH), (True, 1)):
        claimed = _claim(again=again, limit=size)
        if not claimed:
            continue
        with holding.held([item.claim.message_id for item in claimed], until=claimed[0].until):
            crash_point("ingest.claimed")
            _process_all(claimed)
        taken += len(claimed)
    return taken


def _claim(*, again: bool, limit: int) -> list[_Claimed]:
    lease = timedelta(seconds=settings.INGEST_LEASE_SECONDS)
    with in_all_workspaces("the ingest serves every workspace"), connection.cursor() as cursor:
        values: dict[str, Any] = {"lease": lease, "again": again, "limit": limit}
        cursor.execute(_CLAIM, values)
        rows = cursor.fetchall()
    # As they came: an answer after what it answers.
    rows.sort(key=lambda row: (row[-1], row[0]))
    return [
        _Claimed(
            Claim(message_id, workspace_id, token, attempts, sender, source, _json(verdicts)),
            bytes(raw),
            until,
            location,
        )
        for message_id, workspace_id, token, attempts, sender, source, verdicts, raw, until, location, _ in rows
    ]


def _json(value: Any) -> Any:
    return orjson.loads(value) if isinstance(value, str) else value


def _process_all(claimed: list[_Claimed]) -> None:
    """Several at a time: while one waits for the database or its parser, another is worked on."""
    threads = min(settings.INGEST_THREADS, len(claimed))
    size = min(_TOGETHER, -(-len(claimed) // max(threads, 1)))
    queue = iter(claimed)
    if threads < 2:
        _work_through(queue, size)
        return
    crew = _crew(os.getpid(), settings.INGEST_THREADS)
    # Each thread carries the caller's context: actor and request.
    for future in [crew.submit(copy_context().run, _work_apart, queue, size) for _ in range(threads)]:
        future.result()


@cache
def _crew(process_id: int, size: int) -> ThreadPoolExecutor:
    """The process's ingest threads, with connections that stay open. A forked process makes its own."""
    return ThreadPoolExecutor(size, thread_name_prefix="ingest")


def _work_apart(queue: Iterator[_Claimed], size: int) -> None:
    close_old_connections()
    try:
        _work_through(queue, size)
    finally:
        close_old_connections()


def _work_through(queue: Iterator[_Claimed], size: int) -> None:
    """Threads share the iterator: taking the next item of a list's iterator is atomic."""
    while chosen := list(_next(queue, size)):
        _process(chosen)


def _next(queue: Iterator[_Claimed], size: int) -> Iterator[_Claimed]:
    """At least one, when there is one."""
    taken = 0
    for item in islice(queue, size):
        yield item
        taken += len(item.raw)
        if taken > _BYTES_TOGETHER:
            return


def _process(chosen: Sequence[_Claimed]) -> None:
    """Some messages, whatever happens: their faults end here, and each is only its own."""
    mails = [one for one in map(_read, chosen) if one is not None]
    if len(mails) > 1:
        try:
            mails = placing.place_together(mails)
        except Exception:
            # One of them is at fault, perhaps; one by one, it hurts nobody else.
            logger.exception("mails could not be filed together", extra={"messages": len(mails)})
        crash_point("ingest.filed")
    for one in mails:
        with _faults_of(one.claim):
            placing.place(one)
            crash_point("ingest.filed")


def _read(item: _Claimed) -> Read | None:
    """A message's mail; None when it cannot be had, or is not to be filed."""
    claim = item.claim
    with _faults_of(claim):
        raw = item.raw
        if item.location and not raw:
            raw = bringing.bring(claim, item.location)
        elif claim.attempts > settings.INGEST_MAX_ATTEMPTS:
            quarantine(claim=claim, reason="its worker died at each attempt")
            return None
        mail = parse(raw)
        crash_point("ingest.parsed")
        if mail.status != "quarantined":
            return Read(screening.screen(claim, raw), mail)
        quarantine(claim=claim, reason=mail.reason or "unsafe to read")
    return None


@contextmanager
def _faults_of(claim: Claim) -> Iterator[None]:
    """What goes wrong with a message: later again, or into quarantine."""
    try:
        yield
    except NotFetched as error:
        _bring_later(claim, error)
    except ParserCrashed as error:
        _again(claim, f"the parser gave up: {error}")
    except Exception as error:
        if isinstance(error, (OperationalError, InterfaceError)) and _has_gone(error):
            _give_back(claim)
            return
        logger.exception("a message could not be filed", extra={"inbound_message_id": str(claim.message_id)})
        _again(claim, f"{type(error).__name__}: {error}")


def _has_gone(error: Exception) -> bool:
    """Whether the connection is lost or the server ends (SQLSTATE classes 08 and 57P), which is nobody's mail's fault."""
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(("08", "57P"))


def _give_back(claim: Claim) -> None:
    """As if it had not been claimed, as soon as the database is there again; else its lease ends and the attempt counts.

    Not for ever: were it the mail that ends the database each time, it is put aside in the end like any other poison.
    """
    for _ in range(_LOOKS):
        close_old_connections()
        try:
            with in_workspace(claim.workspace_id), connection.cursor() as cursor:
                cursor.execute(
                    "UPDATE inbox_inboundmessage SET attempts = attempts - 1, lease_token = lease_token + 1, due_at = now()"
                    " WHERE id = %s AND lease_token = %s AND state = 'stored' AND received_at > %s",
                    [claim.message_id, claim.lease_token, clock.now() - _GIVEN_BACK],
                )
        except (OperationalError, InterfaceError):
            time.sleep(_LOOK_AGAIN_SECONDS)
        else:
            return
    logger.warning("the database is away; a message waits for it", extra={"inbound_message_id": str(claim.message_id)})


def _bring_later(claim: Claim, error: NotFetched) -> None:
    delays = settings.S3_RETRY_SECONDS
    if error.permanent or claim.attempts > len(delays):
        quarantine(claim=claim, reason=str(error))
        return
    _postpone(claim, str(error), delays[claim.attempts - 1])


def _again(claim: Claim, reason: str) -> None:
    if claim.attempts >= settings.INGEST_MAX_ATTEMPTS:
        quarantine(claim=claim, reason=reason)
        return
    _postpone(claim, reason, settings.INGEST_RETRY_SECONDS)


def _postpone(claim: Claim, reason: str, seconds: float) -> None:
    with in_workspace(claim.workspace_id), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE inbox_inboundmessage SET due_at = now() + %s * interval '1 second', reason = %s"
            " WHERE id = %s AND lease_token = %s AND state = 'stored'",
            [seconds, reason[:200], claim.message_id, claim.lease_token],
        )


def quarantine(*, claim: Claim, reason: str) -> None:
    """Put a message aside with its bytes, for a person to look at and replay."""
    with in_workspace(claim.workspace_id), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE inbox_inboundmessage SET state = %s, reason = %s"
            " WHERE id = %s AND lease_token = %s AND state = 'stored'",
            [MessageState.QUARANTINED, reason[:200], claim.message_id, claim.lease_token],
        )
        if not cursor.rowcount:
            return
        emails = Email.objects.filter(inbound_message_id=claim.message_id, state__in=_PENDING)
        for email_id in emails.values_list("id", flat=True):
            progress.move(email_id=email_id, to=EmailState.QUARANTINED, reason=reason)
        outbox.emit(
            MessageQuarantined(
                workspace_id=claim.workspace_id, inbound_message_id=claim.message_id, reason=reason[:200]
            )
        )


def process_all(*, keep_going: Callable[[], bool] = lambda: True) -> int:
    """Batch after batch until nothing is due, or `keep_going` says no; how many messages were taken."""
    total = 0
    while keep_going() and (taken := process_due()):
        total += taken
    return total
