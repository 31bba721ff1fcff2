"""`make prove-isolation`: what it tries, and that it notices a hole, whichever it is."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from config.proving import api, background, catalogue, console, matrix, scene, tables, unknown
from config.proving.callers import Answer
from config.proving.findings import Findings
from tests.world.serving import serving

# Tables in which the other workspace must have rows: else nothing is proven about reading them.
FILLED = {
    "inbox_email", "inbox_thread", "agents_approvalrequest", "inbox_circuitbreaker", "inbox_threadchange", "inbox_draft",
    "inbox_threadreadstate", "inbox_remoteimage", "tickets_tag", "tickets_threadtag", "tickets_annotation",
    "tickets_savedview", "tickets_cannedanswer", "tickets_threadcount",
}  # fmt: skip
NEEDED = {"requests": 1500, "parameter_routes": 400, "tables": 40, "background": 20}


@pytest.mark.deep
@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_whole_proof_against_a_running_system(db, tmp_path):
    out, page = StringIO(), tmp_path / "report.html"
    with serving(API_RATE_LIMIT="0") as url:
        call_command("prove_isolation", url=url, report=page, stdout=out, stderr=StringIO())
    counts = json.loads(out.getvalue().strip().splitlines()[-1])
    assert (counts["leaks"], counts["changed_rows"]) == (0, 0)
    assert all(counts[kind] >= least for kind, least in NEEDED.items()), counts
    assert "No workspace reached another one" in page.read_text()


def test_the_database_withstands_every_probe_and_a_table_without_its_fence_is_noticed(db):
    found = Findings()
    with scene.two() as (ours, theirs):
        tables.probe(found, ours=ours.id, theirs=theirs.id)
        assert found.sentences == []
        assert found.counts["tables"] >= NEEDED["tables"]
        assert not FILLED & set(found.empty_tables)
        assert catalogue.holding(ours.id, theirs.mark) == []
        with connections["owner"].cursor() as owner:
            owner.execute("ALTER TABLE inbox_thread DISABLE ROW LEVEL SECURITY")
        try:
            with pytest.MonkeyPatch.context() as patch:
                one = [table for table in catalogue.tables() if table.name == "inbox_thread"]
                patch.setattr(catalogue, "tables", lambda: one)
                tables.probe(found, ours=ours.id, theirs=theirs.id)
        finally:
            with connections["owner"].cursor() as owner:
                owner.execute("ALTER TABLE inbox_thread ENABLE ROW LEVEL SECURITY")
    seen = " ".join(found.sentences)
    for hole in ("without a workspace", "rows of other workspaces", "be changed", "put into the other"):
        assert hole in seen
    assert not found.is_clean


class Answering:
    """A console whose pages say what was looked for, and what a fence with a hole would add."""

    def __init__(self, shown="", found=lambda query: ""):
        self.shown, self.found = shown, found

    def ask(self, method, path, form=None):
        query = path.partition("?")[2]
        return console.Page(200, "", f"nothing for {query}; ours {self.shown}{self.found(query)}".encode())


def test_what_the_console_shows_or_finds_of_the_other_workspace_is_a_leak():
    own, foreign = scene.new_mark(), scene.new_mark()
    for visitor, leaks in (
        (Answering(own), 0),
        (Answering(f"{own} {foreign}"), 6),
        (Answering(own, lambda query: f"Mail of {foreign}" if foreign in query else ""), 3),
    ):
        found = Findings()
        assert console.look_around(found, visitor, "/console/inbox/thread/", own, foreign) == 3
        assert found.leaks == leaks, found.sentences


class Talking:
    """A system that answers as told: what a fence with a hole would say."""

    name = "somebody"

    def __init__(self, answer):
        self.answer = answer

    def ask(self, method, path, body=None, headers=None):
        return self.answer(method, path)


def test_answers_that_betray_a_row_are_leaks_and_paths_without_a_row_are_not_covered():
    system = api.Api([api.Operation("GET", "/api/v1/things/{id}", None)])
    foreign = {"thing.id#0": unknown.KINDS["uuid"](), "thing.id#1": unknown.KINDS["number"]()}

    def careless(_method, path):
        return Answer(404, b"gone" if path.rpartition("/")[2] in foreign.values() else b"unknown")

    for answer, leaks in (
        (lambda *_: Answer(404, b"unknown"), 0),
        (careless, 2 * len(api.METHODS)),
        (lambda *_: Answer(200, b"hello"), 2 * len(api.METHODS)),
        (lambda *_: Answer(404, b"a mark of theirs"), 2 * len(api.METHODS)),
    ):
        found = Findings()
        matrix.walk(found, system, Talking(answer), foreign, mark="mark of theirs")
        assert found.leaks == leaks
    found = Findings()
    matrix.control(found, system, Talking(careless), foreign)
    assert len(found.uncovered) == 1


def test_a_path_that_the_description_leaves_out_is_not_covered(db):
    document = b'{"paths": {}, "components": {"schemas": {}}}'
    found = Findings()
    api.read(Talking(lambda *_: Answer(200, document)), found)
    assert any("/emails/{id}" in sentence for sentence in found.uncovered)


def test_every_job_is_tried():
    assert {"inbox.tasks.send_mail", "kernel.tasks.drain_outbox", "webhooks.tasks.prune"} <= set(background.names())


def test_a_proof_with_a_finding_fails(db, monkeypatch, tmp_path):
    monkeypatch.setattr(
        "config.management.commands.prove_isolation.Command._prove", lambda _self, found, *_: found.leak("a hole")
    )
    page = tmp_path / "report.html"
    with pytest.raises(CommandError, match="hole"):
        call_command("prove_isolation", url="http://x.test", report=page, stdout=StringIO(), stderr=StringIO())
    assert "1 leaks" in page.read_text()
    assert "a hole" in page.read_text()
