"""Give a received mail to its inbox's agent, or say why not."""

import hashlib
from uuid import UUID

from django.db import IntegrityError

from agents.events import AgentRunStarted
from agents.models import Agent, AgentRun, Execution
from agents.queries import agents as queries
from agents.services import licensing
from audit.services import record
from audit.types import Outcome as AuditOutcome
from inbox.queries import conversations
from inbox.queries.conversations import MailFacts
from inbox.services import progress
from inbox.types import EmailState, MailClass
from kernel import nudge, outbox
from kernel.transactions import after_commit, current_unit, unit_of_work

WORKER = "agents.tasks.run_executions"


def start(*, email_id: UUID, workspace_id: UUID) -> AgentRun | None:
    """One run for this mail and its inbox's agent, in the current unit of work; None, with the reason kept, if none."""
    current_unit()
    mail = conversations.mail_facts(email_id=email_id)
    agent = queries.bound(mail.agent_id)
    reason = _ignored(mail)
    if reason:
        progress.move(email_id=email_id, to=EmailState.IGNORED, reason=reason)
        return None
    obstacle = _obstacle(mail, agent)
    if obstacle or agent is None:
        _leave_to_people(workspace_id, email_id, obstacle)
        return None
    if AgentRun.objects.filter(email_id=email_id, agent_id=agent.id).exists():
        return None
    return _begin(mail, agent)


def _ignored(mail: MailFacts) -> str:
    """Why nobody need answer the mail at all."""
    if mail.mail_class != MailClass.HUMAN:
        return mail.mail_class
    return mail.policy.stranger(mail.author_address)


def _obstacle(mail: MailFacts, agent: Agent | None) -> str:
    """Why a person answers this mail and not an agent."""
    lack = licensing.lack(mail, agent)
    if lack is not None:
        return lack.value
    return "" if mail.may_auto_answer else "may_not_be_answered_automatically"


def _leave_to_people(workspace_id: UUID, email_id: UUID, reason: str) -> None:
    """The mail stays where people see it: in its thread, unanswered."""
    record(
        workspace_id=workspace_id,
        action="agent_run.skip",
        resource_kind="email",
        resource_id=email_id,
        outcome=AuditOutcome.DENIED,
        payload={"reason": reason},
    )


def _begin(mail: MailFacts, agent: Agent) -> AgentRun | None:
    version = queries.current(agent)
    instruction = f"Answer the e-mail {mail.email_id} in the thread {mail.thread_id}."
    try:
        with unit_of_work():
            execution = Execution.objects.create(
                workspace_id=agent.workspace_id,
                agent=agent,
                version=version,
                instruction=instruction,
                instruction_hash=hashlib.sha256(instruction.encode()).digest(),
            )
            run = AgentRun.objects.create(
                workspace_id=agent.workspace_id,
                email_id=mail.email_id,
                agent=agent,
                version=version,
                execution=execution,
            )
    except IntegrityError:
        # Another delivery of the same mail was first: its run is live.
        return None
    progress.move(email_id=mail.email_id, to=EmailState.QUEUED)
    outbox.emit(
        AgentRunStarted(workspace_id=agent.workspace_id, agent_run_id=run.id, agent_id=agent.id, email_id=mail.email_id)
    )
    record(
        workspace_id=agent.workspace_id,
        action="agent_run.start",
        resource_kind="agent_run",
        resource_id=run.id,
        payload={"email_id": mail.email_id, "agent_id": agent.id, "version": version.number},
    )
    after_commit(lambda: nudge.wake(WORKER))
    return run
