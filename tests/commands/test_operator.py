"""The operator's commands, as an operator calls them."""

import json
from io import StringIO
from uuid import uuid4

import pytest
import redis
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.test import Client

from config import health, invariants
from inbox.models import Email, Entry
from kernel import clock, crypto, nudge
from kernel.models import Heartbeat, OutboxEvent
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.models import User, Workspace
from tenancy.services import provisioning
from tests.factories.every import make
from tests.factories.world import deliver, hand_in, house, mail
from webhooks.models import WebhookDelivery
from webhooks.services import claiming


def run(name: str, *arguments: str) -> str:
    out = StringIO()
    call_command(name, *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_bootstrap_makes_an_owner_once(db):
    made = json.loads(run("bootstrap", "--email", "Owner@Example.com", "--domain", "example.com", "--json"))
    assert made["email"] == "owner@example.com"
    owner = User.objects.get()
    assert owner.check_password(made["password"])
    key = {"Authorization": f"Bearer {made['machine_key']}"}
    assert Client().get("/api/v1/workspace", headers=key).json()["id"] == made["workspace_id"]
    with pytest.raises(CommandError, match="has an owner"):
        run("bootstrap", "--email", "second@example.com")
    with in_all_workspaces("counting in a test"):
        assert User.objects.count() == 1
        assert Workspace.objects.exclude(ref="ws_estate").count() == 1, "who comes second leaves nothing behind"


def test_bootstrap_dry_run_makes_nothing(db):
    assert "Would make" in run("bootstrap", "--email", "owner@example.com", "--dry-run")
    said = json.loads(run("bootstrap", "--email", "owner@example.com", "--dry-run", "--json"))
    assert (said["email"], said["dry_run"]) == ("owner@example.com", True)
    assert not User.objects.exists()


def test_ingest_mail_hands_in_files_and_goes_on_after_a_bad_one(db, tmp_path):
    acme = house()
    good, bad = tmp_path / "good.eml", tmp_path / "missing.eml"
    good.write_bytes(mail())
    with pytest.raises(CommandError):
        run("ingest_mail", str(bad), str(good), "--json")
    with in_workspace(acme.id):
        assert Entry.objects.count() == 1
    (again,) = [json.loads(line) for line in run("ingest_mail", str(good), "--json").splitlines()]
    assert again["new"] is False


def test_ingest_mail_dry_run_stores_nothing(db, tmp_path):
    acme = house()
    path = tmp_path / "a.eml"
    path.write_bytes(mail())
    assert json.loads(run("ingest_mail", str(path), "--dry-run", "--json"))["recipients"] == ["support@acme.test"]
    with in_workspace(acme.id):
        assert not Email.objects.exists()


def test_verify_audit_holds_after_work_and_says_where_it_does_not(db):
    acme = house()
    deliver(mail())
    lines = [json.loads(line) for line in run("verify_audit", "--json").splitlines()]
    assert str(acme.id) in {line["workspace_id"] for line in lines}
    assert all(line["first_bad"] is None for line in lines)


def test_doctor_names_faults_and_exits_with_one(db):
    house()
    with pytest.raises(SystemExit):
        run("doctor")
    Heartbeat.objects.create(name="beat", at=clock.now())
    answer = json.loads(run("doctor", "--deep", "--json"))
    assert answer["faults"] == []
    assert len(answer["invariants"]) == len(invariants.CHECKS) + 2


def test_doctor_says_nothing_of_checks_that_the_settings_silence(db, settings):
    Heartbeat.objects.create(name="beat", at=clock.now())
    with pytest.raises(SystemExit):
        run("doctor", "--deploy")
    settings.SILENCED_SYSTEM_CHECKS = [check.id for check in run_checks(include_deployment_checks=True)]
    assert json.loads(run("doctor", "--deploy", "--json"))["faults"] == []


def test_doctor_refuses_a_changed_key(db, settings):
    Heartbeat.objects.create(name="beat", at=clock.now())
    crypto.register_keys()
    settings.ENCRYPTION_KEYS = {1: b"x" * 32}
    with pytest.raises(SystemExit):
        run("doctor")


def test_each_invariant_notices_its_breach(db):
    """The deep checks are not blind: rows that contradict them are counted."""
    acme = house()
    deliver(mail())
    hand_in(mail(sender="b@customer.test"))
    breaches = {
        "every threaded e-mail has exactly one entry": "UPDATE inbox_entry SET email_id = NULL",
        "a thread's counters equal its entries": "UPDATE inbox_thread SET entry_count = 7",
        "no finished message has an unread e-mail": "UPDATE inbox_inboundmessage SET state = 'done'",
        "the open turn is the first unanswered mail of a person": (
            "UPDATE inbox_thread SET first_unanswered_inbound_at = now() - interval '3 days'"
        ),
    }
    from django.db import connection

    for statement in breaches.values():
        with in_workspace(acme.id), connection.cursor() as cursor:
            cursor.execute(statement)
    broken = {finding.name for finding in invariants.deep() if finding.broken}
    assert broken == set(breaches)


def test_health_says_what_is_wrong(db):
    assert Client().get("/healthz").json() == {"status": "ok"}
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert any("scheduler" in fault for fault in answer.json()["faults"])
    Heartbeat.objects.create(name="beat", at=clock.now())
    assert Client().get("/readyz").status_code == 200


def test_health_is_told_to_whoever_knows_only_an_address(db, settings):
    """A container's check and a load balancer ask by address and without TLS; nobody else may."""
    settings.ALLOWED_HOSTS, settings.SECURE_SSL_REDIRECT = ["inbox.example.com"], True
    Heartbeat.objects.create(name="beat", at=clock.now())
    machine = Client(SERVER_NAME="10.0.0.7")
    assert [machine.get(path).status_code for path in ("/healthz", "/readyz")] == [200, 200]
    assert machine.get("/console/", headers={"x-forwarded-proto": "https"}).status_code == 400


def test_a_server_that_hides_its_configuration_is_no_fault(db, settings, monkeypatch):
    Heartbeat.objects.create(name="beat", at=clock.now())
    nudge.client().execute_command("ACL", "SETUSER", "managed", "on", ">secret", "~*", "+@all", "-config")
    pool = nudge.client().connection_pool.connection_kwargs
    managed = redis.Redis(host=pool["host"], port=pool["port"], db=pool["db"], username="managed", password="secret")
    monkeypatch.setattr(nudge, "client", lambda: managed)
    try:
        with pytest.raises(redis.ResponseError):
            managed.config_get("maxmemory-policy")
        assert health.problems() == []
    finally:
        monkeypatch.undo()
        nudge.client().execute_command("ACL", "DELUSER", "managed")


def test_redis_that_is_away_is_a_fault(db, monkeypatch):
    Heartbeat.objects.create(name="beat", at=clock.now())
    monkeypatch.setattr(nudge, "client", lambda: redis.Redis(port=1, socket_connect_timeout=0.2))
    assert [fault for fault in health.problems() if "redis" in fault]


def test_waiting_events_are_a_fault(db):
    Heartbeat.objects.create(name="beat", at=clock.now())
    with in_all_workspaces("a late event in a test"):
        OutboxEvent.objects.create(workspace_id=uuid4(), slug="x.y", aggregate_key="x:1")
        OutboxEvent.objects.update(available_at=clock.now().replace(year=2020))
    assert any("Events wait" in fault for fault in health.problems())


def test_deliveries_that_wait_for_a_dispatcher_are_a_fault(db):
    Heartbeat.objects.create(name="beat", at=clock.now())
    workspace, _ = provisioning.provision(external_id=uuid4(), name="Late")
    with in_workspace(workspace.id):
        make(WebhookDelivery, workspace.id)
        assert health.problems() == []
        WebhookDelivery.objects.update(due_at=clock.now().replace(year=2020))
    assert [fault for fault in health.problems() if "run_webhooks" in fault]
    claiming.beat()
    assert health.problems() == []


def test_the_api_description_is_whole_and_without_warnings(db, tmp_path):
    run("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "openapi.yaml"))
    assert Client().get("/api/docs").status_code == 200
    assert Client().get("/api/schema").status_code == 200
