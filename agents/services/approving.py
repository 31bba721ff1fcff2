"""Questions to people: ask, approve (as asked, or edited first), reject, let expire. One decision each, used once.

Locks are taken in one order everywhere (execution, intent, approval), so that a decision, an expiry and a worker can
meet on the same rows and none waits for another in a circle.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings

from agents import tools
from agents.events import ApprovalDecided, ApprovalExpired, ApprovalRequested
from agents.models import ActionIntent, AgentRun, ApprovalRequest, Execution, ExecutionStep
from agents.normalise import visible
from agents.services import closing
from agents.services.planning import PROPOSED_BY
from agents.types import ApprovalState, ExecutionStatus, IntentStatus, Outcome
from audit.services import record
from inbox.services import progress
from inbox.types import EmailState
from kernel import clock, context, nudge, outbox
from kernel.context import Actor
from kernel.errors import Conflict, Forbidden, Invalid, NotFound
from kernel.transactions import after_commit, current_unit, in_all_workspaces, in_workspace
from tenancy.queries import standing

WORKER = "agents.tasks.run_executions"
# What a decider needs, when they decide and when their decision is used.
DECIDE = "approval.decide"


class AlreadyDecided(Conflict):
    code = "approval_already_decided"


class Expired(Conflict):
    code = "approval_expired"


@dataclass(frozen=True)
class _Case:
    """Everything that a decision touches, locked."""

    execution: Execution
    intent: ActionIntent
    approval: ApprovalRequest
    run: AgentRun


def request(*, execution: Execution, intent: ActionIntent, reason: str, requester: str) -> ApprovalRequest:
    """Ask a person, in the unit of work that wrote the intent; the run waits."""
    current_unit()
    run = AgentRun.objects.get(execution_id=execution.id)
    approval = ApprovalRequest.objects.create(
        workspace_id=intent.workspace_id,
        intent=intent,
        action=intent.action,
        risk=intent.risk,
        reason=reason[:300],
        snapshot={"action": intent.action} | intent.arguments,
        content_hash=intent.content_hash,
        requested_by=requester[:200],
        expires_at=clock.now() + timedelta(hours=settings.APPROVAL_HOURS),
    )
    execution.status = ExecutionStatus.WAITING_APPROVAL
    execution.save(update_fields=["status"])
    progress.move(email_id=run.email_id, to=EmailState.WAITING_APPROVAL, reason=reason)
    outbox.emit(
        ApprovalRequested(
            workspace_id=intent.workspace_id,
            approval_id=approval.id,
            agent_run_id=run.id,
            email_id=run.email_id,
            action=approval.action,
            risk=str(approval.risk),
            reason=approval.reason,
            expires_at=approval.expires_at.isoformat(),
        )
    )
    _record(approval, "approval.request", {"risk": str(approval.risk)})
    return approval


def approve(
    *, workspace_id: UUID, approval_id: UUID, actor: Actor, comment: str = "", edited_text: str | None = None
) -> ApprovalRequest:
    """Say yes to exactly this content, or to `edited_text` in its place. The run goes on; AlreadyDecided, Expired."""
    with in_workspace(workspace_id):
        case = _open(approval_id, actor)
        if edited_text is not None:
            _edit(case, edited_text)
        _decide(case, ApprovalState.APPROVED, actor, comment)
        case.intent.status = IntentStatus.APPROVED
        case.intent.save(update_fields=["status", "arguments", "content_hash"])
        case.execution.status, case.execution.due_at, case.execution.attempts = ExecutionStatus.QUEUED, clock.now(), 0
        case.execution.save(update_fields=["status", "due_at", "attempts"])
        after_commit(lambda: nudge.wake(WORKER))
    return case.approval


def still_holds(approval: ApprovalRequest, *, inbox_id: UUID) -> bool:
    """Whether who approved may still approve. In the unit of work that uses the approval: between the two somebody may
    have shut them out, taken the permission from them, or revoked their key (AG-9)."""
    current_unit()
    if approval.decided_at is None:
        return False
    decider = Actor(approval.decided_by_kind, approval.decided_by_id, approval.decided_by_label)
    return standing.may_still(
        decider, DECIDE, workspace_id=approval.workspace_id, inbox_id=inbox_id, since=approval.decided_at
    )


def reject(*, workspace_id: UUID, approval_id: UUID, actor: Actor, comment: str = "") -> ApprovalRequest:
    """Say no. Nothing is sent; the mail waits for a person."""
    with in_workspace(workspace_id):
        case = _open(approval_id, actor)
        _decide(case, ApprovalState.REJECTED, actor, comment)
        case.intent.status = IntentStatus.REJECTED
        case.intent.save(update_fields=["status"])
        who = actor.label or f"{actor.kind} {actor.id}"
        reason = f"{who} rejected the proposed answer" + (f": {comment}" if comment else "")
        _close(case, Outcome.REJECTED, reason)
    return case.approval


def expire_due() -> int:
    """Let every question end whose time is up; the number of them. Nobody said no: the actor is the system (AG-10)."""
    with in_all_workspaces("the clock serves every workspace"):
        due = list(
            ApprovalRequest.objects.filter(state=ApprovalState.PENDING, expires_at__lte=clock.now())
            .order_by("expires_at")
            .values_list("workspace_id", "id")[:500]
        )
    return sum(expire(workspace_id=workspace_id, approval_id=approval_id) for workspace_id, approval_id in due)


def expire(*, workspace_id: UUID, approval_id: UUID) -> bool:
    """Let one question end; False when it was decided or is not due."""
    with context.acting_as(context.SYSTEM), in_workspace(workspace_id):
        case = _locked(approval_id)
        approval = case.approval
        if approval.state != ApprovalState.PENDING or approval.expires_at > clock.now():
            return False
        approval.state = ApprovalState.EXPIRED
        approval.save(update_fields=["state"])
        case.intent.status = IntentStatus.EXPIRED
        case.intent.save(update_fields=["status"])
        outbox.emit(
            ApprovalExpired(
                workspace_id=workspace_id,
                approval_id=approval.id,
                agent_run_id=case.run.id,
                email_id=case.run.email_id,
                action=approval.action,
                risk=str(approval.risk),
            )
        )
        _record(approval, "approval.expire", {})
        _close(case, Outcome.EXPIRED, "nobody decided in time")
    return True


def withdraw(*, email_id: UUID) -> int:
    """Take back the open questions about a mail that a person has answered meanwhile; the number of them.

    In the current unit of work and workspace. Nobody said no: the state is its own.
    """
    current_unit()
    open_ids = ApprovalRequest.objects.filter(
        state=ApprovalState.PENDING, intent__execution__run__email_id=email_id
    ).values_list("id", flat=True)
    withdrawn = 0
    for approval_id in open_ids:
        case = _locked(approval_id)
        if case.approval.state != ApprovalState.PENDING:
            continue
        case.approval.state = ApprovalState.WITHDRAWN
        case.approval.save(update_fields=["state"])
        case.intent.status, case.intent.error = IntentStatus.BLOCKED, "a person answered the mail"
        case.intent.save(update_fields=["status", "error"])
        _record(case.approval, "approval.withdraw", {})
        closing.close(
            execution=case.execution,
            status=ExecutionStatus.STOPPED,
            outcome=Outcome.OVERTAKEN,
            reason="a person answered the mail",
        )
        withdrawn += 1
    return withdrawn


def _locked(approval_id: UUID) -> _Case:
    found = ApprovalRequest.objects.filter(id=approval_id).values_list("intent_id", "intent__execution_id").first()
    if found is None:
        raise NotFound
    intent_id, execution_id = found
    return _Case(
        execution=Execution.objects.select_for_update(no_key=True).get(id=execution_id),
        intent=ActionIntent.objects.select_for_update(no_key=True).get(id=intent_id),
        approval=ApprovalRequest.objects.select_for_update(no_key=True).get(id=approval_id),
        run=AgentRun.objects.get(execution_id=execution_id),
    )


def _open(approval_id: UUID, actor: Actor) -> _Case:
    """The locked case of a question that may still be decided, by somebody who may decide it."""
    if actor.kind == "agent":
        raise Forbidden("An agent cannot decide what an agent may do.")
    case = _locked(approval_id)
    if _proposed_by(case, actor):
        raise Forbidden("Who proposed a reply cannot approve or reject it. Somebody else has to look at it.")
    if case.approval.state == ApprovalState.EXPIRED or (
        case.approval.state == ApprovalState.PENDING and case.approval.expires_at <= clock.now()
    ):
        raise Expired("The time to decide is over. Answer the mail yourself.")
    if case.approval.state != ApprovalState.PENDING or case.execution.status != ExecutionStatus.WAITING_APPROVAL:
        raise AlreadyDecided(f"This was decided before: it is {case.approval.state}.", state=case.approval.state)
    return case


def _proposed_by(case: _Case, actor: Actor) -> bool:
    """Whether these are the decider's own words. Tokens are one caller: each is issued anew by the same account system."""
    steps = ExecutionStep.objects.filter(execution_id=case.execution.id, arguments__has_key=PROPOSED_BY)
    proposer = steps.values_list(f"arguments__{PROPOSED_BY}", flat=True).first()
    if not proposer or proposer["kind"] != actor.kind:
        return False
    return actor.kind == "token" or bool(proposer["id"] == actor.id)


def _edit(case: _Case, text: str) -> None:
    """The person's words take the place of the agent's, with a hash of their own; what was asked is kept beside."""
    tool = tools.get(case.intent.action)
    asked = case.intent.arguments
    arguments: dict[str, Any] = asked | {"text": visible(text).strip()}
    if not arguments["text"]:
        raise Invalid("The edited answer is empty. Write one, or reject what was asked.", pointer="/text")
    tools.check(tool, arguments)
    if arguments == asked:
        return
    digest = tools.content_hash(tool, arguments)
    case.intent.arguments, case.intent.content_hash = arguments, digest
    case.approval.snapshot = {"action": tool.name, "asked_text": asked["text"]} | arguments
    case.approval.content_hash, case.approval.edited = digest, True


def _decide(case: _Case, state: ApprovalState, actor: Actor, comment: str) -> None:
    approval = case.approval
    approval.state, approval.decided_at, approval.comment = state, clock.now(), comment
    approval.decided_by_kind = actor.kind
    approval.decided_by_id, approval.decided_by_label = actor.id[:80], actor.label[:200]
    approval.save(
        update_fields=[
            "state",
            "decided_at",
            "comment",
            "decided_by_kind",
            "decided_by_id",
            "decided_by_label",
            "snapshot",
            "content_hash",
            "edited",
        ]
    )
    outbox.emit(
        ApprovalDecided(
            workspace_id=approval.workspace_id,
            approval_id=approval.id,
            agent_run_id=case.run.id,
            email_id=case.run.email_id,
            action=approval.action,
            risk=str(approval.risk),
            decision=state.value,
            edited=approval.edited,
            decided_by_kind=actor.kind,
            decided_by_id=actor.id,
        )
    )
    with context.acting_as(actor):
        content = {"decision": state.value, "edited": approval.edited, "hash": bytes(approval.content_hash).hex()}
        _record(approval, "approval.decide", content)


def _close(case: _Case, outcome: Outcome, reason: str) -> None:
    closing.close(execution=case.execution, status=ExecutionStatus.NEEDS_HUMAN, outcome=outcome, reason=reason)


def _record(approval: ApprovalRequest, action: str, payload: dict[str, Any]) -> None:
    record(
        workspace_id=approval.workspace_id,
        action=action,
        resource_kind="approval",
        resource_id=approval.id,
        payload={"action": approval.action, **payload},
    )
