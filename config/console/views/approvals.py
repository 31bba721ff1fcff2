"""The queue of questions to a person, and their answers."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from agents.models import AgentRun, ApprovalRequest
from agents.services import approving
from agents.types import ApprovalState
from config.console.pages import action, needs, page
from config.console.runs import asked_of
from inbox.models import Entry
from kernel import clock
from kernel.admin.paging import InfinitePaginator
from kernel.admin.place import place_of
from kernel.errors import NotFound

VIEWS = {"waiting": "Waiting", "decided": "Decided", "expired": "Expired"}


@needs("approval.read")
def queue(request: HttpRequest) -> HttpResponse:
    """What agents want to do and may not do alone, the soonest to expire first, with the customer's words beside it."""
    now = clock.now()
    view = request.GET.get("view", "waiting")
    view = view if view in VIEWS else "waiting"
    rows = ApprovalRequest.objects.select_related("intent__execution__agent", "workspace")
    if view == "waiting":
        rows = rows.filter(state=ApprovalState.PENDING, expires_at__gt=now).order_by("expires_at", "id")
    elif view == "decided":
        rows = rows.filter(decided_at__isnull=False).order_by("-decided_at", "id")
    else:
        rows = rows.exclude(decided_at__isnull=False).filter(expires_at__lte=now).order_by("-expires_at", "id")
    paginator = InfinitePaginator(rows, 20)
    shown = paginator.get_page(request.GET.get("p", 1))
    questions = [asked_of(row, now) for row in shown.object_list]
    return page(
        request,
        "approvals",
        "Approvals",
        cards=list(zip(questions, _asked_about(shown.object_list), strict=True)),
        view=view,
        views=VIEWS,
        shown=shown,
        more=paginator.more,
        may_decide=place_of(request).allows("approval.decide"),
    )


def _asked_about(rows: list[ApprovalRequest]) -> list[dict[str, AgentRun | Entry | None]]:
    """For each question the run it belongs to, and the message that it would answer; two queries."""
    execution_ids = [row.intent.execution_id for row in rows]
    runs = {run.execution_id: run for run in AgentRun.objects.filter(execution_id__in=execution_ids)}
    mails = [run.email_id for run in runs.values()]
    entries = Entry.objects.filter(email_id__in=mails).select_related("thread", "email").defer("body_html")
    by_email = {entry.email_id: entry for entry in entries}
    found = []
    for execution_id in execution_ids:
        run = runs.get(execution_id)
        found.append({"run": run, "entry": by_email.get(run.email_id) if run else None})
    return found


def _question(approval_id: UUID) -> ApprovalRequest:
    row = ApprovalRequest.objects.only("id", "workspace_id").filter(id=approval_id).first()
    if row is None:
        raise NotFound
    return row


def _typed(request: HttpRequest, name: str) -> str | None:
    """What a box of the form holds, as browsers do not send it: with plain line ends. None where there is no such box."""
    text = request.POST.get(name)
    return None if text is None else text.replace("\r\n", "\n").strip()


@action("approval.decide")
def approve(request: HttpRequest, approval_id: UUID) -> str:
    """Yes, to exactly this content or to the edited one."""
    row = _question(approval_id)
    edited, original = _typed(request, "edited_text"), _typed(request, "original_text")
    # A box that was emptied is an edit, too, and the service refuses it: nobody who deletes words means to send them.
    changed = None if edited and edited == original else edited
    approving.approve(
        workspace_id=row.workspace_id,
        approval_id=row.id,
        actor=place_of(request).actor,
        comment=request.POST.get("comment", "").strip(),
        edited_text=changed,
    )
    return "Approved with your changes; the agent sends it now." if changed else "Approved; the agent sends it now."


@action("approval.decide")
def reject(request: HttpRequest, approval_id: UUID) -> str:
    """No."""
    row = _question(approval_id)
    approving.reject(
        workspace_id=row.workspace_id,
        approval_id=row.id,
        actor=place_of(request).actor,
        comment=request.POST.get("comment", "").strip(),
    )
    return "Rejected; nothing is sent. The conversation is yours."
