"""Deleted rows are out of sight and not gone; what is in conflict with one is refused; operators bring them back."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from agents.models import Agent
from agents.services import configuring
from audit.models import AuditEvent
from inbox.models import Attachment, Inbox
from inbox.queries import conversations
from inbox.services import attachments, inboxes, replying
from inbox.services.inboxes import AddressTaken, CannotRestore
from inbox.types import OutboundKind
from kernel.context import SYSTEM
from kernel.errors import Conflict, Invalid, NotFound
from kernel.models import OutboxEvent
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.models import VerifiedDomain, Workspace
from tenancy.services import describing, provisioning
from tests.console import seed
from tests.factories.world import deliver, mail
from tests.resources.nine import NINE, World, world
from webhooks.models import Webhook
from webhooks.services import subscribing


@dataclass(frozen=True)
class Life:
    """The services that end and restore one resource, and its facts."""

    delete: Any
    restore: Any
    key: str
    page: str


LIVES = {
    "inbox": Life(inboxes.delete, inboxes.restore, "inbox_id", "inbox/inbox"),
    "agent": Life(configuring.delete, configuring.restore, "agent_id", "agents/agent"),
    "webhook": Life(subscribing.delete, subscribing.restore, "webhook_id", "webhooks/webhook"),
    "attachment": Life(attachments.delete, attachments.restore, "attachment_id", "inbox/attachment"),
}
each = pytest.mark.parametrize("name", LIVES)


def end(place: World, name: str) -> None:
    LIVES[name].delete(workspace_id=place.id, **{LIVES[name].key: place.ids[name]})


def bring_back(place: World, name: str) -> Any:
    return LIVES[name].restore(workspace_id=place.id, **{LIVES[name].key: place.ids[name]})


@each
def test_a_deleted_row_is_in_no_list_and_answers_like_an_unknown_id(acme, name):
    row_id, resource = str(acme.ids[name]), NINE[name]
    assert row_id in acme.call("GET", resource.path).content.decode()
    end(acme, name)
    assert row_id not in acme.call("GET", resource.path).content.decode()
    paths = [acme.path(name), *([f"{acme.path(name)}/content"] if name == "attachment" else [])]
    for path in paths:
        for method in ("GET", *(method for method in resource.on_one if path == acme.path(name))):
            gone = acme.call(method, path, {} if method != "GET" else None, x_request_id="the-same-request")
            absent = acme.call(
                method,
                path.replace(row_id, str(uuid4())),
                {} if method != "GET" else None,
                x_request_id="the-same-request",
            )
            assert gone.status_code == absent.status_code == 404
            assert gone.content == absent.content
    with in_workspace(acme.id):
        assert resource.model.with_deleted.filter(id=row_id).exists()


@each
def test_restoring_brings_the_row_back_under_its_id_and_is_on_record(acme, name):
    before = acme.call("GET", acme.path(name)).json()
    with pytest.raises(NotFound):
        bring_back(acme, name)  # it is not deleted
    end(acme, name)
    with pytest.raises(NotFound):
        end(acme, name)
    with pytest.raises(NotFound):
        LIVES[name].restore(workspace_id=world("globex").id, **{LIVES[name].key: acme.ids[name]})
    bring_back(acme, name)
    after = acme.call("GET", acme.path(name)).json()
    assert (after["id"], after["created_at"], after["deleted_at"]) == (before["id"], before["created_at"], None)
    with in_workspace(acme.id):
        actions = AuditEvent.objects.filter(resource_id=str(acme.ids[name])).order_by("sequence")
        assert list(actions.values_list("action", flat=True))[-2:] == [f"{name}.delete", f"{name}.restore"]
        slugs = set(OutboxEvent.objects.filter(workspace_id=acme.id).values_list("slug", flat=True))
        assert f"{name}.restored" in slugs


@each
def test_the_console_shows_deleted_rows_only_when_asked_and_restores_them(acme, name, client):
    owner = seed.person("mika@acme.test", operator=True)
    seed.member(owner, acme.house.workspace)
    client.force_login(owner)
    page = f"/console/{LIVES[name].page}/"
    row_id = str(acme.ids[name])
    chosen = {"_selected_action": row_id}
    assert row_id in client.get(page).content.decode()
    client.post(page, chosen | {"action": "remove"})
    assert row_id not in client.get(page).content.decode()
    assert row_id in client.get(f"{page}?deleted=yes").content.decode()
    client.post(f"{page}?deleted=yes", chosen | {"action": "restore"})
    assert row_id in client.get(page).content.decode()
    with in_workspace(acme.id):
        labels = AuditEvent.objects.filter(resource_id=row_id, action__in=[f"{name}.delete", f"{name}.restore"])
        assert {row.actor_kind for row in labels} == {"user"}
        assert labels.count() == 2


def test_a_deleted_inbox_keeps_its_address_and_its_external_id(acme):
    first = acme.call("GET", acme.path("inbox")).json()
    end(acme, "inbox")
    for body in ({"address": first["address"]}, {"address": "other@acme.test", "external_id": first["external_id"]}):
        answer = acme.call("POST", "/inboxes", body)
        assert answer.status_code == 409
        text = answer.json()["detail"]
        assert text == "This address or external id cannot be used. Choose another one."
    answer = acme.call("PATCH", acme.path("inbox"), {"active": True})
    assert answer.status_code == 404


def test_a_deleted_agent_keeps_its_external_id(acme):
    external_id = acme.call("GET", acme.path("agent")).json()["external_id"]
    end(acme, "agent")
    answer = acme.call("POST", "/agents", {"name": "Again", "external_id": external_id})
    assert (answer.status_code, "deleted" in answer.json()["detail"]) == (409, False)


def test_a_deleted_workspace_lets_nobody_in_and_is_not_made_anew(acme):
    external_id = acme.house.workspace.external_id
    describing.delete(workspace_id=acme.id)
    assert acme.call("GET", "/workspace").status_code == 401
    with pytest.raises(Conflict) as refusal:
        provisioning.provision(external_id=external_id, name="Acme")
    assert "Acme" not in refusal.value.detail
    deliver(mail())
    with in_workspace(acme.id):
        from inbox.models import Email

        assert Email.objects.latest("created_at").state_reason == "inactive_workspace"
    describing.restore(workspace_id=acme.id)
    assert acme.call("GET", "/workspace").json()["deleted_at"] is None
    with in_workspace(acme.id):
        assert {"workspace.delete", "workspace.restore"} <= set(AuditEvent.objects.values_list("action", flat=True))
    assert provisioning.provision(external_id=external_id, name="Acme")[1] is False


def test_the_console_ends_and_restores_a_workspace_for_operators_only(acme, client):
    member, operator = seed.person("mem@acme.test"), seed.person("op@acme.test", operator=True)
    seed.member(member, acme.house.workspace)
    seed.member(operator, acme.house.workspace)
    page, chosen = "/console/tenancy/workspace/", {"_selected_action": str(acme.id)}

    def is_deleted() -> bool:
        with in_all_workspaces("a test looks at a tombstone"):
            return Workspace.objects.get(id=acme.id).deleted_at is not None

    client.force_login(member)
    client.post(page, chosen | {"action": "remove"})
    assert not is_deleted()
    client.force_login(operator)
    client.post(page, chosen | {"action": "remove"})
    assert is_deleted()
    client.post(f"{page}?deleted=yes", chosen | {"action": "restore"})
    assert not is_deleted()


# --- what depends on what (S0-29) -----------------------------------------------------------------------------------


def test_deleting_an_agent_unbinds_it_everywhere_and_restoring_binds_nothing(acme):
    bound = acme.call("PATCH", acme.path("inbox"), {"agent_id": str(acme.ids["agent"])})
    assert bound.json()["agent_id"] == str(acme.ids["agent"])
    end(acme, "inbox")
    acme.call("DELETE", acme.path("agent"))
    bring_back(acme, "inbox")
    assert acme.call("GET", acme.path("inbox")).json()["agent_id"] is None
    restored = bring_back(acme, "agent")
    assert restored.status == "paused"
    assert acme.call("GET", acme.path("inbox")).json()["agent_id"] is None


@pytest.mark.parametrize("whose", ["deleted", "foreign", "unknown"])
def test_an_inbox_is_never_bound_to_an_agent_that_is_not_there(acme, whose):
    agent_id = {"deleted": acme.ids["agent"], "foreign": None, "unknown": uuid4()}[whose]
    if whose == "deleted":
        end(acme, "agent")
    elif whose == "foreign":
        agent_id = world("globex").ids["agent"]
    for method, path, body in (
        ("PATCH", acme.path("inbox"), {}),
        ("POST", "/inboxes", {"address": "new@acme.test"}),
    ):
        answer = acme.call(method, path, body | {"agent_id": str(agent_id)}, x_request_id="the-same-request")
        assert answer.status_code == 422
        assert answer.json()["errors"] == [
            {"pointer": "/agent_id", "detail": "No agent of this workspace has that id."}
        ]
    from django.db.utils import IntegrityError

    with pytest.raises(IntegrityError), in_workspace(acme.id):
        Inbox.objects.filter(id=acme.ids["inbox"]).update(agent_id=agent_id)


def test_binding_and_deleting_at_once_leave_no_dead_binding(acme):
    import threading

    from django.db import connections

    from kernel.errors import DomainError

    for round_ in range(10):
        agent = configuring.create(workspace_id=acme.id, name=f"Agent {round_}")
        start = threading.Barrier(4)

        def bind(number: int, agent=agent, start=start) -> None:
            start.wait()
            try:
                if number == 3:
                    configuring.delete(workspace_id=acme.id, agent_id=agent.id)
                else:
                    inboxes.change(workspace_id=acme.id, inbox_id=acme.ids["inbox"], changes={"agent_id": agent.id})
            except DomainError:
                pass
            finally:
                connections.close_all()

        threads = [threading.Thread(target=bind, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with in_workspace(acme.id):
            bound = Inbox.objects.get(id=acme.ids["inbox"]).agent_id
            assert bound is None or Agent.objects.filter(id=bound).exists()


def test_an_inbox_whose_domain_was_lost_is_not_restored(acme):
    end(acme, "inbox")
    with in_workspace(acme.id):
        VerifiedDomain.objects.update(state="pending")
    with pytest.raises(CannotRestore):
        bring_back(acme, "inbox")
    with in_workspace(acme.id):
        VerifiedDomain.objects.update(state="verified")
    assert bring_back(acme, "inbox").deleted_at is None


def test_an_agent_whose_provider_is_not_known_any_more_is_not_restored(acme):
    from agents.models import AgentVersion

    end(acme, "agent")
    with in_workspace(acme.id):
        agent = Agent.with_deleted.get()
        AgentVersion.objects.create(
            workspace_id=acme.id, agent=agent, number=2, provider="gone", autonomy="draft",
            limits={"max_steps": 12, "max_cost_micros": 1},
        )  # fmt: skip
        Agent.with_deleted.update(current_version=2)
    with pytest.raises(Conflict, match="cannot be restored"):
        bring_back(acme, "agent")


def test_a_webhook_comes_back_disabled_and_only_when_it_could_be_made_today(acme, settings):
    end(acme, "webhook")
    with in_workspace(acme.id):
        Webhook.with_deleted.update(slugs=["no.such"])
    with pytest.raises(Invalid):
        bring_back(acme, "webhook")
    with in_workspace(acme.id):
        Webhook.with_deleted.update(slugs=["email.*"])
    bring_back(acme, "webhook")
    body = acme.call("GET", acme.path("webhook")).json()
    assert (body["state"], body["disabled_reason"][:9]) == ("disabled", "Restored.")


def test_an_attachment_whose_file_was_removed_is_not_restored(acme):
    from files.models import File
    from kernel import clock

    end(acme, "attachment")
    with in_workspace(acme.id):
        File.objects.update(deleted_at=clock.now())
    with pytest.raises(Conflict):
        bring_back(acme, "attachment")


# --- where a deleted row could shine through ------------------------------------------------------------------------


def test_a_deleted_attachment_is_in_no_conversation_and_no_prompt(acme):
    path = f"/threads/{acme.more['thread']}/entries"
    assert "notes.txt" in acme.call("GET", path).content.decode()
    with in_workspace(acme.id):
        assert conversations.mail_context(email_id=acme.ids["email"]).attachments == ["notes.txt"]
    end(acme, "attachment")
    assert "notes.txt" not in acme.call("GET", path).content.decode()
    assert acme.call("GET", f"/attachments?email_id={acme.ids['email']}").json()["data"] == []
    with in_workspace(acme.id):
        assert conversations.mail_context(email_id=acme.ids["email"]).attachments == []


def test_a_deleted_mail_is_nowhere_to_be_read(acme):
    """No door deletes mail; a row that is marked all the same, by retention say, is out of sight with all that is its."""
    from inbox.models import Email
    from kernel import clock

    with in_workspace(acme.id):
        Email.objects.filter(id=acme.ids["email"]).update(deleted_at=clock.now())
    for path in (acme.path("email"), f"{acme.path('email')}/raw", acme.path("attachment")):
        assert acme.call("GET", path).status_code == 404, path
    assert acme.call("PATCH", acme.path("email"), {"custom_metadata": {}}).status_code == 404
    for path in ("/emails", "/attachments", f"/threads/{acme.more['thread']}/entries", "/emails?state=threaded"):
        assert acme.call("GET", path).json()["data"] == [], path


def test_nothing_is_sent_in_the_name_of_a_deleted_inbox(acme):
    end(acme, "inbox")
    with pytest.raises(replying.InboxGone), in_workspace(acme.id):
        replying.queue_reply(
            email_id=acme.ids["email"], text="Hi", kind=OutboundKind.HUMAN, idempotency_key="k", automatic=False,
            author=SYSTEM,
        )  # fmt: skip


def test_an_external_id_is_of_one_row_also_when_that_row_is_deleted(acme):
    """At the level of the database, where no service can forget it."""
    for model in (Workspace, Inbox, Agent):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_indexes WHERE tablename = %s AND indexdef ~ 'UNIQUE INDEX .*external_id\\)$'",
                [model._meta.db_table],
            )
            assert cursor.fetchone()[0] == 1, model
    with pytest.raises(AddressTaken):
        inboxes.open_inbox(workspace_id=acme.id, address="SUPPORT@acme.test.")
    assert Attachment._meta.get_field("deleted_at")
