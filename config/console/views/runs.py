"""One agent run, step by step."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from config.console.pages import needs, page
from config.console.runs import gather
from inbox.models import Entry
from kernel import clock
from kernel.admin.place import place_of
from kernel.errors import NotFound


@needs("agent.read")
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """What it was asked, what it did, what it wanted, who allowed it, and what it cost."""
    found = gather(run_id=run_id, now=clock.now())
    if not found:
        raise NotFound
    entry = Entry.objects.filter(email_id=found[0].row.email_id).select_related("thread", "email").first()
    return page(
        request,
        "run",
        "Agent run",
        run=found[0],
        entry=entry,
        may_decide=place_of(request).allows("approval.decide"),
    )
