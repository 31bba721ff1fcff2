"""Nothing of another workspace: not by id, list, search, filter, autocomplete, palette, download or bulk action."""

import uuid

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from agents.models import ApprovalRequest
from config.console.urls import patterns
from contacts.models import ContactProfile
from inbox.models import Attachment, Email, InboundMessage, OutboundMessage
from kernel.transactions import in_all_workspaces, in_workspace
from tests.console import seed
from tests.console.conftest import signed_in
from webhooks.models import SystemEvent, WebhookDelivery

# What only A has, and would be seen if anything leaked.
MARKS = (
    "Lindgren",
    "lindgren.example",
    "Nora",
    "haddad",
    "Order system",
    "Lamp arrived broken",
    "reakage",
    "parcels.example",
)


def registered():
    return sorted(admin.site._registry.items(), key=lambda pair: pair[0]._meta.label)


def changelist(model):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def rows_of(world):
    """A row of A of every registered model that it has one of."""
    with in_workspace(world.workspace.id):
        for model, _ in registered():
            row = model._base_manager.order_by().first()
            if row is not None and model._meta.model_name != "user":
                yield model, row


def leaks(response):
    text = response.content.decode(errors="replace")
    return [mark for mark in MARKS if mark in text]


def test_the_sender_of_the_marks_is_seen_by_its_own_people(mika, world):
    """The guard of the other tests: the marks do show where they may."""
    seen = {mark for model, _ in registered() for mark in leaks(mika.get(changelist(model) + "?view=all"))}
    assert seen == set(MARKS)


def test_every_page_asks_who_is_there(world):
    for pattern in patterns(admin.site):
        arguments = {name: uuid.uuid4() for name in pattern.pattern.converters}
        response = Client().get(reverse(f"admin:{pattern.name}", kwargs=arguments))
        assert (response.status_code, response["Location"].split("?")[0]) == (302, "/console/login/"), pattern.name
    for model, _ in registered():
        assert Client().get(changelist(model)).status_code == 302
    assert Client().get("/").status_code == 302


def test_staff_without_a_workspace_are_told_so(world):
    for user in (seed.person("nobody@x.example"), seed.person("customer@x.example", staff=False)):
        client = signed_in(user)
        for path in ("/console/", "/console/inbox/thread/", "/console/search/?s=a", "/console/approvals/"):
            response = client.get(path)
            assert response.status_code == 403
            assert not leaks(response)
        assert client.post("/console/logout/").headers["Location"] == "/console/login/"


def test_a_suspended_member_is_out(world):
    user = seed.person("gone@x.example")
    membership = seed.member(user, world.workspace, "thread.read")
    assert signed_in(user).get("/console/inbox/thread/").status_code == 200
    with in_workspace(world.workspace.id):
        type(membership).objects.filter(id=membership.id).update(status="suspended")
    assert signed_in(user).get("/console/inbox/thread/").status_code == 403


def test_lists_searches_and_filters(kim, world):
    with in_workspace(world.workspace.id):
        delivery, email = WebhookDelivery.objects.first(), Email.objects.first()
    filters = {
        "thread": f"?inbox={world.inbox.id}&view=all",
        "email": f"?inbox__id__exact={world.inbox.id}&q={email.id}",
        "agentrun": f"?agent__id__exact={world.agent.id}",
        "webhookdelivery": f"?webhook__id__exact={delivery.webhook_id}",
        "membership": f"?workspace__id__exact={world.workspace.id}",
    }
    for model, _ in registered():
        queries = (
            "?view=all",
            "?q=broken",
            "?q=nora&view=all",
            "?deleted=yes",
            filters.get(model._meta.model_name, ""),
        )
        for query in queries:
            response = kim.get(changelist(model) + query, follow=True)
            # What is the installation's is not theirs to look at, whatever their roles.
            of_estate = model._meta.model_name in ("revokedsigningkey", "loginevent")
            allowed = (403,) if of_estate else (200, 400)
            assert response.status_code in allowed, (model, query)
            assert not leaks(response), (model, query)


def test_raw_ids(kim, world):
    """Every page of a row, custom or the admin's: not found, or back home with nothing said."""
    for model, row in rows_of(world):
        for page in ("change", "history", "delete"):
            name = f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}"
            response = kim.get(reverse(name, args=[row.pk]), follow=True)
            assert not leaks(response), (model, page)
            assert page != "change" or response.status_code == 404 or response.redirect_chain, model


def test_pages_and_deeds_of_other_rows_do_not_exist(kim, world):
    with in_workspace(world.workspace.id):
        ids = {
            "thread_id": world.threads["lamp"].id,
            "entry_id": world.extra["entry"].id,
            "attachment_id": Attachment.objects.get().id,
            "email_id": Email.objects.first().id,
            "message_id": world.extra["quarantined"].id,
            "approval_id": world.approvals["lamp"].id,
            "run_id": world.runs["answered"].id,
            "outbound_id": OutboundMessage.objects.get(state="uncertain").id,
            "webhook_id": world.extra["webhook"].id,
            "delivery_id": world.extra["failed_delivery"].id,
            "change_id": world.extra["change"].id,
            "view_id": world.extra["view"].id,
            "event_id": SystemEvent.objects.first().id,
        }
    for pattern in patterns(admin.site):
        names = list(pattern.pattern.converters)
        if not names or pattern.name == "webhook_edit":
            continue
        url = reverse(f"admin:{pattern.name}", kwargs={name: ids[name] for name in names})
        body = {
            "text": "hello",
            "note": "hello",
            "deed": "closed",
            "email": ids["email_id"],
            "key": uuid.uuid4(),
            "to": "off",
            "arrived": "no",
        }
        statuses = {kim.get(url).status_code, kim.post(url, body).status_code}
        assert statuses <= {404, 405}, (pattern.name, statuses)
        assert 404 in statuses, pattern.name
    with in_workspace(world.workspace.id):
        assert ApprovalRequest.objects.get(id=ids["approval_id"]).state == "pending"
        assert not WebhookDelivery.objects.filter(replay_no__gt=0).exists()
        assert OutboundMessage.objects.get(id=ids["outbound_id"]).state == "uncertain"


def test_bulk_actions_leave_other_rows_alone(kim, world):
    quarantined, failed = world.extra["quarantined"], world.extra["failed_delivery"]
    for model, row, action in (
        (InboundMessage, quarantined, "replay"),
        (WebhookDelivery, failed, "replay"),
        (type(world.extra["webhook"]), world.extra["webhook"], "disable"),
        (type(world.agent), world.agent, "pause"),
        (type(world.inbox), world.inbox, "deactivate"),
    ):
        body = {"action": action, "_selected_action": [str(row.pk)], "select_across": "1", "index": "0"}
        kim.post(changelist(model) + "?view=all", body, follow=True)
    with in_workspace(world.workspace.id):
        quarantined.refresh_from_db()
        world.agent.refresh_from_db()
        world.inbox.refresh_from_db()
        world.extra["webhook"].refresh_from_db()
        assert quarantined.state == "quarantined"
        assert (world.agent.status, world.inbox.active, world.extra["webhook"].state) == ("active", True, "active")
        assert not WebhookDelivery.objects.filter(replay_no__gt=0).exists()


def test_autocomplete_and_palette(kim, world):
    for app, model, field in (
        ("inbox", "thread", "inbox"),
        ("inbox", "email", "inbox"),
        ("agents", "agentrun", "agent"),
    ):
        query = {"app_label": app, "model_name": model, "field_name": field, "term": ""}
        response = kim.get("/console/autocomplete/", query)
        assert not leaks(response)
    for term in ("lamp", "nora", "haddad", "lindgren"):
        assert not leaks(kim.get("/console/search/", {"s": term, "extended": "1"}))
        assert not leaks(kim.get("/console/search/", {"s": term}))


def test_the_palette_keeps_nothing_between_workspaces(world, other):
    """The same person, the same word, another workspace."""
    seed.member(world.owner, other.workspace)
    client = signed_in(world.owner)
    assert leaks(client.get("/console/search/", {"s": "lamp", "extended": "1"}))
    client.post("/console/workspace/", {"workspace": str(other.workspace.id)})
    assert not leaks(client.get("/console/search/", {"s": "lamp", "extended": "1"}))


@pytest.mark.parametrize("wanted", ["theirs", "all", "nonsense", "00000000-0000-4000-8000-000000000000"])
def test_nobody_chooses_a_workspace_that_is_not_theirs(kim, world, wanted):
    wanted = str(world.workspace.id) if wanted == "theirs" else wanted
    assert kim.post("/console/workspace/", {"workspace": wanted}).status_code == 404
    session = kim.session
    session["console_workspace"] = wanted
    session.save()
    assert not leaks(kim.get("/console/inbox/thread/?view=all"))


def test_an_operator_must_choose_a_workspace_or_all(world, other):
    client = signed_in(seed.person("root@x.example", operator=True))

    def sees():
        return b"Lamp arrived broken" in client.get("/console/inbox/thread/?view=all").content

    asked = client.get("/console/inbox/thread/?view=all")
    assert (asked.status_code, asked["Location"]) == (302, "/console/workspace/")
    assert b"Act estate-wide" in client.get("/console/workspace/").content
    client.post("/console/workspace/", {"workspace": str(other.workspace.id)})
    assert not sees()
    client.post("/console/workspace/", {"workspace": "all"})
    assert sees()
    with in_all_workspaces("the test looks at both"):
        for model, _ in registered():
            assert client.get(changelist(model)).status_code == 200, model
    assert client.get("/console/").status_code == 200


def test_roles_open_pages_and_deeds(world):
    """A reader reads conversations; deciding, webhooks and the audit trail are not theirs."""
    user = seed.person("reader@x.example")
    seed.member(user, world.workspace, "workspace.read", "thread.read", "approval.read")
    client = signed_in(user)
    page = client.get(reverse("admin:inbox_thread_change", args=[world.threads["lamp"].id]))
    assert page.status_code == 200
    assert b"Approve and send" not in page.content
    assert b"Send reply" not in page.content
    assert client.get("/console/approvals/").status_code == 200
    decision = client.post(reverse("admin:approve", args=[world.approvals["lamp"].id]))
    assert decision.status_code == 403
    assert b"approval.decide" in decision.content
    for path in ("/console/webhooks/webhook/", "/console/audit/auditevent/", "/console/tenancy/machinekey/"):
        assert client.get(path).status_code == 403
    home = client.get("/console/").content.decode()
    assert "Conversations" in home
    assert "Audit trail" not in home


def test_readers_may_look_at_settings_and_not_change_them(world):
    user = seed.person("looker@x.example")
    seed.member(user, world.workspace, "workspace.read", "agent.read", "inbox.read", "webhook.read", "contact.read")
    client = signed_in(user)
    with in_workspace(world.workspace.id):
        profile = ContactProfile.objects.filter(display_name="Nora Haddad").get()
    for row in (world.agent, world.inbox, world.extra["webhook"], profile):
        url = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
        page = client.get(url)
        assert page.status_code == 200, url
        assert b'name="_save"' not in page.content
        assert client.post(url, {"name": "mine"}).status_code in (403, 200), url
    with in_workspace(world.workspace.id):
        world.agent.refresh_from_db()
    assert world.agent.name == "Support"
    assert client.get("/console/agents/agent/add/").status_code == 403
    assert b"nora@haddad.example" in page.content
