"""What a person must know before believing a mail, in sentences that say why it matters."""

from dataclasses import dataclass
from typing import Any

from inbox.models import Email
from inbox.services import replying


@dataclass(frozen=True)
class Notice:
    """`bad` may deceive; `warn` is odd; `mute` is technical."""

    tone: str
    title: str
    detail: str


_BAD = ("from: ambiguous", "from_ambiguous")
_RULES = {
    "new": "It starts a conversation of its own.",
    "signed_reply": "It answers a message of ours, proven by the signed token in that message's id.",
    "reply_address": "It answers a message of ours, proven by the signed token in the address that it was sent to.",
    "in_reply_to": "It says that it answers a message of this conversation (In-Reply-To), and its sender took part.",
    "references": "It cites a message of this conversation (References), and its sender took part.",
    "cited_by_later": "A message of this conversation already cites it: it arrived late.",
    "subject": "The same sender had an open conversation with the same subject, and this inbox groups by it.",
    "journal": "It was written outside in the inbox's own name, which is proven, and answers this conversation.",
    "delivery_report": "It reports what became of a message of this conversation.",
    "merge": "Its conversation was merged into this one.",
    "split": "It was split off from another conversation.",
    "move": "It was moved here from another conversation.",
}


_SHORT = {
    "new": "Starts the conversation",
    "signed_reply": "Answers our message, by its signed id",
    "in_reply_to": "Answers a message here",
    "references": "Cites a message here",
    "cited_by_later": "Was cited here before it came",
}


def vouched(email: Email) -> Notice | None:
    """Who vouches for the sender, in a few words; None where the receiver said nothing."""
    name = domain(email.from_address) or "nobody"
    said = {key: str(email.verdicts.get(key, "")).lower() for key in ("dmarc", "dkim", "spf")}
    if not any(said.values()):
        return None
    checks = ", ".join(f"{key.upper()} {value}" for key, value in said.items() if value)
    if said["dmarc"] == "pass":
        return Notice("ok", f"{name} vouches for it", checks)
    if said["dmarc"].startswith("fail"):
        return Notice("bad", f"{name} does not vouch for it", checks)
    return Notice("mute", "Nobody vouches for the sender", checks)


def domain(address: str) -> str:
    return address.rpartition("@")[2].lower()


def of(email: Email) -> list[Notice]:
    """The warnings of one mail, the worst first."""
    found = [*_authentication(email), *_reply_to(email)]
    ambiguous = False
    for warning in dict.fromkeys(str(item) for item in email.warnings):
        if warning.startswith(_BAD):
            if not ambiguous:
                found.append(Notice("bad", "The sender is ambiguous", "The mail names more than one author."))
            ambiguous = True
        else:
            found.append(Notice("mute", "Read with care", warning))
    return found


def _authentication(email: Email) -> list[Notice]:
    verdict = str(email.verdicts.get("dmarc", "")).lower()
    if verdict not in ("fail", "failed", "reject", "quarantine"):
        return []
    text = f"The mail says it is from {domain(email.from_address) or 'nobody'}, and that domain does not vouch for it."
    return [Notice("bad", "Failed DMARC", text + " It is never answered by itself.")]


def _reply_to(email: Email) -> list[Notice]:
    """Where a reply goes is asked of the service that sends it, so that the page cannot say otherwise."""
    offered = [address for address in addresses(email.reply_to) if address.casefold() != email.from_address.casefold()]
    if not offered:
        return []
    _, address = replying.named_by(email)
    if address.casefold() != email.from_address.casefold():
        return [Notice("mute", "Reply-To", f"Answers go to {address}, as the sender asks.")]
    text = f"The sender asks for answers to {', '.join(offered[:3])}. That is another domain, so they go to {address}."
    return [Notice("warn", "Reply-To is at another domain", text)]


def addresses(rows: Any) -> list[str]:
    """Plain addresses of a stored address list."""
    found = [row.get("address", "") if isinstance(row, dict) else str(row) for row in rows or []]
    return [address for address in found if address]


def threading(decision: Any) -> dict[str, Any]:
    """Why a message is in its conversation, in words."""
    if not isinstance(decision, dict) or not decision:
        return {}
    rule = str(decision.get("rule", ""))
    evidence = decision.get("evidence", {})
    return {
        "rule": rule,
        "sentence": _RULES.get(rule, f"Decided by the rule {rule.replace('_', ' ')}."),
        "short": _SHORT.get(rule, rule.replace("_", " ")),
        "confidence": decision.get("confidence", ""),
        "evidence": {key: value for key, value in evidence.items() if key != "suggestion"},
        "suggestion": evidence.get("suggestion", {}),
    }
