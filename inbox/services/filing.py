"""Put parsed mails into their inboxes: classify, decide the thread, write it all in one statement."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import orjson
from django.db import connection

from files.services import scanning, storing
from files.services.inspecting import Inspection
from inbox.mime import through_us, verdicts
from inbox.mime.classify import HOP_HEADER, Classification, classify
from inbox.mime.naming import display_name
from inbox.mime.types import Address, ParsedAttachment, ParsedMail
from inbox.normalise import lenient, without_tag
from inbox.policy import InboxPolicy
from inbox.queries import threading
from inbox.queries.preparing import Target
from inbox.queries.threading import PROVEN, Decision
from inbox.services import belonging
from inbox.services.belonging import Delivery, Placement
from inbox.tokens import answered_by_address, own_entry
from inbox.types import EmailState, MailClass
from kernel import clock, context
from kernel.transactions import in_workspace

DROPPED = "inactive_inbox_dropped"

# What is kept of a mail that was dropped, beside the fact.
_NOTHING: Final[dict[str, Any]] = {
    "subject": "",
    "from_name": "",
    "from_address": "",
    "to": [],
    "cc": [],
    "date": None,
    "rfc_message_id": "",
    "warnings": [],
}

_PREVIEW = 160
_MAX_DELAY = timedelta(days=2)
_MAX_ADDRESSES = 200
_MAX_REFERENCES = 100
_MAX_TEXT = 1_000_000


@dataclass(frozen=True)
class Claim:
    """A message that this worker has claimed: `lease_token` is the fence against an older claim."""

    message_id: UUID
    workspace_id: UUID
    lease_token: int
    attempts: int
    envelope_from: str
    source: str
    verdicts: dict[str, Any]
    # Our own scanner has seen all of it and found nothing.
    is_clean: bool = False
    # Of its files: one for all of its inboxes, however often it is decided.
    inspection: Inspection = field(default_factory=Inspection, compare=False)


@dataclass(frozen=True)
class Job:
    """One mail for one inbox, as it was decided: ready to be written."""

    claim: Claim
    thread_id: UUID | None
    reason: str
    content: dict[str, Any]
    bodies: tuple[str, str, str]

    @property
    def keys(self) -> set[object]:
        """What two jobs may not share to be filed in one go: a citation in an inbox, or a thread."""
        inbox = self.content["inbox_id"]
        found: set[object] = {(inbox, key) for key in self.content["wanted"]}
        return found | ({self.thread_id} if self.thread_id else set())


def decide(claim: Claim, target: Target, mail: ParsedMail, *, own: Collection[str]) -> Job:
    """Everything about one mail in one inbox: its class, its fate, its thread.

    `own` are those addresses among the mail's that are inboxes of this installation.
    """
    judged = _judge(claim, target, mail, own)
    author = author_of(mail, own) if judged.reason == through_us.WRITTEN_THROUGH_US else mail.from_
    sender = lenient(author.address) if author else ""
    state, reason = _fate(claim, target, sender, judged)
    is_impostor = verdicts.is_impostor(claim.verdicts, target.policy)
    placed = Placement(Decision(thread_id=None))
    if _shows(target, state):
        placed = belonging.decide(
            Delivery(claim.workspace_id, claim.message_id, claim.verdicts, target, mail, judged, sender, is_impostor)
        )
        if placed.decision.twins and _is_copy(claim, placed.decision, sender, mail):
            state, reason = EmailState.IGNORED, "duplicate"
    content = _content(claim, target, mail, judged, state, reason)
    if reason == DROPPED:
        content["email"] |= _NOTHING
    if _shows(target, state) and reason != "duplicate":
        content |= _entry(target, mail, judged, placed.decision, author, own)
        content["via"] = placed.decision.via
        content["wanted"] += [digest.hex() for digest in placed.wanted]
        content["seen"] += placed.seen
        content["references"] += placed.references
        if is_impostor:
            # Its author is not the contact whose address it names.
            content["contact"] = None
        content["attachments"] = _attachments(claim, target, mail)
    text = mail.text[:_MAX_TEXT]
    bodies = (text, mail.reply_text[:_MAX_TEXT] if mail.reply_text else text, mail.safe_html)
    return Job(claim, content["thread_id"], reason, content, bodies)


def file(jobs: Sequence[Job]) -> list[str]:
    """Write them in one statement; what became of each: `filed`, `known` (it was before), `stale` (the claim was lost) or
    `changed` (a mail which cites the same ids was filed meanwhile: prepare again, then decide again).

    No two of them may share a key.
    """
    rows = [job.content | {"n": place} for place, job in enumerate(jobs, start=1)]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT outcome FROM inbox_file_v1(%s::jsonb, %s::jsonb) ORDER BY place",
            [orjson.dumps(rows, default=str).decode(), orjson.dumps([job.bodies for job in jobs]).decode()],
        )
        outcomes = [str(row[0]) for row in cursor.fetchall()]
    for job in jobs:
        if job.reason == DROPPED:
            _forget(job.claim)
    return outcomes


def wanted_by(mail: ParsedMail) -> list[bytes]:
    """The keys of all message ids that decide where the mail belongs."""
    cited = [*belonging.cited_by_address(mail), *mail.in_reply_to]
    return threading.wanted(message_id=mail.message_id or "", in_reply_to=cited, references=mail.references)


def author_of(mail: ParsedMail, own: Collection[str]) -> Address | None:
    """Who wrote the mail, where `own` are those of its addresses that are inboxes."""
    return through_us.author(mail, lambda address: _is_own(address, own))


def _is_own(address: str, own: Collection[str]) -> bool:
    return lenient(address) in own or without_tag(lenient(address)) in own


def _is_copy(claim: Claim, decision: Decision, sender: str, mail: ParsedMail) -> bool:
    with in_workspace(claim.workspace_id):
        return threading.is_copy(twins=decision.twins, sender=sender, text=mail.text[:_MAX_TEXT])


def _shows(target: Target, state: EmailState) -> bool:
    """Whether the mail gets an entry: machine mail is shown too; quarantined mail and mail for a closed inbox is not."""
    return state in (EmailState.THREADED, EmailState.IGNORED) and not target.closed


def _judge(claim: Claim, target: Target, mail: ParsedMail, own: Collection[str]) -> Classification:
    envelope_from = claim.envelope_from if claim.source in ("ses", "smtp", "lmtp") else None
    found = {name: value for name, value in claim.verdicts.items() if isinstance(value, str)}
    return classify(
        mail,
        envelope_from=envelope_from,
        verdicts=found,
        own_addresses=lambda address: _is_own(address, own),
        own_token_check=lambda text: bool(own_entry(text) or answered_by_address(text)),
        recipient=None
        if target.policy.answer_blind_copies
        else lambda: belonging.is_named(claim.workspace_id, target, mail, own),
    )


def _fate(claim: Claim, target: Target, sender: str, judged: Classification) -> tuple[EmailState, str]:
    """What becomes of the mail, before any agent sees it."""
    policy = target.policy
    if target.closed:
        return EmailState.IGNORED, DROPPED if _is_dropped(target) else target.closed
    aside = _put_aside(claim, policy, judged)
    if aside:
        return EmailState.QUARANTINED, aside
    stranger = policy.stranger(sender) if sender else ""
    if stranger:
        return EmailState.IGNORED, stranger
    if judged.kind == "human":
        return EmailState.THREADED, ""
    return EmailState.IGNORED, judged.kind


def _is_dropped(target: Target) -> bool:
    return target.closed == "inactive_inbox" and target.policy.when_inactive == "drop"


def _forget(claim: Claim) -> None:
    """The bytes of a mail that every one of its inboxes has dropped."""
    with in_workspace(claim.workspace_id), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE inbox_inboundmessage m SET raw = '' WHERE m.id = %s AND m.state = 'done' AND NOT EXISTS ("
            " SELECT FROM inbox_email e WHERE e.inbound_message_id = m.id AND e.state_reason <> %s)",
            [claim.message_id, DROPPED],
        )


def _put_aside(claim: Claim, policy: InboxPolicy, judged: Classification) -> str:
    """Why a person must look first. What a person has released is put aside for a virus only."""
    if judged.kind == "virus" and policy.quarantine_virus:
        return "virus"
    if judged.kind == "spam" and policy.quarantine_spam:
        return "spam"
    return "" if claim.verdicts.get("released_by") else verdicts.put_aside(claim.verdicts, policy)


def _content(
    claim: Claim, target: Target, mail: ParsedMail, judged: Classification, state: EmailState, reason: str
) -> dict[str, Any]:
    who = context.actor.get()
    return {
        "workspace_id": claim.workspace_id,
        "message_id": claim.message_id,
        "lease_token": claim.lease_token,
        "email_id": target.email_id,
        "inbox_id": target.inbox_id,
        "final": target.is_last,
        "thread_id": None,
        "contact": None,
        "entry": None,
        "wanted": [digest.hex() for digest in wanted_by(mail)] if _shows(target, state) else [],
        "seen": target.seen if _shows(target, state) else 0,
        "references": [],
        "participants": [],
        "attachments": [],
        "email": {
            "state": state.value,
            "reason": reason,
            "mail_class": MailClass(judged.kind).value,
            "class_reason": judged.reason[:200],
            "may_auto_answer": judged.may_auto_answer,
            "subject": mail.subject,
            "from_name": mail.from_.name if mail.from_ else "",
            "from_address": mail.from_.address[:320] if mail.from_ else "",
            "reply_to": addresses(mail.reply_to),
            "to": addresses(mail.to),
            "cc": addresses(mail.cc),
            "date": mail.date,
            "rfc_message_id": mail.message_id or "",
            "in_reply_to": mail.in_reply_to[:_MAX_REFERENCES],
            "references": mail.references[-_MAX_REFERENCES:],
            "warnings": _warnings(target, mail)[:50],
            "hops": _hops(mail),
        },
        "context": {
            "actor": {"kind": who.kind, "id": who.id, "label": who.label},
            "request_id": context.request_id.get(),
        },
        "audit_entry": {
            "id": uuid.uuid4(),
            "action": "email.file",
            "outcome": "done",
            "actor_kind": who.kind,
            "actor_id": who.id,
            "actor_label": who.label,
            "resource_kind": "email",
            "resource_id": str(target.email_id),
            "request_id": context.request_id.get(),
            "execution_id": None,
        },
    }


def _warnings(target: Target, mail: ParsedMail) -> list[str]:
    found = list(mail.warnings)
    if mail.from_ambiguous:
        found.append("from_ambiguous")
    if len(_taken(target.policy, mail)) < len(mail.attachments):
        found.append("attachment_left_out")
    return found


def _entry(
    target: Target,
    mail: ParsedMail,
    judged: Classification,
    decision: Decision,
    author: Address | None,
    own: Collection[str],
) -> dict[str, Any]:
    references = [{"id": mail.message_id, "kind": "own"}] if mail.message_id else []
    references += [{"id": item, "kind": "in_reply_to"} for item in mail.in_reply_to[:_MAX_REFERENCES]]
    references += [{"id": item, "kind": "reference"} for item in mail.references[-_MAX_REFERENCES:]]
    sender = lenient(author.address) if author else ""
    named = {lenient(a.address) for a in [*mail.to, *mail.cc][:_MAX_ADDRESSES]} - {sender}
    others = {address for address in named if address not in own and without_tag(address) not in own}
    is_somebody = bool(sender) and judged.kind not in ("self", "bounce")
    participants = [{"address": sender, "role": "requester"}] if is_somebody else []
    participants += [{"address": address, "role": "cc"} for address in sorted(others) if address]
    text = " ".join((mail.reply_text or mail.text).split())
    return {
        "thread_id": decision.thread_id,
        "contact": {"address": sender, "name": (author.name or sender) if author else ""}
        if is_somebody and "@" in sender
        else None,
        "entry": {
            "key": f"email:{target.email_id}",
            "author": (author.name or author.address) if author else "unknown sender",
            "in_reply_to": decision.entry_id,
            "preview": text[:_PREVIEW],
            "opens_turn": judged.kind == "human",
            "written_at": _written_at(mail, decision),
            "decision": decision.as_json(),
        },
        "references": references,
        "participants": participants,
    }


def _written_at(mail: ParsedMail, decision: Decision) -> datetime | None:
    """When a late mail was written, to see whether it is older than an answer that was given meanwhile (S1-21).

    Only a plausible Date counts (clocks are wrong, and strangers choose it), and never for mail that answers ours.
    """
    if mail.date is None or decision.rule in PROVEN or abs(clock.now() - mail.date) > _MAX_DELAY:
        return None
    return mail.date


def _taken(policy: InboxPolicy, mail: ParsedMail) -> list[tuple[int, ParsedAttachment]]:
    """The attachments that the inbox takes, with their places. The raw mail has the others still."""
    limits = policy.attachments
    fits = [
        (position, part)
        for position, part in enumerate(mail.attachments)
        if (limits.max_bytes is None or part.size <= limits.max_bytes)
        and (part.filename or "").rpartition(".")[2].lower() not in limits.refuse_extensions
    ]
    return fits if limits.max_count is None else fits[: limits.max_count]


def _attachments(claim: Claim, target: Target, mail: ParsedMail) -> list[dict[str, Any]]:
    parts = [(position, part) for position, part in _taken(target.policy, mail) if part.content is not None]
    return [
        keep(claim.workspace_id, position, part, is_clean=claim.is_clean, inspection=claim.inspection)
        for position, part in parts
    ]


def keep(
    workspace_id: UUID, position: int, part: ParsedAttachment, *, is_clean: bool, inspection: Inspection
) -> dict[str, Any]:
    """An attachment as `inbox_attach_v1` takes it, its bytes stored."""
    content = part.content or b""
    state, reason = scanning.first_state(content, part.sniffed_type, is_clean=is_clean, inspection=inspection)
    return {
        "position": position,
        "filename": (part.filename or display_name(part))[:255],
        "content_type": part.content_type[:255],
        "sniffed_type": part.sniffed_type[:255],
        "size": part.size,
        "sha256": part.sha256,
        "content_id": (part.content_id or "")[:255],
        "inline": part.inline,
        "scan_state": state,
        "scan_reason": reason,
        "storage_key": storing.keep(workspace_id=workspace_id, sha256=part.sha256, content=content),
    }


def addresses(addresses: list[Address]) -> list[dict[str, str]]:
    """Addresses as they are stored."""
    return [{"name": a.name, "address": a.address[:320]} for a in addresses[:_MAX_ADDRESSES]]


def _hops(mail: ParsedMail) -> int:
    """Our own hop counter; anything that is not a small number counts as the highest."""
    text = (mail.header(HOP_HEADER) or "").strip()
    if not text:
        return 0
    return int(text) if text.isascii() and text.isdigit() and len(text) < 3 else 99
