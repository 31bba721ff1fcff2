"""Members who see the inboxes of their teams only: on every page, in counts, searches and downloads, and in the database."""

import uuid

import pytest
from django.db import connection
from django.urls import reverse

from agents.models import ApprovalRequest
from inbox.models import Attachment, Email, Entry, Inbox, OutboundMessage, Thread
from kernel.context import Scope
from kernel.errors import Forbidden
from kernel.transactions import in_workspace, unit_of_work
from tenancy.models import Team
from tenancy.queries import principals
from tenancy.services import describing, teams
from tests.console import seed
from tests.console.conftest import signed_in
from tests.console.test_fence import changelist, registered, rows_of

# Not of one inbox: people, settings, records of the whole workspace, which have permissions of their own.
SHARED = {
    "contactprofile", "suppressionentry", "auditevent", "apirequest", "systemevent", "webhookdelivery", "webhook",
    "providerevent", "outboxevent", "membership", "user", "role", "team", "workspace", "machinekey", "clientcertificate",
    "revokedtoken", "revokedclientcert", "verifieddomain", "agent", "knowledgesource", "inbox", "revokedsigningkey",
    "tag", "cannedanswer", "savedview",
}  # fmt: skip
OFTEN = (
    "workspace.read", "inbox.read", "inbox.manage", "email.read", "email.send", "thread.read", "thread.manage", "agent.read",
    "approval.read", "approval.decide", "quarantine.manage",
)  # fmt: skip


# Of the story in the other inbox; the workspace's own name is no secret to its members.
MARKS = ("Nora", "haddad", "Lamp arrived broken")


def leaks(response):
    text = response.content.decode(errors="replace")
    return [mark for mark in MARKS if mark in text]


@pytest.fixture
def narrowed(world):
    """A member who may do all of the daily work, and whose team has another inbox than the one with the story."""
    with in_workspace(world.workspace.id):
        quiet = Inbox.objects.create(
            workspace=world.workspace, address="quiet@lindgren.example", address_normalized="quiet@lindgren.example"
        )
    user = seed.person("nia@x.example", name="Nia")
    membership = seed.member(user, world.workspace, *OFTEN)
    teams.create(workspace_id=world.workspace.id, name="Quiet", membership_ids=[membership.id], inbox_ids=[quiet.id])
    describing.decide(workspace_id=world.workspace.id, changes={"members_see_team_inboxes_only": True})
    world.extra |= {"quiet": quiet, "membership": membership, "user": user}
    return signed_in(user)


def test_nothing_of_another_inbox_is_seen(narrowed, world):
    for model, _ in registered():
        if model._meta.model_name in SHARED:
            continue
        for query in ("?view=all", "?q=broken&view=all", "?q=nora&view=all", f"?inbox__id__exact={world.inbox.id}"):
            response = narrowed.get(changelist(model) + query, follow=True)
            assert response.status_code in (200, 400, 403), (model, query)
            assert not leaks(response), (model, query)
    text = narrowed.get("/console/inbox/inbox/").content.decode()
    assert ("quiet@lindgren.example" in text, world.inbox.address in text) == (True, False)
    for path in ("/console/", "/console/approvals/", "/console/search/?s=lamp", "/console/search/?s=nora&extended=1"):
        assert not leaks(narrowed.get(path)), path


def test_raw_ids_and_deeds_of_another_inbox_do_not_exist(narrowed, world):
    for model, row in rows_of(world):
        if model._meta.model_name in SHARED:
            continue
        url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[row.pk])
        response = narrowed.get(url, follow=True)
        assert response.status_code in (403, 404) or response.redirect_chain, model
        assert not leaks(response), model
    with in_workspace(world.workspace.id):
        ids = [
            ("entry_html", world.extra["entry"].id), ("attachment", Attachment.objects.first().id),
            ("email_source", Email.objects.first().id), ("message_raw", world.extra["quarantined"].id),
            ("approve", world.approvals["lamp"].id), ("reject", world.approvals["lamp"].id),
            ("thread_note", world.threads["lamp"].id), ("outbound_settle", OutboundMessage.objects.first().id),
            ("agents_agentrun_change", world.runs["answered"].id), ("message_replay", world.extra["quarantined"].id),
        ]  # fmt: skip
    for name, value in ids:
        url = reverse(f"admin:{name}", args=[value])
        statuses = {narrowed.get(url).status_code, narrowed.post(url, {"text": "x"}).status_code}
        assert statuses <= {404, 405}, (name, statuses)
        assert 404 in statuses, name
    body = {"action": "deactivate", "_selected_action": [str(world.inbox.id)], "select_across": "1", "index": "0"}
    narrowed.post("/console/inbox/inbox/", body, follow=True)
    with in_workspace(world.workspace.id):
        world.inbox.refresh_from_db()
        assert world.inbox.active
        assert ApprovalRequest.objects.get(id=world.approvals["lamp"].id).state == "pending"


def test_what_changes_holds_at_the_next_click(narrowed, world):
    """Into the team with the story, out of it; with the setting off; with a role that sees every inbox."""

    def sees() -> bool:
        return b"Lamp arrived broken" in narrowed.get("/console/inbox/thread/?view=all").content

    workspace_id, membership = world.workspace.id, world.extra["membership"]
    assert not sees()
    team = teams.create(
        workspace_id=workspace_id, name="Front", membership_ids=[membership.id], inbox_ids=[world.inbox.id]
    )
    assert sees()
    thread = reverse("admin:inbox_thread_change", args=[world.threads["lamp"].id])
    assert b"Approve and send" in narrowed.get(thread).content
    note = narrowed.post(reverse("admin:thread_note", args=[world.threads["lamp"].id]), {"note": "mine"}, follow=True)
    assert b"Your note is kept" in note.content
    teams.change(workspace_id=workspace_id, team_id=team.id, changes={"membership_ids": []})
    assert not sees()
    describing.decide(workspace_id=workspace_id, changes={"members_see_team_inboxes_only": False})
    assert sees()
    describing.decide(workspace_id=workspace_id, changes={"members_see_team_inboxes_only": True})
    assert not sees()
    owner = principals.of_member(user_id=world.owner.id, workspace_id=workspace_id)
    assert owner is not None
    assert owner.inbox_ids is None, "owners see every inbox"


def test_the_database_says_it_beneath_every_query(narrowed, world):
    """Raw SQL in the same scope: counts of every table that belongs to inboxes."""
    nothing = Scope(world.workspace.id, inbox_ids=frozenset())
    quiet = Scope(world.workspace.id, inbox_ids=frozenset({world.extra["quiet"].id}))
    whole = Scope(world.workspace.id, inbox_ids=frozenset({world.inbox.id}))
    tables = [
        "inbox_thread", "inbox_entry", "inbox_email", "inbox_attachment", "inbox_outboundmessage", "inbox_threadparticipant",
        "inbox_entryrecipient", "inbox_entrydeliveryevent", "agents_agentrun", "agents_execution", "agents_executionstep",
        "agents_actionintent", "agents_approvalrequest",
    ]  # fmt: skip
    tried = 0
    for table in tables:
        counts = []
        for scope in (nothing, quiet, whole, Scope(world.workspace.id)):
            with unit_of_work(scope), connection.cursor() as cursor:
                cursor.execute(f"SELECT count(*) FROM {table}")
                counts.append(cursor.fetchone()[0])
        assert counts[:2] == [0, 0], table
        assert counts[2] == counts[3], table
        tried += counts[3] > 0
    assert tried >= 9
    with unit_of_work(quiet), connection.cursor() as cursor:
        cursor.execute("UPDATE inbox_thread SET subject = 'mine'")
        assert cursor.rowcount == 0
        assert not Thread.objects.exists()
        assert not Entry.objects.exists()


def test_inside_narrowed_work_nothing_widens(narrowed, world):
    """A service that enters the same workspace again sees no more than its caller."""
    quiet = Scope(world.workspace.id, inbox_ids=frozenset({world.extra["quiet"].id}))
    with unit_of_work(quiet), in_workspace(world.workspace.id):
        assert list(Inbox.objects.values_list("address", flat=True)) == ["quiet@lindgren.example"]
    from inbox.services import inboxes

    with unit_of_work(quiet), pytest.raises(Forbidden):
        inboxes.open_inbox(workspace_id=world.workspace.id, address="new@lindgren.example")


def test_teams_are_made_in_the_console_and_by_the_api(mika, world):
    from tests.resources.nine import Caller

    membership = seed.member(seed.person("new@x.example"), world.workspace, "thread.read")
    body = {"name": "Returns", "membership_ids": [str(membership.id)], "inbox_ids": [str(world.inbox.id)]}
    mika.post("/console/tenancy/team/add/", body)
    call = Caller(world.workspace.id)
    (shown,) = call("GET", "/teams").json()["data"]
    assert {name: shown[name] for name in body} == body
    path = f"/teams/{shown['id']}"
    for wrong in ("membership_ids", "inbox_ids"):
        answer = call("PATCH", path, {wrong: [str(uuid.uuid4())]})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, f"/{wrong}")
    assert call("POST", "/teams", {"name": "Returns"}).json()["code"] == "team_name_taken"
    assert call("PATCH", path, {"inbox_ids": []}).json()["inbox_ids"] == []
    page = mika.get(reverse("admin:tenancy_team_change", args=[shown["id"]])).content.decode()
    assert "new@x.example" in page
    assert call("DELETE", path).status_code == 204
    with in_workspace(world.workspace.id):
        assert not Team.objects.exists()


def test_marks_of_the_story_are_there_to_be_leaked(mika, world):
    assert set(leaks(mika.get("/console/inbox/thread/?view=all"))) == {"Nora", "Lamp arrived broken"}
    assert "haddad" in leaks(mika.get("/console/inbox/email/?view=all"))
