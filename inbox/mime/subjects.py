"""What mail programs and gateways put in front of a subject, in many languages: one list for all that look behind it."""

from __future__ import annotations

import re

_ANSWERS = "re|aw|sv|vs|antw|odp|rv|ref|res|r|rif|ynt|yan|vá|απ|σχετ|ha|на|отв|відп|atb|ats|bls|bal|vast|răsp|回复|回覆|答复|答覆|返信|답장|회신|תגובה|رد"
_FORWARDS = "fwd?|wg|tr|enc|vb|vl|pd|doorst|i|ilt|továbbítás|πρθ|пересл|转发|轉寄|전달"
_GATEWAYS = r"\[\s*(?:ext|extern|external|externe|spam\??)\s*\]"
_ANSWER = re.compile(rf"\s*(?:(?:{_ANSWERS})\.?\s*(?:\[\d+\]|\(\d+\))?\s*[:：]|{_GATEWAYS})\s*", re.IGNORECASE)
_FORWARD = re.compile(rf"\s*(?:{_FORWARDS})\.?\s*(?:\[\d+\]|\(\d+\))?\s*[:：]\s*", re.IGNORECASE)


def unanswered(subject: str) -> str:
    """Without the marks of an answer. Those of a forward stay: they say what the mail is."""
    return _without(subject, _ANSWER)


def bare(subject: str) -> str:
    """Without all of them."""
    return _without(subject, _ANSWER, _FORWARD)


def _without(subject: str, *patterns: re.Pattern[str]) -> str:
    position, found = 0, True
    while found:
        matches = [match for pattern in patterns if (match := pattern.match(subject, position)) is not None]
        found = bool(matches)
        position = matches[0].end() if matches else position
    return subject[position:]
