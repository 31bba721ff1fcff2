"""custom_metadata is never inspected (S0-25): it reaches no prompt, no index, no template, no event and no other column."""

from django.db import connection

from agents.llm import prompt
from inbox.models import OutboundMessage
from inbox.services import inboxes
from kernel import outbox
from kernel.transactions import in_workspace
from tests.agents.factories import office, play, proposal, send_all, work
from tests.resources.nine import Caller, where_is

CANARY = "canary{{7*7}}0815"


def test_what_integrators_note_stays_where_it_is(db):
    place = office(autonomy="autonomous")
    call = Caller(place.id)
    noted = {"custom_metadata": {CANARY: [CANARY, {"deep": CANARY}], "agent_instructions": CANARY}}
    inbox_path = f"/inboxes/{place.house.inbox.id}"
    assert call("PATCH", "/workspace", noted).status_code == 200
    assert call("PATCH", inbox_path, noted).status_code == 200
    assert call("PATCH", f"/agents/{place.agent.id}", noted).status_code == 200
    hook = call("POST", "/webhooks", {"url": "https://example.com/", "slugs": ["*"]} | noted)
    assert hook.status_code == 201
    inboxes.change(
        workspace_id=place.id, inbox_id=place.house.inbox.id, changes={"policy": {"auto_ack": {"text": "Thanks."}}}
    )
    prompts = []

    def remember(request):
        prompts.append(prompt.instructions(request) + prompt.content(request) + repr(request))
        return proposal(answer="We are open on Saturday from 10 to 14.")

    play(remember)
    answer = call(
        "POST",
        "/emails",
        {
            "from": {"name": "Ada", "address": "ada@customer.test"},
            "to": [{"address": "support@acme.test"}],
            "text": "What are your opening hours on Saturday?",
        }
        | noted,
        idempotency_key="with-a-note",
    )
    assert answer.status_code == 202
    from inbox.services import ingesting

    ingesting.process_all()
    while outbox.drain():
        pass
    work()
    send_all()
    assert len(prompts) == 1
    assert CANARY not in prompts[0]
    with in_workspace(place.id):
        sent = [bytes(row.raw) for row in OutboundMessage.objects.all()]
    assert len(sent) == 1
    assert CANARY.encode() not in sent[0]
    # It is where it was put, in four kinds of rows and the mail's, and in no other column of any table.
    assert where_is(place.id, CANARY) == {
        ("tenancy_workspace", "custom_metadata"),
        ("inbox_inbox", "custom_metadata"),
        ("inbox_email", "custom_metadata"),
        ("agents_agent", "custom_metadata"),
        ("webhooks_webhook", "custom_metadata"),
    }


def test_no_index_function_or_view_looks_into_it(db):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname FROM pg_indexes WHERE schemaname = 'public' AND indexdef ~ '\\mcustom_metadata\\M'"
        )
        assert cursor.fetchall() == []
        cursor.execute(
            "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosrc ~ 'custom_metadata\\s*(->|#>|@>|\\?)'"
        )
        assert cursor.fetchall() == []
        cursor.execute("SELECT viewname FROM pg_views WHERE schemaname = 'public' AND definition ~ 'custom_metadata'")
        assert cursor.fetchall() == []


def test_no_query_of_ours_filters_by_it():
    from tests.architecture.code import ROOT

    names = ("custom_metadata__", "custom_metadata[", "custom_metadata.get")
    offenders = [
        str(path)
        for folder in (
            "kernel",
            "tenancy",
            "files",
            "webhooks",
            "contacts",
            "inbox",
            "tickets",
            "agents",
            "config",
            "templates",
        )
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".py", ".html", ".sql") and any(name in path.read_text(errors="replace") for name in names)
    ]
    assert offenders == []
