"""Home: what needs a person now, then how it goes, then what happened."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from agents.models import ApprovalRequest
from agents.types import ApprovalState
from audit.models import AuditEvent
from config.console import counts, trends
from config.console.pages import needs, page
from config.console.runs import asked_of
from inbox.models import Thread
from kernel import clock
from kernel.admin.place import Place, place_of

# What waits, where it is looked at, who may, and what it means.
_TILES = (
    ("approvals", "fact_check", "Approvals", "approvals", "", "approval.read", "Agents ask first."),
    ("unanswered", "forum", "Unanswered", "inbox_thread_changelist", "?view=unanswered", "thread.read",
     "Customers who wait."),
    ("unsent", "outgoing_mail", "Outgoing", "inbox_outboundmessage_changelist", "?view=attention", "email.read",
     "Failed or uncertain."),
    ("failed", "error", "Failed mail", "inbox_email_changelist", "?view=failed", "email.read", "Nobody finished it."),
    ("quarantined", "shield", "Quarantine", "inbox_inboundmessage_changelist", "", "quarantine.manage",
     "Put aside with its bytes."),
    ("webhooks", "webhook", "Webhooks", "webhooks_webhook_changelist", "?view=failing", "webhook.read",
     "Endpoints that fail."),
    ("connections", "cable", "Connections", "inbox_connection_changelist", "", "connection.read",
     "Accounts that do not let us in."),
    ("parked", "outbox", "Outbox", "kernel_outboxevent_changelist", "?standing=parked", "workspace.manage",
     "Given up after retries."),
)  # fmt: skip


@needs("workspace.read")
def home(request: HttpRequest) -> HttpResponse:
    """The first page of the day."""
    place, now = place_of(request), clock.now()
    tiles = _tiles(request, place)
    return page(
        request,
        "home",
        "Home",
        tiles=tiles,
        calm=not any(tile["count"] for tile in tiles),
        questions=_questions(place),
        trend=trends.volume(now, workspace_id=place.workspace_id),
        threads=_threads(place),
        activity=_activity(place),
        pulse=counts.pulse(),
        person=request.user,
    )


def _tiles(request: HttpRequest, place: Place) -> list[dict[str, Any]]:
    waiting = counts.waiting(request)
    return [
        {
            "key": key,
            "icon": icon,
            "title": title,
            "link": reverse(f"admin:{name}") + query,
            "count": waiting[key],
            "shown": counts.shown(waiting[key]),
            "hint": hint,
        }
        for key, icon, title, name, query, permission, hint in _TILES
        if place.allows(permission)
    ]


def _questions(place: Place) -> list[Any]:
    if not place.allows("approval.read"):
        return []
    now = clock.now()
    rows = ApprovalRequest.objects.filter(state=ApprovalState.PENDING, expires_at__gt=now).order_by("expires_at", "id")
    return [asked_of(row, now) for row in rows[:3]]


def _threads(place: Place) -> list[Thread]:
    if not place.allows("thread.read"):
        return []
    rows = Thread.objects.filter(merged_into=None).select_related("inbox").prefetch_related("contact__profiles")
    return list(rows.order_by("-last_entry_seq")[:7])


def _activity(place: Place) -> list[AuditEvent]:
    """The newest links of the workspace's chain; there is no common order of several chains."""
    if not place.allows("audit.read") or place.workspace_id is None:
        return []
    return list(AuditEvent.objects.filter(workspace_id=place.workspace_id).order_by("-sequence")[:9])
