"""What the receiving service found out about a mail, and what an inbox's policy makes of it (A9). Pure.

Only what the service itself says counts, never a header inside the message. A state that is missing, or that nobody
knows, is not PASS. Proof of the sender is DMARC's PASS; or SPF's, for an envelope sender in the domain of From: an SPF
PASS for another domain proves only that somebody sent the mail from a server of their own.
"""

from collections.abc import Mapping
from typing import Any, Final

from inbox.normalise import lenient
from inbox.policy import InboxPolicy

CHECKS: Final = ("spam", "virus", "spf", "dkim", "dmarc")
_KNOWN = frozenset({"PASS", "FAIL", "GRAY", "PROCESSING_FAILED", "DISABLED"})
_POLICIES = frozenset({"none", "quarantine", "reject"})
_STRICT = frozenset({"quarantine", "reject"})
MAIL_FROM: Final = "mail_from"
_POLICY: Final = "dmarc_policy"


def of_receipt(receipt: Mapping[str, Any], *, envelope_from: str) -> dict[str, str]:
    """The verdicts of an SES receipt, in upper case by short name, with the domain that SPF is about."""
    found = {}
    for name in CHECKS:
        verdict = receipt.get(f"{name}Verdict")
        status = str(verdict.get("status") or "").upper() if isinstance(verdict, Mapping) else ""
        found[name] = status if status in _KNOWN else "UNKNOWN"
    policy = str(receipt.get("dmarcPolicy") or "").lower()
    if policy in _POLICIES:
        found[_POLICY] = policy
    domain = _domain(envelope_from)
    if domain:
        found[MAIL_FROM] = domain[:253]
    return found


def put_aside(verdicts: Mapping[str, Any], policy: InboxPolicy) -> str:
    """Why a mail is quarantined before anybody acts on it; empty when it is not.

    A virus or spam that the service is sure of is a class of mail and is judged with the others (mime/classify.py).
    """
    if policy.quarantine_unscanned and _is_unscanned(verdicts):
        return "not_scanned_for_viruses"
    if failed(verdicts) and policy.honour_dmarc_policy and str(verdicts.get(_POLICY, "")) in _STRICT:
        return f"dmarc_{verdicts[_POLICY]}"
    return ""


def _is_unscanned(verdicts: Mapping[str, Any]) -> bool:
    """Only where a service scans at all: SMTP and the API bring no verdicts."""
    return "virus" in verdicts and _state(verdicts, "virus") not in ("PASS", "FAIL")


def failed(verdicts: Mapping[str, Any]) -> bool:
    """The domain in From says that the mail is not its own."""
    return _state(verdicts, "dmarc") == "FAIL"


def is_proven(verdicts: Mapping[str, Any], *, sender: str) -> bool:
    """Whether somebody vouches for the address in From."""
    dmarc = _state(verdicts, "dmarc")
    if dmarc in ("PASS", "FAIL"):
        return dmarc == "PASS"
    return _state(verdicts, "spf") == "PASS" and _is_aligned(str(verdicts.get(MAIL_FROM, "")), _domain(sender))


def is_impostor(verdicts: Mapping[str, Any], policy: InboxPolicy) -> bool:
    """The mail must not pass for its sender: not their contact, not their conversation."""
    return failed(verdicts) and not policy.answer_dmarc_fail


def must_ask(verdicts: Mapping[str, Any], policy: InboxPolicy, *, sender: str) -> bool:
    """Whether an agent needs a person before anything that is seen outside."""
    if is_impostor(verdicts, policy):
        return True
    return not policy.answer_unproven and not failed(verdicts) and not is_proven(verdicts, sender=sender)


def _state(verdicts: Mapping[str, Any], name: str) -> str:
    return str(verdicts.get(name) or "").upper()


def _is_aligned(envelope: str, author: str) -> bool:
    """The same domain, or a subdomain of the author's (RFC 7489 §3.1.2, without its list of public suffixes)."""
    return bool(author) and "." in author and (envelope == author or envelope.endswith("." + author))


def _domain(address: str) -> str:
    return lenient(address.strip().strip("<>")).rpartition("@")[2] if "@" in address else ""
