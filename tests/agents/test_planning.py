"""The next step follows from the recorded steps and nothing else: runs recorded long ago go on in the same way."""

import uuid

import pytest

from agents import tools
from agents.llm.base import Proposal
from agents.services import planning
from agents.services.planning import Recorded
from agents.types import StepKind

EMAIL = uuid.uuid4()
PASSAGE = {"id": "1", "source": "Facts", "heading": "H", "text": "T", "score": 0.5, "uri": "", "similarity": 0.5}


def _steps(*kinds, wish=None):
    proposal = wish or Proposal(answer="Hello")
    results = {
        StepKind.KNOWLEDGE: {"passages": [PASSAGE]},
        StepKind.MODEL: {"proposal": proposal.as_json()},
        StepKind.PLAN: planning.plan(proposal, email_id=EMAIL).as_json(),
    }
    return [Recorded(at, kind, {}, results.get(kind, {})) for at, kind in enumerate(kinds, start=1)]


C, K, M, P, A = StepKind.CONTEXT, StepKind.KNOWLEDGE, StepKind.MODEL, StepKind.PLAN, StepKind.ACTION


@pytest.mark.parametrize(
    ("kinds", "following"),
    [((), C), ((C,), K), ((C, K), M), ((C, K, M), P), ((C, K, M, P), A), ((C, K, M, P, A), A)],
)
def test_steps_follow_each_other(kinds, following):
    assert planning.following(_steps(*kinds)) == following


def test_a_search_leads_back_to_the_knowledge():
    wish = Proposal(search="more")
    assert planning.following(_steps(C, K, M, wish=wish)) == K
    assert planning.following(_steps(C, K, M, K, wish=wish)) == M


def test_a_proposal_survives_its_recording():
    wish = Proposal(answer="Hi", citations=("1",), cost_micros=5, model="m")
    again = planning.proposal(_steps(C, K, M, wish=wish))
    assert (again.answer, list(again.citations), again.cost_micros) == ("Hi", ["1"], 5)


@pytest.mark.parametrize(
    ("wish", "tool", "arguments"),
    [
        (Proposal(answer=" Hi\u200b "), tools.REPLY, {"email_id": str(EMAIL), "text": "Hi"}),
        (Proposal(ask_person="no idea"), tools.ASK_PERSON, {"reason": "no idea"}),
        (Proposal(answer="\u200b"), tools.ASK_PERSON, {"reason": "the model had no answer"}),
        (Proposal(), tools.ASK_PERSON, {"reason": "the model had no answer"}),
        (Proposal(answer="x" * 20_001), tools.ASK_PERSON, {"reason": "the answer is too long"}),
        (Proposal(ask_person="x" * 900), tools.ASK_PERSON, {"reason": "x" * 500}),
    ],
)
def test_a_proposal_becomes_a_tool_of_the_registry(wish, tool, arguments):
    plan = planning.plan(wish, email_id=EMAIL)
    assert (plan.tool, plan.arguments) == (tool, arguments)
    tools.check(plan.tool, plan.arguments)


def test_what_a_recorded_plan_says_of_its_tool_is_not_believed():
    forged = planning.plan(Proposal(answer="Hi"), email_id=EMAIL).as_json() | {"risk": "low", "permission": "none"}
    plan = planning.planned([Recorded(1, StepKind.PLAN, {}, forged)])
    assert plan.tool.permission == "email.send"
    with pytest.raises(tools.UnknownTool):
        planning.planned([Recorded(1, StepKind.PLAN, {}, forged | {"tool": "shell.run"})])


def test_repeated_searches_are_seen():
    steps = [Recorded(1, StepKind.KNOWLEDGE, {"query": "Reset  a password"}, {"passages": []})]
    assert planning.is_repeated(steps, "reset a PASSWORD")
    assert not planning.is_repeated(steps, "reset a key")


def test_the_hash_covers_meaning_and_nothing_else():
    arguments = {"email_id": "1", "text": "Hi"}
    same = dict(reversed(arguments.items()))
    assert tools.content_hash(tools.REPLY, arguments) == tools.content_hash(tools.REPLY, same)
    for other in ({"email_id": "1", "text": "Hi "}, {"email_id": "2", "text": "Hi"}, {"email_id": "1", "text": "hi"}):
        assert tools.content_hash(tools.REPLY, arguments) != tools.content_hash(tools.REPLY, other)
