"""The trail as people and programs use it: narrowed, verified, taken out, redacted, anchored elsewhere."""

import csv
import hashlib
import io
import json
from uuid import uuid4

import boto3
import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.urls import reverse

from audit import queries, services, storage
from audit.models import AuditAnchor, AuditEvent, AuditPayload
from kernel.transactions import in_workspace
from tests.api.conftest import Caller
from tests.audit.test_chain import act, tamper
from tests.console import seed
from tests.console.conftest import signed_in
from tests.factories.world import house
from tests.world.aws import CREDENTIALS, REGION, moto


@pytest.fixture
def acme(db, settings):
    settings.API_RATE_LIMIT = 0
    return house()


def events(place) -> list[AuditEvent]:
    with in_workspace(place.id):
        return list(AuditEvent.objects.order_by("sequence"))


def content(answer) -> bytes:
    return b"".join(answer.streaming_content)


def test_the_list_is_narrowed_by_each_of_its_filters(acme):
    caller = Caller(acme.id)
    caller("POST", "/webhooks", {"url": "https://a.test/x", "slugs": ["*"]}, X_Request_Id="request-0001")
    caller("POST", "/webhooks", {"url": "nonsense", "slugs": ["*"]}, X_Request_Id="request-0002")
    every = caller.get("/audit-events?limit=100").json()["data"]
    assert [row["sequence"] for row in every] == list(range(len(every), 0, -1))
    made = next(row for row in every if row["action"] == "webhook.create" and row["outcome"] == "done")
    assert (made["actor"]["kind"], made["request_id"]) == ("machine_key", "request-0001")
    for name, value in {
        "action": "webhook.create", "actor_kind": "machine_key", "actor_id": str(caller.key_id), "outcome": "done",
        "resource_kind": "webhook", "resource_id": made["resource_id"], "request_id": "request-0001",
        "created_at__gte": made["created_at"],
    }.items():  # fmt: skip
        rows = caller.get(f"/audit-events?{name}={value}").json()["data"]
        assert made["id"] in [row["id"] for row in rows], name
        assert len(rows) < len(every) or name == "outcome"
    assert caller.get(f"/audit-events/{made['id']}").json() == made
    failed = caller.get("/audit-events?outcome=failed").json()["data"]
    assert [(row["action"], row["request_id"]) for row in failed] == [("webhook.create", "request-0002")]
    assert caller("POST", "/audit-events", {}).status_code == 405
    theirs = Caller(house("globex").id)
    assert theirs.get(f"/audit-events/{made['id']}").status_code == 404
    assert made["id"] not in str(theirs.get("/audit-events?limit=100").json())


def test_verification_over_http_names_the_first_bad_link(acme):
    caller = Caller(acme.id)
    act(acme.id, count=5)
    good = caller.get("/audit-events/verification").json()
    assert (good["holds"], good["checked"], good["first_bad"]) == (True, len(events(acme)), None)
    tamper(acme.id, "UPDATE {e} SET outcome = 'dine' WHERE {w} AND sequence = 3")
    bad = caller.get("/audit-events/verification").json()
    assert (bad["holds"], bad["first_bad"], "column" in bad["fault"]) == (False, 3, True)


def test_an_export_can_be_verified_by_itself(acme):
    caller = Caller(acme.id)
    act(acme.id, count=4)
    answer = caller.get("/audit-events/export")
    rows = [json.loads(line) for line in content(answer).splitlines()]
    assert answer["Content-Disposition"] == 'attachment; filename="audit.jsonl"'
    last = events(acme)[-1]
    assert (last.action, last.resource_kind, len(rows)) == ("audit.export", "audit_trail", last.sequence - 1)
    head = hashlib.sha256(str(acme.id).encode()).digest()
    for number, row in enumerate(rows, 1):
        assert bytes.fromhex(row["previous_hash"]) == head
        head = hashlib.sha256(head + row["body"].encode()).digest()
        assert (row["sequence"], bytes.fromhex(row["hash"])) == (number, head)
        assert json.loads(row["body"])[2] == row["id"]
    narrowed = caller.get("/audit-events/export?file_format=csv&action=test.act")
    table = list(csv.DictReader(io.StringIO(content(narrowed).decode())))
    assert [(row["action"], json.loads(row["details"])) for row in table] == [("test.act", {"n": n}) for n in range(4)]
    assert events(acme)[-1].action == "audit.export"
    with in_workspace(acme.id):
        details = AuditPayload.objects.get(event_id=events(acme)[-1].id).payload
    assert (details["format"], details["narrowed_by"]) == ("csv", ["action"])
    assert caller.get("/audit-events/export?file_format=xml").status_code == 400
    assert Caller(acme.id, "audit.read").get("/audit-events/export").json()["permission"] == "audit.export"


def test_a_spreadsheet_takes_nothing_of_an_export_for_a_formula(acme):
    for label in ("=1+1", "+1", "-1", "@x", "\t=1"):
        act(acme.id, action=label)
    table = csv.DictReader(io.StringIO(content(Caller(acme.id).get("/audit-events/export?file_format=csv")).decode()))
    assert not [cell for row in table for cell in row.values() if cell.startswith(("=", "+", "-", "@", "\t"))]


def test_redaction_empties_the_details_keeps_the_chain_and_is_recorded(acme):
    caller = Caller(acme.id)
    act(acme.id, count=3)
    target = events(acme)[-1]
    path = f"/audit-events/{target.id}"
    for body, status in (({}, 422), ({"reason": " "}, 422), ({"reason": "x" * 501}, 422)):
        assert caller("POST", f"{path}/redact", body).status_code == status
    shown = caller("POST", f"{path}/redact", {"reason": "Erasure 4711"}).json()
    assert (shown["details"], shown["redacted_at"] is not None, shown["hash"]) == ({}, True, bytes(target.hash).hex())
    assert caller("POST", f"{path}/redact", {"reason": "again"}).status_code == 409
    assert queries.verify(acme.id).holds
    note = next(event for event in events(acme) if event.action == "audit.redact" and event.outcome == "done")
    assert (note.resource_kind, note.resource_id, note.actor_id) == ("audit_event", str(target.id), str(caller.key_id))
    with in_workspace(acme.id):
        assert AuditPayload.objects.get(event_id=note.id).payload == {"reason": "Erasure 4711"}
    assert caller("POST", f"/audit-events/{uuid4()}/redact", {"reason": "x"}).status_code == 404
    other = Caller(house("globex").id)
    assert other("POST", f"{path}/redact", {"reason": "x"}).status_code == 404


def test_nobody_redacts_without_a_record_of_it(acme):
    """Not by SQL either: the runtime role has the function, which records by itself, and nothing else."""
    act(acme.id)
    target, before = events(acme)[-1], len(events(acme))
    entry = json.dumps({
        "id": str(uuid4()), "actor_kind": "system", "actor_id": "", "actor_label": "", "request_id": "", "execution_id": None,
        "payload": {}, "action": "nothing.happened", "resource_id": "1", "resource_kind": "x", "outcome": "done",
    })  # fmt: skip
    with in_workspace(acme.id), connection.cursor() as cursor:
        cursor.execute("SELECT audit_redact_v1(%s, %s, %s::jsonb)", [acme.id, target.id, entry])
    after = events(acme)
    assert [(event.action, event.resource_id) for event in after[before:]] == [("audit.redact", str(target.id))]
    with pytest.raises(DatabaseError, match="permission denied"), in_workspace(acme.id):
        AuditPayload.objects.filter(event_id=target.id).update(payload={})
    act(acme.id)
    theirs = house("globex")
    with in_workspace(theirs.id), connection.cursor() as cursor:
        cursor.execute("SELECT audit_redact_v1(%s, %s, %s::jsonb)", [theirs.id, events(acme)[-1].id, entry])
        assert cursor.fetchone() == (False,)


def test_anchors_lie_in_a_bucket_and_convict_who_rewrites_the_database(acme, settings, monkeypatch, tmp_path, capsys):
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    storage._client.cache_clear()
    act(acme.id, count=6)
    with moto() as endpoint:
        settings.AWS_ENDPOINT_URL, settings.ANCHOR_S3 = endpoint, "witness/estate"
        client = boto3.client("s3", region_name=REGION, endpoint_url=endpoint)
        with pytest.raises(Exception, match="NoSuchBucket"):
            services.anchor_all(directory=tmp_path, bucket=settings.ANCHOR_S3)
        with in_workspace(acme.id):
            assert not AuditAnchor.objects.exists()  # half of an anchor is none
        client.create_bucket(Bucket="witness", CreateBucketConfiguration={"LocationConstraint": REGION})
        assert services.anchor_all(directory=tmp_path, bucket=settings.ANCHOR_S3) >= 1
        (found,) = client.list_objects_v2(Bucket="witness")["Contents"]
        assert found["Key"].startswith("estate/anchors-")
        length = len(events(acme))
        shown = Caller(acme.id).get("/audit-anchors").json()["data"]
        assert [row["sequence"] for row in shown] == [length]
        # The owner cuts the tail off, puts the head back, and empties the table of anchors and the folder.
        tamper(
            acme.id,
            f"DELETE FROM {{e}} WHERE {{w}} AND sequence > {length - 2}",
            f"UPDATE audit_auditchain SET sequence = {length - 2}, head = (SELECT hash FROM {{e}} WHERE {{w}}"
            f" AND sequence = {length - 2}) WHERE {{w}}",
            "DELETE FROM audit_auditpayload p WHERE {w} AND NOT EXISTS (SELECT FROM {e} e WHERE e.id = p.event_id)",
            "DELETE FROM audit_auditanchor WHERE {w}",
        )
        assert queries.verify(acme.id).holds
        with pytest.raises(SystemExit):
            call_command("verify_audit", workspace=acme.id, anchors=tmp_path / "nothing")
        assert f"broken at {length - 1}: cut" in capsys.readouterr().out
    storage._client.cache_clear()


# --- the console --------------------------------------------------------------------------------------------------


@pytest.fixture
def place(db):
    return seed.workspace("Acme", seed.person("owner@acme.example"), "acme.example")


def test_the_console_verifies_exports_and_redacts(place):
    owner = signed_in(place.owner)
    act(place.workspace.id, count=3)
    page = reverse("admin:audit_auditevent_changelist")
    assert b"Verify now" in owner.get(page).content
    said = owner.post(reverse("admin:audit_verify"), {"next": page}, follow=True).content.decode()
    assert "The chain holds" in said
    taken = owner.get(reverse("admin:audit_export") + "?form=jsonl&outcome=done&q=test.act")
    rows = [json.loads(line) for line in content(taken).splitlines()]
    assert [row["action"] for row in rows] == ["test.act"] * 3
    event = rows[0]["id"]
    shown = owner.get(reverse("admin:audit_auditevent_change", args=[event])).content.decode()
    assert "Empty the details" in shown
    url = reverse("admin:audit_redact", args=[event])
    assert "Say why" in owner.post(url, {"reason": "", "next": page}, follow=True).content.decode()
    assert "details are gone" in owner.post(url, {"reason": "Erasure", "next": page}, follow=True).content.decode()
    assert "redacted" in owner.get(reverse("admin:audit_auditevent_change", args=[event])).content.decode()
    tamper(place.workspace.id, "UPDATE {e} SET outcome = 'dine' WHERE {w} AND sequence = 2")
    said = owner.post(reverse("admin:audit_verify"), {"next": page}, follow=True).content.decode()
    assert "broken" in said
    assert "link 2" in said


def test_the_console_shows_tools_only_to_those_who_may(place):
    person = seed.person("auditor@acme.example")
    seed.member(person, place.workspace, "audit.read", "workspace.read")
    client = signed_in(person)
    page = client.get(reverse("admin:audit_auditevent_changelist")).content.decode()
    assert ("Verify now" in page, "Export CSV" in page) == (True, False)
    event = events_of(place)[0]
    assert (
        "Empty the details"
        not in client.get(reverse("admin:audit_auditevent_change", args=[event.id])).content.decode()
    )
    for url in (reverse("admin:audit_redact", args=[event.id]),):
        assert client.post(url, {"reason": "x"}).status_code == 403
    assert client.get(reverse("admin:audit_export") + "?form=csv").status_code == 403
    with in_workspace(place.workspace.id):
        assert AuditPayload.objects.get(event_id=event.id).redacted_at is None


def events_of(place) -> list[AuditEvent]:
    act(place.workspace.id)
    with in_workspace(place.workspace.id):
        return list(AuditEvent.objects.order_by("sequence"))
