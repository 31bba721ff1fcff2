"""Delivery reports that came as mail (RFC 3464 and what was before it), as news of what was sent.

A report proves little: anybody can write one. It counts only for a message of ours that it names by an id which nobody but
its recipients can know, and only for whom that message went to; that is checked by who takes it (services/reports.py).
"""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from inbox.channels.ses_events import News, RecipientNews
from inbox.mime.types import FailedRecipient

PROVIDER: Final = "dsn"
_KINDS: Final = {"failed": "bounced", "delayed": "delayed", "delivered": "delivered", "complaint": "complained"}
# RFC 3463: what is refused for its size, its content or a policy, and a full mailbox, says nothing against the address.
_OF_THE_MESSAGE = re.compile(r"5\.(?:2\.[23]|3\.4|[67]\.\d+)")
_MAX_RECIPIENTS = 200


def groups(recipients: Iterable[FailedRecipient]) -> dict[tuple[str, bool], list[FailedRecipient]]:
    """Recipients of whom the same is told, by kind of news and whether it is for good. Relays are no news."""
    found: dict[tuple[str, bool], list[FailedRecipient]] = {}
    for item in recipients:
        kind = _KINDS.get(item.action)
        if kind is not None:
            found.setdefault((kind, kind != "bounced" or _is_for_good(item)), []).append(item)
    return found


def _is_for_good(item: FailedRecipient) -> bool:
    """The address takes no mail; without a status the word `failed` is all there is."""
    status = item.status or ""
    return not status.startswith("4") and _OF_THE_MESSAGE.fullmatch(status) is None


def payload(
    *, kind: str, is_final: bool, entry_id: UUID, report_id: UUID, at: datetime, mta: str, told: list[FailedRecipient]
) -> dict[str, Any]:
    """The news as it is kept, in a form that `read` takes back."""
    return {
        "kind": kind,
        "is_final": is_final,
        "entry_id": str(entry_id),
        "report_id": str(report_id),
        "at": at.isoformat(),
        "reporting_mta": mta[:200],
        "recipients": [
            {"address": one.address, "status": (one.status or "")[:20], "diagnostic": (one.diagnostic or "")[:500]}
            for one in told[:_MAX_RECIPIENTS]
        ],
    }


def read(content: dict[str, Any]) -> News | None:
    """The news in a kept report."""
    recipients = [RecipientNews(one["address"], one["status"], one["diagnostic"]) for one in content["recipients"]]
    return News(
        content["kind"],
        message_id="",
        at=datetime.fromisoformat(content["at"]),
        recipients=recipients,
        entry_id=UUID(content["entry_id"]),
        is_final=content["is_final"],
        fact_id=content["report_id"],
        detail={"reportingMTA": content["reporting_mta"]} if content["reporting_mta"] else {},
    )
