"""From parsed mails to filed ones: look, decide, write; again when a related mail came in between.

Mails that have nothing to do with each other share a look and a transaction, which costs much less than one each.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from inbox.mime import through_us
from inbox.mime.types import Address, ParsedMail
from inbox.normalise import lenient, without_tag
from inbox.queries import preparing
from inbox.queries.preparing import Prepared, Question
from inbox.services import filing
from inbox.services.filing import Claim, Job
from kernel import outbox
from kernel.transactions import in_workspace

logger = logging.getLogger(__name__)

_LOOKS = 10


class TooBusy(Exception):
    """Related mails arrive faster than this one can be placed; it is tried again later."""


@dataclass(frozen=True)
class Read:
    """A mail of a message that this worker has claimed."""

    claim: Claim
    mail: ParsedMail


def place(one: Read) -> None:
    """File a mail in each inbox that waits for it; again from the look when a related mail was filed in between."""
    for _ in range(_LOOKS):
        (prepared,) = _look([one])
        if not prepared.targets:
            _close(one.claim)
        outcomes = _outcomes(one, prepared)
        _tell([one] * len(outcomes), outcomes)
        if "changed" not in outcomes:
            return
    raise TooBusy


def place_together(several: Sequence[Read]) -> list[Read]:
    """File in one transaction those that may be; the others, in their order, for `place`.

    A mail waits when an earlier one of these cites what it cites or goes to its thread, since its own decision depends
    on that one; when it has several inboxes; when a related mail came in between. What goes wrong is raised, and then
    none of them is filed.
    """
    jobs: list[tuple[Read, Job]] = []
    left: list[Read] = []
    taken: set[object] = set()
    for one, prepared in zip(several, _look(several), strict=True):
        # A delivery report writes news beside the mail, in locks of its own.
        if len(prepared.targets) != 1 or one.mail.bounce is not None:
            left.append(one)
            continue
        (target,) = prepared.targets
        cited: set[object] = {(target.inbox_id, digest) for digest in filing.wanted_by(one.mail)}
        is_free = taken.isdisjoint(cited)
        taken |= cited
        job = filing.decide(one.claim, target, one.mail, own=prepared.own) if is_free else None
        if job is None or not taken.isdisjoint(job.keys):
            left.append(one)
        else:
            jobs.append((one, job))
            taken |= job.keys
    if jobs:
        outcomes = filing.file([job for _, job in jobs])
        _tell([one for one, _ in jobs], outcomes)
        again = {one.claim.message_id for (one, _), found in zip(jobs, outcomes, strict=True) if found == "changed"}
        waiting = again | {one.claim.message_id for one in left}
        left = [one for one in several if one.claim.message_id in waiting]
    return left


def _look(several: Sequence[Read]) -> list[Prepared]:
    """Once; and once more for those of which only the look tells who wrote them, since their From is an address of ours."""
    found = preparing.prepare([_question(one, one.mail.from_) for one in several])
    for place, one in enumerate(several):
        author = filing.author_of(one.mail, found[place].own)
        if author is not one.mail.from_:
            (found[place],) = preparing.prepare([_question(one, author)])
    return found


def _question(one: Read, author: Address | None) -> Question:
    return Question(
        workspace_id=one.claim.workspace_id,
        inbound_message_id=one.claim.message_id,
        addresses=_addresses(one.mail),
        hashes=filing.wanted_by(one.mail),
        sender=lenient(author.address) if author else "",
    )


def _outcomes(one: Read, prepared: Prepared) -> list[str]:
    """Inbox after inbox, until one has to be decided anew: the last one closes the message for all."""
    found: list[str] = []
    for target in prepared.targets:
        found += filing.file([filing.decide(one.claim, target, one.mail, own=prepared.own)])
        if found[-1] == "changed":
            break
    return found


def _tell(several: Sequence[Read], outcomes: Sequence[str]) -> None:
    for one, outcome in zip(several, outcomes, strict=True):
        if outcome == "stale":
            message_id = str(one.claim.message_id)
            logger.info("another worker has this message now", extra={"inbound_message_id": message_id})
    if "filed" in outcomes:
        outbox.wake_drain()


def _close(claim: Claim) -> None:
    """Every inbox has had it before."""
    with in_workspace(claim.workspace_id), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE inbox_inboundmessage SET state = 'done' WHERE id = %s AND lease_token = %s",
            [claim.message_id, claim.lease_token],
        )


def _addresses(mail: ParsedMail) -> list[str]:
    """All addresses that may be inboxes of ours, with and without their plus-tag (§1.4)."""
    found = [mail.from_, mail.sender, *mail.to[:200], *mail.cc[:200], *mail.reply_to[:200]]
    exact = {lenient(address.address) for address in found if address}
    exact |= {lenient(address) for address in through_us.list_addresses(mail)}
    exact |= {lenient(mail.return_path)} if mail.return_path else set()
    return list(exact | {without_tag(address) for address in exact})
