"""The one way to an effect: an intent with its key and hash, a decision, and a claim that checks everything again.

An intent is written before anything happens and executed at most once (AG-3, AG-8). What a person approved is bound to
the exact content by hash; the claim compares it in the transaction that queues the effect (AG-9).
"""

import uuid
from dataclasses import dataclass
from uuid import UUID

from agents import tools
from agents.models import ActionIntent, Agent, AgentRun, ApprovalRequest, Execution
from agents.services import approving, closing, deciding, leasing, licensing, planning
from agents.services.deciding import Question, Verdict
from agents.services.planning import Plan
from agents.services.running import Run
from agents.tools import Tool
from agents.types import (
    AgentStatus,
    ApprovalState,
    Autonomy,
    Decision,
    ExecutionStatus,
    IntentStatus,
    Outcome,
    StepKind,
    StepStatus,
)
from audit.services import record
from audit.types import Outcome as AuditOutcome
from inbox.queries import conversations
from inbox.queries.conversations import MailFacts
from inbox.services import progress, replying
from inbox.services.replying import AutoReplyHeld, QueuedReply
from inbox.types import EmailState, OutboundKind
from kernel import clock, context
from kernel.crash import crash_point
from kernel.errors import DomainError
from kernel.transactions import in_workspace, unit_of_work
from tenancy.queries import workspaces
from tenancy.types import WorkspaceStatus


class Overtaken(Exception):
    """Somebody handled the mail in the very moment of the effect; the next look at it will say so."""


@dataclass(frozen=True)
class Refusal:
    """Why an intent is not executed."""

    outcome: Outcome
    reason: str


def reply_key(*, email_id: UUID, agent_id: UUID) -> str:
    """An inbound mail has at most one reply of an agent."""
    return f"reply:{email_id}:{agent_id}"


def intend(run: Run, plan: Plan, *, insist: str = "") -> UUID | None:
    """Write the intent and what policy says of it (`insist`: a person must be asked, and why). Its id when it may be
    executed now."""
    started = clock.now()
    arguments = tools.check(plan.tool, plan.arguments)
    assert isinstance(arguments, tools.Reply)
    verdict = deciding.decide(_question(run, run.mail(), plan.tool, arguments.text, insist))
    key = reply_key(email_id=run.email_id, agent_id=run.agent.id)
    with in_workspace(run.workspace_id):
        execution = leasing.hold(run.lease)
        if ActionIntent.objects.filter(idempotency_key=key).exists():
            _close(execution, Outcome.BLOCKED, "this mail has had its one reply of this agent before")
            return None
        intent = ActionIntent(
            id=uuid.uuid4(),
            workspace_id=run.workspace_id,
            idempotency_key=key,
            execution_id=run.lease.execution_id,
            action=plan.tool.name,
            arguments=plan.arguments,
            content_hash=tools.content_hash(plan.tool, plan.arguments),
            risk=verdict.risk,
            decision=verdict.decision,
            decision_reason=verdict.reason,
            policy_version=deciding.VERSION,
            status=_STATUS[verdict.decision],
        )
        run.record(
            StepKind.ACTION,
            f"{plan.tool.name}: {verdict.decision.value}",
            started,
            tool=plan.tool,
            risk=verdict.risk.value,
            arguments={"intent_id": str(intent.id), "key": key},
            result={"decision": verdict.decision.value, "reason": verdict.reason},
            status=StepStatus.WAITING,
        )
        intent.save(force_insert=True)
        _follow(execution, intent, verdict, requester=run.actor.label)
    return intent.id if verdict.decision == Decision.ALLOW else None


_STATUS = {
    Decision.ALLOW: IntentStatus.APPROVED,
    Decision.ASK: IntentStatus.WAITING_APPROVAL,
    Decision.DENY: IntentStatus.BLOCKED,
}


def intended(run: Run) -> UUID | None:
    """The intent that this run has written before."""
    with in_workspace(run.workspace_id):
        found = ActionIntent.objects.filter(execution_id=run.lease.execution_id).values_list("id", flat=True)
        return found.first()


def _follow(execution: Execution, intent: ActionIntent, verdict: Verdict, *, requester: str) -> None:
    record(
        workspace_id=intent.workspace_id,
        action="action.decide",
        resource_kind="action_intent",
        resource_id=intent.id,
        outcome=AuditOutcome.DENIED if verdict.decision == Decision.DENY else AuditOutcome.DONE,
        payload={
            "action": intent.action,
            "decision": verdict.decision.value,
            "risk": verdict.risk.value,
            # Not the reason: it may quote a stranger's words. The intent keeps it.
            "content_hash": intent.content_hash.hex(),
        },
    )
    if verdict.decision == Decision.ASK:
        approving.request(execution=execution, intent=intent, reason=verdict.reason, requester=requester)
    elif verdict.decision == Decision.DENY:
        _close(execution, Outcome.BLOCKED, verdict.reason)


def _question(run: Run, mail: MailFacts, tool: Tool, answer: str, insist: str = "") -> Question:
    version = run.version
    passages = planning.passages(run.steps)
    company = [f"{passage.source}\n{passage.heading}\n{passage.text}" for passage in passages]
    return Question(
        autonomy=deciding.least(Autonomy(version.autonomy), mail.policy.autonomy),
        tool_risk=tool.risk,
        answer=answer,
        mail_text=f"{mail.subject}\n{mail.text}",
        trusted=[*company, version.system_prompt, *version.skills, mail.inbox_address, mail.inbox_name],
        secrets=[version.system_prompt],
        reply_to_differs=mail.reply_to_differs,
        sender_doubted=mail.sender_doubted,
        may_auto_answer=mail.may_auto_answer,
        insist=insist,
    )


def execute(run: Run, intent_id: UUID) -> bool:
    """Claim the intent and queue its effect, in one transaction that checks everything again; True when it is queued."""
    with in_workspace(run.workspace_id):
        execution = leasing.hold(run.lease)
        leasing.check(run.lease)
        intent = ActionIntent.objects.select_for_update(no_key=True).get(id=intent_id)
        if intent.status != IntentStatus.APPROVED:
            _close(execution, Outcome.BLOCKED, f"the intent is {intent.status} and cannot be executed")
            return False
        approval = _approval(intent)
        if approval is not None:
            crash_point("run.approval_granted")
        effect = _refusal(run, intent, approval) or _perform(run, intent, approval)
        if isinstance(effect, Refusal):
            _refuse(execution, intent, effect)
            return False
        crash_point("run.effect_queued")
        _mark(execution, intent, approval, effect)
        _go_on(run, approval)
    crash_point("run.outbox_written")
    return True


def _go_on(run: Run, approval: ApprovalRequest | None) -> None:
    """The mail no longer waits for a person. After the reply, whose thread is locked first, as wherever one is written."""
    if approval is not None and not progress.move(email_id=run.email_id, to=EmailState.RUNNING):
        raise Overtaken(str(run.email_id))


def _approval(intent: ActionIntent) -> ApprovalRequest | None:
    """The decided question of this intent, locked after its execution and intent, as everywhere."""
    if intent.decision != Decision.ASK:
        return None
    rows = ApprovalRequest.objects.select_for_update(no_key=True).filter(intent_id=intent.id)
    return rows.order_by("-created_at").first()


def _refusal(run: Run, intent: ActionIntent, approval: ApprovalRequest | None) -> Refusal | None:
    """Why the intent may not be executed now, looked at afresh; None when it may."""
    tool = tools.get(intent.action)
    tools.check(tool, intent.arguments)
    agent = Agent.with_deleted.select_for_update(no_key=True, of=("self",)).get(id=run.agent.id)
    workspace = workspaces.current(run.workspace_id)
    checks = (
        (tools.content_hash(tool, intent.arguments) == bytes(intent.content_hash), "its content was changed"),
        (intent.policy_version == deciding.VERSION, "the rules have changed since it was decided"),
        (agent.deleted_at is None and agent.status == AgentStatus.ACTIVE, "the agent is paused or deleted"),
        (agent.current_version == run.version.number, "the agent was changed since"),
        (run.may(tool), f"the agent lacks the permission {tool.permission}"),
        (workspace.status == WorkspaceStatus.ACTIVE and workspace.deleted_at is None, "the workspace is suspended"),
        (intent.decision != Decision.DENY, intent.decision_reason),
    )
    for holds, reason in checks:
        if not holds:
            return Refusal(Outcome.BLOCKED, reason)
    state = AgentRun.objects.filter(id=run.run_id).values_list("email__state", flat=True).get()
    if state not in (EmailState.RUNNING, EmailState.WAITING_APPROVAL):
        return Refusal(Outcome.OVERTAKEN, "the mail was handled meanwhile")
    mail = conversations.mail_facts(email_id=run.email_id)
    lack = licensing.lack(mail, agent)
    if lack is not None and not (run.is_from_outside and approval is not None and lack in licensing.LEFT_TO_PEOPLE):
        return Refusal(Outcome.BLOCKED, lack.label)
    if intent.decision == Decision.ALLOW and (stricter := _stricter(run, mail, intent)):
        return Refusal(Outcome.BLOCKED, stricter)
    return _approval_refusal(run, intent, approval) if intent.decision == Decision.ASK else None


def _stricter(run: Run, mail: MailFacts, intent: ActionIntent) -> str:
    """Why what was allowed is not any more: by the policy of the inbox as it is now, a person should see it first."""
    verdict = deciding.decide(_question(run, mail, tools.get(intent.action), intent.arguments["text"]))
    return "" if verdict.decision == Decision.ALLOW else verdict.reason


def _approval_refusal(run: Run, intent: ActionIntent, approval: ApprovalRequest | None) -> Refusal | None:
    if approval is None or approval.state not in (ApprovalState.APPROVED, ApprovalState.CONSUMED):
        return Refusal(Outcome.BLOCKED, "nobody has approved it")
    if approval.consumed_at is not None or approval.state == ApprovalState.CONSUMED:
        return Refusal(Outcome.BLOCKED, "its approval was used before")
    if bytes(approval.content_hash) != bytes(intent.content_hash):
        return Refusal(Outcome.BLOCKED, "what was approved is not what would be sent")
    if approval.expires_at <= clock.now():
        return Refusal(Outcome.EXPIRED, "the approval has expired")
    if not approving.still_holds(approval, inbox_id=run.mail().inbox_id):
        return Refusal(
            Outcome.BLOCKED, f"{approval.decided_by_label or 'who approved it'} may no longer approve answers"
        )
    return None


def _perform(run: Run, intent: ActionIntent, approval: ApprovalRequest | None) -> QueuedReply | Refusal:
    """Queue the reply. What a person approved is theirs, so the caps on automatic answers do not hold it."""
    try:
        with unit_of_work():
            return replying.queue_reply(
                email_id=run.email_id,
                text=intent.arguments["text"],
                kind=OutboundKind.AI_ANSWER,
                idempotency_key=intent.idempotency_key,
                automatic=approval is None,
                author=run.actor,
            )
    except AutoReplyHeld as error:
        replying.report_held(error.held)
        return Refusal(Outcome.HELD, error.detail)
    except DomainError as error:
        return Refusal(Outcome.BLOCKED, error.detail)


def _refuse(execution: Execution, intent: ActionIntent, refusal: Refusal) -> None:
    expired = refusal.outcome == Outcome.EXPIRED
    intent.status = IntentStatus.EXPIRED if expired else IntentStatus.BLOCKED
    intent.error = refusal.reason[:500]
    intent.save(update_fields=["status", "error"])
    record(
        workspace_id=intent.workspace_id,
        action="action.refuse",
        resource_kind="action_intent",
        resource_id=intent.id,
        outcome=AuditOutcome.DENIED,
        payload={"reason": refusal.reason, "action": intent.action},
    )
    _close(execution, refusal.outcome, refusal.reason)


def _close(execution: Execution, outcome: Outcome, reason: str) -> None:
    status = ExecutionStatus.STOPPED if outcome == Outcome.OVERTAKEN else ExecutionStatus.NEEDS_HUMAN
    closing.close(execution=execution, status=status, outcome=outcome, reason=reason)


def _mark(execution: Execution, intent: ActionIntent, approval: ApprovalRequest | None, queued: QueuedReply) -> None:
    """The effect is on its way: the approval is used up, and the run waits for news of the sending."""
    intent.status = IntentStatus.EXECUTING
    intent.entry_id = queued.entry_id
    intent.save(update_fields=["status", "entry_id"])
    if approval is not None:
        approval.state, approval.consumed_at = ApprovalState.CONSUMED, clock.now()
        approval.save(update_fields=["state", "consumed_at"])
    execution.status = ExecutionStatus.WAITING_EFFECT
    execution.save(update_fields=["status"])
    record(
        workspace_id=intent.workspace_id,
        action="action.execute",
        resource_kind="action_intent",
        resource_id=intent.id,
        payload={
            "action": intent.action,
            "entry_id": intent.entry_id,
            "approval_id": approval.id if approval else None,
            "content_hash": bytes(intent.content_hash).hex(),
            "actor": context.actor.get().label,
        },
    )
