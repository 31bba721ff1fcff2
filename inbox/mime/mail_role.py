"""Whether a mail answers one, passes one on or begins: it decides what in it is somebody else's."""

from __future__ import annotations

from typing import Literal

from inbox.mime import subjects

Role = Literal["reply", "forward", "first"]


def role_of(subject: str, answered: bool, referred: bool) -> Role:
    """`answered` for In-Reply-To, `referred` for References."""
    if subjects.is_forward(subject):
        return "forward"
    return "reply" if answered or referred or subjects.is_answer(subject) else "first"
