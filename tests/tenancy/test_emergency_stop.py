"""The brake itself: by API and command, audited, told, and durable. What it holds back is tested where it would leave."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection

from audit.models import AuditEvent
from kernel.context import Actor, acting_as
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tenancy.models import WorkspaceControlState
from tenancy.queries import control
from tenancy.services import stopping
from tests.factories.every import workspace
from tests.resources.nine import Caller
from tests.tenancy.test_provisioning import together


@pytest.fixture
def house(db):
    return workspace()


def test_stop_and_release_over_http(house):
    call = Caller(house.id)
    assert call("GET", "/emergency-stop").json() == {
        "object": "emergency_stop",
        "stopped": False,
        "generation": 1,
        "reason": "",
        "changed_by": {"kind": "", "id": "", "label": ""},
        "changed_at": None,
    }
    stopped = call("POST", "/emergency-stop", {"reason": "The agent promises refunds."})
    body = stopped.json()
    assert (stopped.status_code, body["stopped"], body["generation"]) == (200, True, 2)
    assert (body["reason"], body["changed_by"]["kind"]) == ("The agent promises refunds.", "machine_key")
    again = call("POST", "/emergency-stop", {"reason": "Once more."})
    assert again.json() == body, "the first stop stands"
    released = call("DELETE", "/emergency-stop").json()
    assert (released["stopped"], released["generation"]) == (False, 3)
    assert call("DELETE", "/emergency-stop").json()["code"] == "workspace_not_stopped"
    assert call("POST", "/emergency-stop", {"reason": "  "}).status_code == 422
    with in_workspace(house.id):
        trail = AuditEvent.objects.filter(action__in=["workspace.stop", "workspace.resume"]).order_by("sequence")
        assert [row.action for row in trail] == ["workspace.stop", "workspace.resume"]
        facts = OutboxEvent.objects.filter(slug__in=["workspace.stopped", "workspace.resumed"]).order_by("id")
        assert [row.slug for row in facts] == ["workspace.stopped", "workspace.resumed"]


@pytest.mark.parametrize(
    ("scopes", "allowed"),
    [
        (["workspace.read"], {"GET"}),
        (["workspace.stop"], {"POST"}),
        (["workspace.resume"], {"DELETE"}),
        (["email.*"], set()),
        (["*"], {"GET", "POST", "DELETE"}),
    ],
)
def test_each_turn_needs_its_permission(house, scopes, allowed):
    call = Caller(house.id, *scopes)
    for method in ("GET", "POST", "DELETE"):
        answer = call(method, "/emergency-stop", {"reason": "a drill"} if method == "POST" else None)
        assert (answer.status_code != 403) == (method in allowed), method


def test_the_command(house):
    def run(*arguments: str) -> dict:
        out = StringIO()
        call_command("emergency_stop", house.ref, *arguments, "--json", stdout=out)
        return json.loads(out.getvalue())

    assert run()["stopped"] is False
    done = run("--reason", "hands off")
    assert (done["stopped"], done["generation"], done["changed_by"]) == (True, 2, "command line")
    out = StringIO()
    call_command("emergency_stop", house.ref, "--release", "--dry-run", stdout=out)
    assert out.getvalue().startswith("Would release")
    assert (run("--release", "--dry-run")["would"], run("--dry-run")["would"]) == ("release", "look at")
    assert control.state(house.id).stopped
    assert run("--release")["generation"] == 3
    with pytest.raises(CommandError, match="not stopped"):
        run("--release")
    with pytest.raises(CommandError, match="No workspace"):
        call_command("emergency_stop", "ws_unknown", "--reason", "x")


def test_of_many_who_stop_and_release_at_once_each_turn_is_one(house):
    outcomes = together(8, lambda n: stopping.stop(workspace_id=house.id, reason=f"hand {n}").generation)
    assert outcomes == {2: 8}

    def release(_: int) -> str:
        stopping.release(workspace_id=house.id)
        return "released"

    assert together(8, release) == {"released": 1, "NotStopped": 7}
    assert control.state(house.id).generation == 3


def test_the_database_keeps_the_row_and_its_generations(house):
    with in_workspace(house.id):
        row = WorkspaceControlState.objects.get()
    assert (row.generation, row.stopped) == (1, False)
    for change in (
        "generation = 0",
        "stopped = true, reason = 'x', changed_at = now()",
        "stopped = true, generation = 9",
    ):
        with pytest.raises(DatabaseError), in_workspace(house.id), connection.cursor() as cursor:
            cursor.execute(f"UPDATE tenancy_workspacecontrolstate SET {change}")
    other = workspace("globex")
    with in_workspace(house.id), connection.cursor() as cursor:
        cursor.execute("UPDATE tenancy_workspacecontrolstate SET generation = 99 WHERE workspace_id = %s", [other.id])
        assert cursor.rowcount == 0


def test_who_did_it_is_kept_beside_it(house):
    with acting_as(Actor(kind="user", id="7", label="Pat Person")):
        stopping.stop(workspace_id=house.id, reason="a  drill\n now")
    row = control.state(house.id)
    assert (row.actor_label, row.reason) == ("Pat Person", "a drill now")
    assert control.generation(house.id) is None
    assert not control.is_current(workspace_id=house.id, generation_claimed=row.generation)
