"""A refused credential leaves its reason in the log and in the audit trail; a flood of them fills neither chain nor disk.

The caller gets one answer whatever was wrong. The trail gets, in each window and process, one entry of each workspace
and reason, with how many like it were not recorded before, and REFUSAL_AUDIT_MOST in all.
"""

import logging
import threading
import time
from collections import Counter
from uuid import UUID

from django.conf import settings

from audit.services import record
from audit.types import Outcome
from kernel.context import ESTATE, Actor, acting_as
from kernel.transactions import in_workspace
from tenancy.types import Reason, Refused

logger = logging.getLogger(__name__)

Group = tuple[UUID, str, Reason]
_MOST_GROUPS = 1000


class _Limits:
    """What this window has recorded, and what it has left out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun = -float("inf")
        self._recorded: set[Group] = set()
        self._left_out: Counter[Group] = Counter()

    def admit(self, group: Group) -> int | None:
        """How many of the group were left out so far, when this one is to be recorded; None when it is not."""
        with self._lock:
            if time.monotonic() - self._begun >= settings.REFUSAL_AUDIT_SECONDS:
                self._begun, self._recorded = time.monotonic(), set()
            if group in self._recorded or len(self._recorded) >= settings.REFUSAL_AUDIT_MOST:
                if group in self._left_out or len(self._left_out) < _MOST_GROUPS:
                    self._left_out[group] += 1
                return None
            self._recorded.add(group)
            return self._left_out.pop(group, 0)

    def forget(self) -> None:
        """Begin anew, as a new process does."""
        with self._lock:
            self._begun, self._recorded, self._left_out = -float("inf"), set(), Counter()


limits = _Limits()


def note(refused: Refused, *, address: str) -> None:
    """Say why, where those who run things look: in the trail of the workspace, or of the estate when it is nobody's."""
    workspace_id = refused.workspace_id or ESTATE
    # What a stranger wrote: neither the log nor a column takes every character that JSON can spell.
    named = ascii(refused.named)[1:-1][:80]
    left_out = limits.admit((workspace_id, refused.kind, refused.reason))
    level = logging.INFO if left_out is None else logging.WARNING
    logger.log(
        level,
        "a credential was refused",
        extra={
            "reason": str(refused.reason),
            "credential": refused.kind,
            "named": named,
            "address": address,
            "of_workspace": str(workspace_id),
        },
    )
    if left_out is None:
        return
    with acting_as(Actor(kind="anonymous", id=address)), in_workspace(workspace_id):
        record(
            workspace_id=workspace_id,
            action="credential.refuse",
            resource_kind=refused.kind,
            resource_id=named,
            outcome=Outcome.DENIED,
            payload={"reason": str(refused.reason), "address": address, "not_recorded_before": left_out},
        )
