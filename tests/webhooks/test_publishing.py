"""From the outbox to deliveries: each public event once, for each endpoint that asked, in every workspace."""

import uuid

import jsonschema
import orjson
import pytest
from django.db import connection

from inbox.events import MessageStored, ThreadCreated
from kernel import claims, outbox
from kernel.models import OutboxEvent
from kernel.transactions import in_all_workspaces, in_workspace
from tests.webhooks.conftest import SLUG, dispatch, drain, emit, hook, new_workspace, rows
from webhooks.models import SystemEvent
from webhooks.queries import catalogue
from webhooks.services import claiming, dispatching, subscribing
from webhooks.services.claiming import Quota


@pytest.mark.parametrize(
    ("slugs", "reached"),
    [([SLUG], True), (["workspace.*"], True), (["*"], True), (["email.*"], False), (["email.received", SLUG], True)],
)
def test_an_event_reaches_who_asked_for_it(workspace, receiver, slugs, reached):
    hook(workspace, receiver.url(), slugs)
    emit(workspace)
    dispatch()
    assert bool(receiver.requests) is reached


def test_each_event_and_endpoint_meet_exactly_once(workspace, receiver):
    """The conservation check: events × matching endpoints = deliveries = what arrived."""
    other = new_workspace()
    for place in (workspace, other):
        for number in range(3):
            hook(place, receiver.url(f"/{place}/{number}"))
        hook(place, receiver.url(f"/{place}/deaf"), ["email.*"])
    gone = hook(workspace, receiver.url("/gone"))
    subscribing.delete(workspace_id=workspace, webhook_id=gone.id)
    emit(workspace, 20)
    emit(other, 7)
    drain()
    dispatch()
    assert len(rows(status="delivered")) == len(rows()) == 3 * 20 + 3 * 7
    assert len(receiver.requests) == 81
    for number in range(3):
        assert len(set(receiver.ids(f"/{workspace}/{number}"))) == 20
        assert len(set(receiver.ids(f"/{other}/{number}"))) == 7
    assert not receiver.at("/gone")


def test_private_facts_stay_inside(workspace, receiver):
    hook(workspace, receiver.url(), ["*"])
    with in_workspace(workspace):
        outbox.emit(MessageStored(workspace_id=workspace, inbound_message_id=uuid.uuid4()))
    drain()
    with in_all_workspaces("test"):
        assert not SystemEvent.objects.filter(slug=MessageStored.slug).exists()
    assert rows() == []


def test_the_event_keeps_the_id_of_its_outbox_row_and_its_body_matches_the_schema(workspace, receiver):
    hook(workspace, receiver.url(), ["*"])
    fact = ThreadCreated(workspace_id=workspace, thread_id=uuid.uuid4(), inbox_id=uuid.uuid4())
    with in_workspace(workspace):
        outbox.emit(fact)
    drain()
    dispatch()
    (request,) = receiver.requests
    body = orjson.loads(request.body)
    with in_workspace(workspace):
        event = SystemEvent.objects.get(slug=fact.slug)
    assert request.body.decode() == event.body
    assert body["data"]["id"] == str(event.id) == request.headers["webhook-id"]
    assert body["data"]["thread_id"] == str(fact.thread_id)
    jsonschema.validate(body, catalogue.schema_of(ThreadCreated))


def test_a_redelivered_batch_changes_nothing(workspace, receiver):
    hook(workspace, receiver.url())
    emit(workspace, 3)
    with in_all_workspaces("test"):
        events = [
            claims.Delivered(
                e.id, e.event_id, e.workspace_id, e.slug, e.version, e.aggregate_key, "{}", "{}", e.created_at, 0
            )
            for e in OutboxEvent.objects.filter(payload__ref__startswith="n")
        ]
        dispatching.publish(events=events)
    assert len(rows()) == 3


def test_nobody_hears_of_an_endpoint_s_troubles_at_that_endpoint(workspace, receiver):
    first, second = hook(workspace, receiver.url("/a"), ["*"]), hook(workspace, receiver.url("/b"), ["*"])
    subscribing.disable(workspace_id=workspace, webhook_id=first.id)
    subscribing.enable(workspace_id=workspace, webhook_id=first.id)
    drain()
    dispatch()
    assert sorted(orjson.loads(r.body)["type"] for r in receiver.at("/b")) == ["webhook.disabled", "webhook.enabled"]
    # It hears of the other's beginning, and of nothing about itself.
    heard = [orjson.loads(r.body) for r in receiver.at("/a")]
    assert [(body["type"], body["data"]["webhook_id"]) for body in heard] == [("webhook.created", str(second.id))]
    assert [row.webhook_id for row in rows(system_event__slug__in=["webhook.disabled", "webhook.enabled"])] == [
        second.id
    ] * 2


def test_every_public_event_has_a_description_and_a_schema():
    for entry in catalogue.describe():
        assert entry["description"], entry["slug"]
        jsonschema.Draft202012Validator.check_schema(entry["schema"])
        assert all(entry["schema"]["properties"]["data"]["properties"].values()), entry["slug"]


def test_the_claim_walks_indexes_however_many_rows_are_done(workspace, receiver):
    webhook = hook(workspace, receiver.url())
    emit(workspace, 1)
    with in_all_workspaces("test"), connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO webhooks_webhookdelivery (id, workspace_id, webhook_id, system_event_id, replay_no, status)"
            " SELECT gen_random_uuid(), workspace_id, webhook_id, system_event_id, n, 'delivered'"
            " FROM webhooks_webhookdelivery, generate_series(1, 5000) n"
        )
    with in_all_workspaces("test"), connection.cursor() as cursor:
        quota = Quota(str(webhook.id), 10)
        for statement, values in (
            (claiming.SURVEY, None),
            (claiming.CHOOSE, {"webhooks": [quota.webhook_id], "counts": [10], "ordered": [False]}),
            (claiming.CHOOSE, {"webhooks": [quota.webhook_id], "counts": [10], "ordered": [True]}),
        ):
            cursor.execute("EXPLAIN " + statement, values)
            plan = "\n".join(row[0] for row in cursor.fetchall())
            assert "Seq Scan on webhooks_webhookdelivery" not in plan, plan


def test_the_life_of_a_webhook_is_told_to_the_others_and_never_to_itself(workspace, receiver, api):
    """By what is done to it over HTTP, in its order; whoever tries and is refused, or changes nothing, tells nothing."""
    hook(workspace, receiver.url("/watch"), ["webhook.*"], ordered=True)
    hook(new_workspace(), receiver.url("/abroad"), ["*"])
    made = api("POST", "/webhooks", {"url": receiver.url("/own"), "slugs": ["*"]}).json()
    path = f"/webhooks/{made['id']}"
    told = ["webhook.created"]
    for method, where, body, slug in (
        ("PATCH", path, {"label": "ERP"}, "webhook.updated"),
        ("PATCH", path, {"slugs": ["nope"]}, None),
        ("POST", f"{path}/rotate-secret", None, "webhook.secret_rotated"),
        ("POST", f"{path}/enable", {}, None),
        ("POST", f"{path}/disable", None, "webhook.disabled"),
        ("POST", f"{path}/disable", None, None),
        ("POST", f"{path}/enable", {}, "webhook.enabled"),
    ):
        api(method, where, body)
        drain()
        told += [slug] if slug else []
        assert rows(webhook_id=made["id"]) == [], slug
    api("DELETE", path)
    drain()
    told.append("webhook.deleted")
    dispatch(lambda: len(receiver.at("/watch")) >= len(told))
    bodies = [orjson.loads(request.body) for request in receiver.at("/watch")]
    assert [body["type"] for body in bodies] == told
    known = catalogue.public_events()
    for body in bodies:
        assert body["data"]["webhook_id"] == made["id"]
        jsonschema.validate(body, catalogue.schema_of(known[body["type"]]))
    assert bodies[told.index("webhook.enabled")]["data"]["replayed"] == 0
    assert receiver.at("/own") == receiver.at("/abroad") == []
