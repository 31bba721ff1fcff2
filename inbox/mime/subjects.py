"""What mail programs and gateways put in front of a subject, in many languages: one list for all that look behind it."""

from __future__ import annotations

import re

_ANSWERS = "re|aw|sv|antw?|odp|ang|ref|res|r|rif|ynt|yan|vá|απ|σχετ|ha|на|отв|ответ|відп|atb|ats|bls|bal|vast|răsp|回复|回覆|答复|答覆|返信|답장|회신|תגובה|رد"
_FORWARDS = "fwd?|wg|tr|enc|vb|vl|pd|doorst|i|ilt|yml|fs|továbbítás|πρθ|пересл|转发|轉寄|転送|전달"
# An answer in one language and a forward in another (Finnish and Norwegian, Portuguese and Spanish).
_EITHER = "vs|rv"
_GATEWAYS = r"\[\s*(?:ext(?:ern(?:al|e)?)?(?:[ -](?:e?-?mail|sender|message))?|spam\??)\s*\]"
_COUNT = r"\.?\s*(?:\[\d+\]|\(\d+\))?\s*[:：]"
_ANSWER = re.compile(rf"\s*(?:(?:{_ANSWERS}|{_EITHER}){_COUNT}|{_GATEWAYS})\s*", re.IGNORECASE)
_FORWARD = re.compile(rf"\s*(?:{_FORWARDS}|{_EITHER}){_COUNT}\s*", re.IGNORECASE)
_FORWARD_IN_BRACKETS = re.compile(r"\s*\[fwd?:", re.IGNORECASE)
_GATEWAY = re.compile(rf"(?:\s*{_GATEWAYS})+", re.IGNORECASE)


def is_forward(subject: str) -> bool:
    """Of `Re: Fwd: x` the outermost counts: somebody answers what was once passed on."""
    begins = ungated(subject)
    return _FORWARD.match(begins) is not None or _FORWARD_IN_BRACKETS.match(begins) is not None


def is_answer(subject: str) -> bool:
    """What may be either is taken for a forward: nothing of it is folded then."""
    return _ANSWER.match(ungated(subject)) is not None and not is_forward(subject)


def unanswered(subject: str) -> str:
    """Without the marks of an answer. Those of a forward stay: they say what the mail is."""
    return _without(subject, _ANSWER)


def bare(subject: str) -> str:
    """Without all of them."""
    return _without(subject, _ANSWER, _FORWARD)


def ungated(subject: str) -> str:
    """Without what a gateway has put in front of it."""
    found = _GATEWAY.match(subject)
    return subject[found.end() :] if found else subject


def _without(subject: str, *patterns: re.Pattern[str]) -> str:
    position, found = 0, True
    while found:
        matches = [match for pattern in patterns if (match := pattern.match(subject, position)) is not None]
        found = bool(matches)
        position = matches[0].end() if matches else position
    return subject[position:]
