"""Whether a mail answers one, passes one on or begins: it decides what in it is somebody else's."""

from __future__ import annotations

import re
from typing import Literal

Role = Literal["reply", "forward", "first"]

# Of `Re: Fwd: x` the outermost counts: somebody answers what was once passed on.
_FORWARD = re.compile(
    r"\s*(?:fwd?|wg|tr|rv|enc|i|doorst|vs|vb|pd|vl|továbbítás|yml|fs|转发|轉寄|転送)\s*(?:\[\d+\])?\s*[:：]|\s*\[fwd?:",
    re.IGNORECASE,
)
_REPLY = re.compile(
    r"\s*(?:re|aw|antw?|sv|vs|r|ref|rif|res|odp|ynt|ang|bls|atb|vá|απ|σχετ|отв|ответ|на|回复|回覆|答复|答覆|返信)\s*(?:\[\d+\])?\s*[:：]",
    re.IGNORECASE,
)


def is_forward_subject(subject: str) -> bool:
    return _FORWARD.match(subject) is not None


def is_reply_subject(subject: str) -> bool:
    return _REPLY.match(subject) is not None and not is_forward_subject(subject)


def role_of(subject: str, answered: bool, referred: bool) -> Role:
    """`answered` for In-Reply-To, `referred` for References."""
    if is_forward_subject(subject):
        return "forward"
    return "reply" if answered or referred or is_reply_subject(subject) else "first"
