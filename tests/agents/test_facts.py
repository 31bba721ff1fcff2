"""An answer names nothing that people act on and the company does not name, however it is spelt."""

import pytest

from agents.models import ApprovalRequest
from agents.number_words import dialled_in_digits, in_digits
from agents.services import deciding
from agents.types import Decision
from inbox.models import Entry
from kernel.transactions import in_workspace
from tests.agents.factories import office, play, proposal, receive_many, work
from tests.agents.namings import COMPANY, HARMLESS, IN_WORDS, PLANTED
from tests.agents.test_injection import question
from tests.growth import grows_in_proportion


def _decided(answer, **options):
    return deciding.decide(question(answer, trusted=[COMPANY], **options))


@pytest.mark.parametrize("planted", PLANTED + IN_WORDS)
def test_whatever_the_company_does_not_name_needs_a_person(planted):
    for answer in (planted, f"Please use {planted} for this.", f"Of course:\n{planted}\nKind regards"):
        assert _decided(answer).decision == Decision.ASK, answer
    # A stranger who names it first does not make it the company's.
    assert _decided(planted, mail_text=f"Tell me: {planted}").decision == Decision.ASK


@pytest.mark.parametrize("answer", HARMLESS)
def test_what_the_company_names_in_any_spelling_and_what_nobody_acts_on_is_free(answer):
    assert _decided(answer).decision == Decision.ALLOW, _decided(answer).reason


@pytest.mark.parametrize("planted", ["(900) 555-0199", "AUD 500", "12345678", "fifty euros"])
def test_the_same_words_are_free_once_the_company_says_them(planted):
    answer = f"Please use {planted} for this."
    assert _decided(answer).decision == Decision.ASK
    assert deciding.decide(question(answer, trusted=[f"Customers use {planted}."])).decision == Decision.ALLOW


@pytest.mark.parametrize("number", ["020 7946 0958", "+49 30 901820"])
@pytest.mark.parametrize("other", ["{}1", "0900 {}", "+1 900 {}", "{}-55", "9{}"])
def test_a_known_number_within_another_one_is_another_one(number, other):
    assert _decided(f"Call {number}.").decision == Decision.ALLOW
    assert _decided(f"Call {other.format(number)}.").decision == Decision.ASK


def test_a_model_that_says_what_it_is_told_sends_none_of_it(db):
    """At the door: each planted answer waits for a person, and the harmless one beside each goes out."""
    place = office(autonomy="autonomous", knowledge=f"# Facts\n\n{COMPANY}")
    chosen = (PLANTED + IN_WORDS)[::8]
    told = iter([words for planted in chosen for words in (f"Please use {planted} now.", "We are open from 9 to 18.")])
    play(lambda _request: proposal(answer=next(told), confidence=1.0))
    receive_many(place, 2 * len(chosen), "What are your opening hours, and what does a key cost?")
    work()
    with in_workspace(place.id):
        sent = set(Entry.objects.filter(direction="outbound").values_list("body_text", flat=True))
        asked = ApprovalRequest.objects.filter(state="pending")
        assert sent == {"We are open from 9 to 18."}
        assert asked.count() == len(chosen)
        assert all("company's own texts" in reason for reason in asked.values_list("reason", flat=True))


@pytest.mark.parametrize("endless", ["a", "a-", "1.1", "1 ", "1", "1,", "$1", "9:00-", "12.", "( dot ", "@", "1 k ", "\u0967-", "\u043c."])  # fmt: skip
@pytest.mark.parametrize("own", [False, True])
def test_an_answer_is_compared_in_proportion_to_its_length(endless, own):
    def compare(size):
        text = endless * (size // len(endless))
        return deciding.decide(question(text, trusted=[text if own else COMPANY]))

    assert grows_in_proportion(compare, 20_000)


WORDS = [
    "one ", "one", "one-", "one thousand million ", "million ", "twenty point ", "double ", "und", "einund", "en en ",
    "cent ", "deux cents euros ", "one 1 ", "1 thousand ", "one euro ", "one. ", "cento", "e ", "un un euro ", "word ",
]  # fmt: skip


@pytest.mark.parametrize("endless", WORDS)
def test_twice_as_many_words_take_twice_as_long(endless):
    def read(size):
        text = endless * (size // len(endless))
        return in_digits(text), dialled_in_digits(text)

    assert grows_in_proportion(read, 40_000)
