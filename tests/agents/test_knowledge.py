"""Documents become passages, and a search finds its own workspace's passages and no other's."""

import pytest

from agents.models import KnowledgeChunk
from agents.queries import knowledge
from agents.services import learning, splitting
from kernel.errors import Invalid, NotFound
from kernel.transactions import in_workspace
from tests.agents.factories import DOCUMENT
from tests.factories.world import house


def test_headings_begin_passages():
    pieces = splitting.split("Intro.\n\n# One\n\nA.\nB.\n\nC.\n\n## Two\n\nD.\n\nTitle\n=====\n\nE.")
    assert [(piece.heading, piece.text) for piece in pieces] == [
        ("", "Intro."),
        ("One", "A.\nB.\n\nC."),
        ("One › Two", "D."),
        ("Title", "E."),
    ]


@pytest.mark.parametrize(
    "text",
    ["word " * 1000, "x" * 5000, "A sentence of some length. " * 200, "para one. " * 50 + "\n\n" + "para two. " * 90],
)
def test_passages_are_small_and_nothing_is_lost(text):
    pieces = splitting.split(text)
    assert all(0 < len(piece.text) <= splitting.MAX_CHARS for piece in pieces)
    assert "".join("".join(piece.text.split()) for piece in pieces) == "".join(text.split())


def test_a_document_without_text_has_no_passages():
    assert splitting.split("\n\n  \n# Only a title\n") == []


def test_the_nearest_passage_is_found_by_meaning_and_by_word(db):
    place = house()
    learning.add(workspace_id=place.id, title="Facts", content=DOCUMENT + "\n# Parts\n\nThe XK-9 fits all models.\n")
    found = knowledge.nearest(workspace_id=place.id, text="When can I visit you on Saturday?")
    assert found[0].heading == "Opening hours"
    assert found[0].similarity > 0.3
    assert knowledge.nearest(workspace_id=place.id, text="Question about XK-9")[0].heading == "Parts"
    assert len(knowledge.nearest(workspace_id=place.id, text="anything", limit=2)) == 2
    for odd in ("", "???", "' | & ! :* ( )", "\x00", "to_tsquery('x')", "\u200b"):
        assert isinstance(knowledge.nearest(workspace_id=place.id, text=odd), list)


def test_a_search_sees_its_own_workspace_only(db):
    ours, theirs = house("acme"), house("globex")
    learning.add(workspace_id=ours.id, title="Ours", content="Our opening hours are nine to five.")
    secret = learning.add(workspace_id=theirs.id, title="Theirs", content="Their opening hours are a secret.")
    found = knowledge.nearest(workspace_id=ours.id, text="opening hours secret", limit=20)
    assert {item.title for item in found} == {"Ours"}
    with pytest.raises(NotFound):
        learning.replace(workspace_id=ours.id, source_id=secret.id, content="mine")
    with pytest.raises(NotFound):
        learning.remove(workspace_id=ours.id, source_id=secret.id)


def test_a_replaced_document_answers_with_its_new_words(db):
    place = house()
    source = learning.add(workspace_id=place.id, title="Hours", content="We are open until five.")
    same = learning.replace(workspace_id=place.id, source_id=source.id, uri="https://acme.test/hours")
    assert same.uri == "https://acme.test/hours"
    learning.replace(workspace_id=place.id, source_id=source.id, content="We are open until six.")
    texts = [item.text for item in knowledge.nearest(workspace_id=place.id, text="open until when?")]
    assert texts == ["We are open until six."]


def test_a_removed_document_is_gone_from_the_search(db):
    place = house()
    source = learning.add(workspace_id=place.id, title="Hours", content="We are open until five.")
    learning.remove(workspace_id=place.id, source_id=source.id)
    assert knowledge.nearest(workspace_id=place.id, text="open") == []
    with in_workspace(place.id):
        assert not KnowledgeChunk.objects.exists()
        assert knowledge.sources() == []


@pytest.mark.parametrize("content", ["", "  \n ", "x" * (learning.MAX_CONTENT + 1)])
def test_a_document_needs_text_and_not_too_much(db, content):
    with pytest.raises(Invalid):
        learning.add(workspace_id=house().id, title="T", content=content)


def test_a_workspace_has_a_limit_of_passages(db, monkeypatch):
    monkeypatch.setattr(learning, "MAX_PASSAGES", 2)
    place = house()
    with pytest.raises(Invalid):
        learning.add(workspace_id=place.id, title="T", content="# A\n\na\n\n# B\n\nb\n\n# C\n\nc")
    with in_workspace(place.id):
        assert knowledge.sources() == []
