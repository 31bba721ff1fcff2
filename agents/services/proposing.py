"""Replies that a caller from outside has written: drafts for a person, or answers as far as the inbox's agent may go.

The caller's words take the place of the model's, in a run of the inbox's agent, and everything after them is the same:
the plan, the intent with its key, the decision by autonomy and rules, the question to a person, the claim that checks
again. So nobody gets further through this door than the agent would, and a mail has one reply of its agent, whoever
worded it.
"""

import hashlib
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError

from agents import tools
from agents.events import AgentRunStarted
from agents.llm.base import Proposal
from agents.models import ActionIntent, Agent, AgentRun, Execution
from agents.normalise import visible
from agents.queries import agents as queries
from agents.queries import knowledge as knowledge_queries
from agents.services import acting, licensing, planning, running, stepping
from agents.services.leasing import Halted, Lease
from agents.services.licensing import Lack
from agents.services.running import Run
from agents.types import OUTSIDE, ExecutionStatus, StepKind
from audit.services import record
from inbox.queries import conversations
from inbox.queries.conversations import MailContext
from inbox.services import progress, replying
from inbox.types import EmailState
from kernel import clock, outbox
from kernel.context import Actor
from kernel.errors import Conflict, Invalid
from kernel.transactions import in_workspace, unit_of_work
from tenancy.queries import control
from tenancy.services.stopping import Stopped

_WISHED = "the caller asks a person to look first"
_STOPPED = "The workspace is stopped: nothing is answered until a person releases the emergency stop."


class NoLicence(Conflict):
    """Nothing says what may be sent by itself from this inbox."""

    code = "inbox_has_no_agent"


class NotOpen(Conflict):
    """The mail does not wait for an answer."""

    code = "email_not_open"


def propose(*, workspace_id: UUID, email_id: UUID, text: str, author: Actor, ask_first: bool = False) -> ActionIntent:
    """Put a reply in `author`'s words before the rules of the inbox's agent; the intent, whose status says what came of it.

    With `ask_first` a person decides whatever the rules allow. Raises NotFound, Invalid, NoLicence, NotOpen and Stopped,
    and NobodyToAnswer or RecipientSuppressed where a reply could not be sent.
    """
    try:
        return _propose(workspace_id, email_id, _checked(text), author, ask_first=ask_first)
    except Halted as error:
        raise Stopped(_STOPPED) from error


def _propose(workspace_id: UUID, email_id: UUID, words: str, author: Actor, *, ask_first: bool) -> ActionIntent:
    with in_workspace(workspace_id):
        generation = control.generation(workspace_id)
        if generation is None:
            raise Stopped(_STOPPED)
        mail = conversations.mail_context(email_id=email_id)
        agent = _licence(mail)
        replying.check_recipient(email_id=email_id)
        # The agent before the thread before the mail, as where a worker sends: two of them cannot wait for each other.
        conversations.lock_thread_of(mail.entry_id, seen_in=mail.thread_id)
        run = _begin(mail, agent, generation)
        _note(run, words, author)
        plan = planning.plan(planning.proposal(run.steps), email_id=email_id)
        run.record(StepKind.PLAN, f"Planned: {plan.tool.name}", clock.now(), tool=plan.tool, result=plan.as_json())
        intent_id = acting.intend(run, plan, insist=_reason_to_ask(mail, agent, ask_first=ask_first))
        if intent_id is not None:
            acting.execute(run, intent_id)
        return ActionIntent.objects.select_related("execution__run").get(execution_id=run.lease.execution_id)


def _checked(text: str) -> str:
    words = visible(text).strip()
    if not words:
        raise Invalid("Write the answer: nothing of this text can be seen.", pointer="/text")
    if len(words) > tools.MAX_ANSWER:
        raise Invalid(f"The answer is too long: at most {tools.MAX_ANSWER} characters.", pointer="/text")
    return words


def _licence(mail: MailContext) -> Agent:
    """The agent of the inbox, locked: its autonomy is what decides about answers from here."""
    agent = None
    if mail.agent_id is not None:
        agent = Agent.objects.select_for_update(no_key=True, of=("self",)).filter(id=mail.agent_id).first()
    lack = licensing.lack(mail, agent)
    if agent is None or (lack is not None and lack not in licensing.LEFT_TO_PEOPLE):
        why = (lack or Lack.NO_AGENT).label
        raise NoLicence(f"Nothing is answered from here until a person changes that: {why}.")
    return agent


def _reason_to_ask(mail: MailContext, agent: Agent, *, ask_first: bool) -> str:
    if ask_first:
        return _WISHED
    lack = licensing.lack(mail, agent)
    return lack.label if lack is not None else ""


def _begin(mail: MailContext, agent: Agent, generation: int) -> Run:
    """A run that this caller holds; NotOpen when the mail is answered, or somebody is at work on it."""
    key = acting.reply_key(email_id=mail.email_id, agent_id=agent.id)
    if ActionIntent.objects.filter(idempotency_key=key).exists():
        raise NotOpen("This mail has had its one reply of this agent, sent, asked for or refused. A person can answer.")
    if not progress.move(email_id=mail.email_id, to=EmailState.QUEUED):
        raise NotOpen(
            "This mail waits for no answer: it is answered, ignored, or the agent of the inbox is at work on it."
        )
    version, now = queries.current(agent), clock.now()
    instruction = f"Answer the e-mail {mail.email_id} in the thread {mail.thread_id} in the words of a caller."
    try:
        with unit_of_work():
            execution = Execution.objects.create(
                workspace_id=agent.workspace_id,
                agent=agent,
                version=version,
                instruction=instruction,
                instruction_hash=hashlib.sha256(instruction.encode()).digest(),
                status=ExecutionStatus.RUNNING,
                attempts=1,
                lease_token=1,
                generation=generation,
                started_at=now,
                due_at=now + timedelta(seconds=settings.RUN_LEASE_SECONDS),
            )
            row = AgentRun.objects.create(
                workspace_id=agent.workspace_id,
                email_id=mail.email_id,
                agent=agent,
                version=version,
                execution=execution,
            )
    except IntegrityError as error:
        raise NotOpen("The agent of the inbox is at work on this mail. Wait for what comes of it.") from error
    progress.move(email_id=mail.email_id, to=EmailState.RUNNING)
    _announce(row, version.number)
    return running.load(Lease(execution.id, agent.workspace_id, token=1, attempts=1, generation=generation))


def _announce(row: AgentRun, version: int) -> None:
    outbox.emit(
        AgentRunStarted(
            workspace_id=row.workspace_id, agent_run_id=row.id, agent_id=row.agent_id, email_id=row.email_id
        )
    )
    record(
        workspace_id=row.workspace_id,
        action="agent_run.propose",
        resource_kind="agent_run",
        resource_id=row.id,
        payload={"email_id": row.email_id, "agent_id": row.agent_id, "version": version},
    )


def _note(run: Run, words: str, author: Actor) -> None:
    """What a run of the agent would have recorded up to here. The knowledge is asked for what the answer names, too:
    the rules compare the answer's facts with the company's own texts."""
    stepping.note_context(run, clock.now())
    for query in (stepping.asked(run), words):
        found = knowledge_queries.nearest(workspace_id=run.workspace_id, text=query)
        stepping.note_passages(run, found, clock.now(), query="" if query is not words else words[:500])
    proposal = Proposal(answer=words, provider=OUTSIDE, used_language_model=False)
    run.record(
        StepKind.MODEL,
        "A caller from outside proposed the answer",
        clock.now(),
        arguments={planning.PROPOSED_BY: {"kind": author.kind, "id": author.id, "label": author.label}},
        result={"proposal": proposal.as_json()},
        provider=OUTSIDE,
    )
