"""The steps of a run. Each does its work, records it under the lease, and says whether the run goes on.

Nothing outside the database is called while a transaction is open, and the model is the only thing outside.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Final

from django.conf import settings

from agents import tools
from agents.llm import prompt, registry
from agents.llm.base import Earlier, Mail, Request
from agents.normalise import without_prefixes
from agents.queries import knowledge as knowledge_queries
from agents.queries.knowledge import Found
from agents.services import acting, closing, leasing, licensing, planning
from agents.services.running import Run
from agents.types import ExecutionStatus, Outcome, StepKind
from inbox.services import progress, replying
from inbox.services.replying import NobodyToAnswer, RecipientSuppressed
from inbox.types import EmailState
from kernel import clock
from kernel.crash import crash_point
from kernel.transactions import in_workspace

_QUERY = 3_000
# The call ends well before the lease does, so that nobody else has begun it again.
_CALL_SHARE: Final = 0.5
_CALL_SECONDS: Final = 60.0


def advance(run: Run) -> bool:
    """Do the next step. False when there is nothing more for this worker to do."""
    kind = planning.following(run.steps)
    looping = kind in (StepKind.KNOWLEDGE, StepKind.MODEL)
    limit = min(run.limits.max_steps, settings.RUN_MAX_STEPS)
    if looping and len(run.steps) + planning.RESERVED_STEPS >= limit:
        return give_up(run, Outcome.OVER_BUDGET, f"the run reached its limit of {limit} steps")
    return _STEPS[kind](run)


def give_up(run: Run, outcome: Outcome, reason: str, *, code: str = "") -> bool:
    """Leave the mail to a person."""
    with in_workspace(run.workspace_id):
        execution = leasing.hold(run.lease)
        status = ExecutionStatus.STOPPED if outcome == Outcome.OVERTAKEN else ExecutionStatus.NEEDS_HUMAN
        closing.close(execution=execution, status=status, outcome=outcome, reason=reason, error_code=code)
    return False


def note_context(run: Run, started: datetime) -> None:
    """Record what was read: not the text, which stays in its entry, where retention and erasure find it."""
    mail = run.mail()
    digest = hashlib.sha256(f"{mail.subject}\n{mail.text}".encode()).hexdigest()
    seen = {"entry_id": mail.entry_id, "digest": digest, "history": len(mail.history)}
    seen |= {"attachments": len(mail.attachments), "verdicts": mail.verdicts, "class": mail.mail_class}
    run.record(
        StepKind.CONTEXT,
        "Read the mail and its thread",
        started,
        tool=tools.READ_THREAD,
        arguments={"email_id": str(run.email_id)},
        result=seen,
    )


def note_passages(run: Run, found: Sequence[Found], started: datetime, *, query: str = "") -> None:
    """Record what the knowledge had to say of a query, or of the mail itself."""
    passages = [
        asdict(item) | {"id": str(item.id), "source": item.title, "score": round(item.similarity, 4)} for item in found
    ]
    run.record(
        StepKind.KNOWLEDGE,
        f"Searched the knowledge: {len(found)} passages",
        started,
        tool=tools.SEARCH_KNOWLEDGE,
        arguments={"query": query} if query else {"email_id": str(run.email_id)},
        result={"passages": passages},
    )


def _context(run: Run) -> bool:
    started = clock.now()
    if not run.may(tools.READ_THREAD):
        return give_up(run, Outcome.BLOCKED, "the agent may not read threads")
    with in_workspace(run.workspace_id):
        run.mail()
        crash_point("run.context_built")
        obstacle = _obstacle(run)
        overtaken = not obstacle and not progress.move(email_id=run.email_id, to=EmailState.RUNNING)
        if not obstacle and not overtaken:
            note_context(run, started)
    if obstacle:
        return give_up(run, Outcome.BLOCKED, obstacle)
    if overtaken:
        return give_up(run, Outcome.OVERTAKEN, "the mail was handled before the agent began")
    return True


def _obstacle(run: Run) -> str:
    """Why no answer could be sent: better known before a model is paid for one, or a person asked about it."""
    lack = licensing.lack(run.mail(), run.agent)
    if lack is not None:
        return lack.label
    try:
        replying.check_recipient(email_id=run.email_id)
    except (NobodyToAnswer, RecipientSuppressed) as error:
        return error.detail
    return ""


def asked(run: Run) -> str:
    """What the mail asks, as a query to the knowledge."""
    mail = run.mail()
    return f"{without_prefixes(mail.subject)}\n{mail.text}"[:_QUERY]


def _knowledge(run: Run) -> bool:
    started = clock.now()
    if not run.may(tools.SEARCH_KNOWLEDGE):
        return give_up(run, Outcome.BLOCKED, "the agent may not search the knowledge")
    search = planning.proposal(run.steps).search if run.steps[-1].kind == StepKind.MODEL else ""
    if search and planning.is_repeated(run.steps, search):
        return give_up(run, Outcome.LOOPED, f"the model searched twice for {search[:100]!r}")
    found = knowledge_queries.nearest(workspace_id=run.workspace_id, text=search or asked(run))
    with in_workspace(run.workspace_id):
        note_passages(run, found, started, query=search)
    return True


def _model(run: Run) -> bool:
    started = clock.now()
    limit = run.limits.max_cost_micros
    if run.spent_micros >= limit > 0:
        return give_up(run, Outcome.OVER_BUDGET, f"the run spent its {limit / 1_000_000:.2f} dollars")
    request = _request(run)
    digest = hashlib.sha256(f"{prompt.instructions(request)}\n{prompt.content(request)}".encode()).hexdigest()
    if any(step.kind == StepKind.MODEL and step.arguments.get("digest") == digest for step in run.steps):
        return give_up(run, Outcome.LOOPED, "the model would be asked the same question again")
    provider = registry.get(run.version.provider or registry.default())
    crash_point("run.model_called")
    leasing.check(run.lease)
    proposal = provider.propose(request)
    crash_point("run.model_answered")
    with in_workspace(run.workspace_id):
        run.record(
            StepKind.MODEL,
            "Asked the model" if proposal.used_language_model else "Matched the knowledge, without a language model",
            started,
            arguments={"digest": digest, "passages": [passage.id for passage in request.passages]},
            result={"proposal": proposal.as_json()},
            provider=proposal.provider,
            model=proposal.model,
            used_language_model=proposal.used_language_model,
            input_tokens=proposal.input_tokens,
            output_tokens=proposal.output_tokens,
            cost_micros=proposal.cost_micros,
        )
    return True


def _request(run: Run) -> Request:
    """What the model may know: the mail as data, the operator's words, the passages. Never custom_metadata."""
    mail = run.mail()
    return Request(
        mail=Mail(
            subject=mail.subject,
            from_name=mail.from_name,
            from_address=mail.from_address,
            text=mail.text,
            received_at=mail.received_at,
            attachments=tuple(mail.attachments),
            history=tuple(Earlier(e.direction, e.author_label, e.text, e.at) for e in mail.history),
        ),
        inbox_name=mail.inbox_name or mail.inbox_address,
        system_prompt=run.version.system_prompt,
        skills=tuple(run.version.skills),
        model=run.version.model,
        passages=planning.passages(run.steps),
        searches=planning.searches(run.steps),
        timeout=min(_CALL_SECONDS, settings.RUN_LEASE_SECONDS * _CALL_SHARE),
    )


def _plan(run: Run) -> bool:
    started = clock.now()
    plan = planning.plan(planning.proposal(run.steps), email_id=run.email_id)
    with in_workspace(run.workspace_id):
        run.record(StepKind.PLAN, f"Planned: {plan.tool.name}", started, tool=plan.tool, result=plan.as_json())
    crash_point("run.plan_stored")
    return True


def _action(run: Run) -> bool:
    plan = planning.planned(run.steps)
    if plan.tool is tools.ASK_PERSON:
        return give_up(run, Outcome.ASKED_PERSON, plan.arguments["reason"])
    intent = acting.intend(run, plan) if run.steps[-1].kind == StepKind.PLAN else acting.intended(run)
    crash_point("run.intent_stored")
    if intent is not None:
        acting.execute(run, intent)
    return False


_STEPS: Final[dict[StepKind, Callable[[Run], bool]]] = {
    StepKind.CONTEXT: _context,
    StepKind.KNOWLEDGE: _knowledge,
    StepKind.MODEL: _model,
    StepKind.PLAN: _plan,
    StepKind.ACTION: _action,
}
