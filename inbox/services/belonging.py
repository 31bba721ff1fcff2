"""Where a mail goes: what filing asks before it writes. The rules themselves are in queries/threading.py.

Beside citations there are: delivery reports, which belong to the message that they tell of; forwards by staff, which begin
a conversation and suggest its customer (ZM-5, FS-5); answers given outside, where the inbox keeps a journal; and sender and
subject, where the inbox groups by them (CW-3).
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from inbox import tokens
from inbox.mime import forwards, verdicts
from inbox.mime.classify import Classification
from inbox.mime.types import ParsedMail
from inbox.models import InboxAddress
from inbox.normalise import lenient, without_tag
from inbox.queries import grouping, threading
from inbox.queries.preparing import Target
from inbox.queries.threading import Decision
from inbox.services import reports
from inbox.types import Confidence, ReferenceKind, Rule
from kernel.transactions import in_workspace
from tenancy.queries import members

_MAX_TAGGED = 50


@dataclass(frozen=True)
class Delivery:
    """What is to be placed: a claimed message of a workspace, for one of its inboxes."""

    workspace_id: UUID
    message_id: UUID
    verdicts: dict[str, Any]
    target: Target
    mail: ParsedMail
    judged: Classification
    sender: str
    is_impostor: bool


@dataclass(frozen=True)
class Placement:
    """The decision, and what filing must note and look at once more under its locks."""

    decision: Decision
    references: list[dict[str, str]] = field(default_factory=list)
    wanted: list[bytes] = field(default_factory=list)
    seen: int = 0


def decide(delivery: Delivery) -> Placement:
    """Decide. Most mail is decided from what was looked up with it; only what is special asks the database again."""
    mail, policy = delivery.mail, delivery.target.policy
    report = _report(delivery)
    if report is not None:
        return Placement(report)
    suggestion = _suggestion(delivery) if mail.is_forward and delivery.judged.kind == "human" else {}
    if suggestion.get("by_staff"):
        # It cites the original, which is not the conversation of whoever passes it on.
        return Placement(Decision(None, evidence={"why": "a colleague has forwarded it", "suggestion": suggestion}))
    decision = _by_citation(delivery)
    placed = Placement(decision)
    if policy.group_by_subject is not None and delivery.judged.kind == "human" and not delivery.is_impostor:
        placed = _by_subject(delivery, decision, timedelta(hours=policy.group_by_subject.within_hours))
    if suggestion:
        evidence = placed.decision.evidence | {"suggestion": suggestion}
        placed = replace(placed, decision=replace(placed.decision, evidence=evidence))
    return placed


def _report(delivery: Delivery) -> Decision | None:
    """Of what a delivery report tells; none that is not whose it says."""
    if delivery.judged.kind != "bounce" or delivery.is_impostor:
        return None
    return reports.take(
        workspace_id=delivery.workspace_id,
        inbox_id=delivery.target.inbox_id,
        message_id=delivery.message_id,
        mail=delivery.mail,
    )


def _by_citation(delivery: Delivery) -> Decision:
    candidates, mail = delivery.target.candidates, delivery.mail
    is_journal, by_address = _is_journal(delivery), cited_by_address(mail)
    if delivery.is_impostor:
        candidates = threading.as_stranger(candidates)
    elif is_journal:
        candidates = threading.as_insider(candidates)
    decision = threading.decide(
        candidates=candidates,
        sender=delivery.sender,
        message_id=mail.message_id or "",
        in_reply_to=[*by_address, *mail.in_reply_to],
        references=mail.references,
    )
    if decision.rule == Rule.SIGNED_REPLY and decision.evidence["cited"] in by_address:
        return replace(decision, rule=Rule.REPLY_ADDRESS)
    if is_journal and decision.thread_id is not None:
        evidence = decision.evidence | {"found_by": decision.rule.value}
        return replace(decision, rule=Rule.JOURNAL, confidence=Confidence.HIGH, evidence=evidence)
    return decision


def cited_by_address(mail: ParsedMail) -> list[str]:
    """The Message-IDs of the entries that the tags of our own reply addresses name (FS-2)."""
    addresses = [lenient(item.address) for item in [*mail.to, *mail.cc][:_MAX_TAGGED]]
    found = [(tokens.answered_by_address(address), address) for address in addresses if "+" in address]
    return [
        tokens.message_id(entry_id, domain=address.rpartition("@")[2]).strip("<>")
        for entry_id, address in found
        if entry_id
    ]


def _is_journal(delivery: Delivery) -> bool:
    """An answer that a colleague gave outside, in the inbox's own name: only when that name is proven (IS-3, C3)."""
    target = delivery.target
    return (
        target.policy.journal
        and delivery.judged.kind == "self"
        and without_tag(delivery.sender) == lenient(target.address)
        and verdicts.is_proven(delivery.verdicts, sender=delivery.sender)
    )


def _by_subject(delivery: Delivery, decision: Decision, within: timedelta) -> Placement:
    name = grouping.key(sender=delivery.sender, subject=delivery.mail.subject)
    if not name:
        return Placement(decision)
    with in_workspace(delivery.workspace_id):
        found, seen = grouping.find(inbox_id=delivery.target.inbox_id, name=name, sender=delivery.sender, within=within)
    if decision.thread_id is None and found is not None:
        decision = replace(found, twins=decision.twins)
    references = [{"id": name, "kind": ReferenceKind.SUBJECT.value}]
    return Placement(decision, references, [threading.reference_hash(name)], seen)


def _suggestion(delivery: Delivery) -> dict[str, Any]:
    """Who seems to have written what was forwarded; a person says whether that is the customer."""
    author = forwards.original_sender(delivery.mail)
    if author is None or lenient(author.address) == delivery.sender:
        return {}
    with in_workspace(delivery.workspace_id):
        by_staff = not delivery.is_impostor and members.is_member(email=delivery.sender)
    return {
        "kind": "original_sender",
        "name": author.name[:200],
        "address": lenient(author.address),
        "by_staff": by_staff,
    }


def is_named(workspace_id: UUID, target: Target, mail: ParsedMail, own: Collection[str]) -> bool:
    """Whether To or Cc name the inbox, by whichever of its addresses; else it got a blind copy.

    `own` are the inboxes among the mail's addresses.
    """
    named = [lenient(item.address) for item in (*mail.to, *mail.cc)]
    untagged = [without_tag(address) for address in named]
    if lenient(target.address) in (*named, *untagged):
        return True
    with in_workspace(workspace_id):
        rows = InboxAddress.objects.filter(inbox_id=target.inbox_id)
        further = set(rows.values_list("address_normalized", flat=True))
    if not further.isdisjoint((*named, *untagged)):
        return True
    # What a catch-all takes is what nobody has.
    nobodys = {address for address in named if address not in own and without_tag(address) not in own}
    return any(f"*@{address.rpartition('@')[2]}" in further for address in nobodys)
