"""Operators of the installation: they choose, they are named as what they are, and all that they do is in the trail."""

import pytest
from django.urls import reverse

from audit.models import AuditEvent, AuditPayload
from kernel.context import ESTATE
from kernel.transactions import in_workspace
from tests.console import seed
from tests.console.conftest import signed_in


@pytest.fixture
def operator(world):
    return signed_in(seed.person("root@x.example", name="Root Operator", operator=True))


def trail(workspace_id):
    with in_workspace(workspace_id):
        rows = AuditEvent.objects.filter(workspace_id=workspace_id, actor_kind="operator").order_by("sequence")
        said = dict(AuditPayload.objects.filter(event_id__in=rows.values("id")).values_list("event_id", "payload"))
        return [(row.action, row.actor_label, said[row.id].get("chosen", "")) for row in rows]


def test_nothing_opens_before_the_choice(operator, world):
    for path in ("/console/", "/console/inbox/thread/", "/console/tenancy/workspace/", "/console/approvals/"):
        answer = operator.get(path)
        assert (answer.status_code, answer["Location"]) == (302, "/console/workspace/"), path
    url = reverse("admin:reject", args=[world.approvals["lamp"].id])
    assert operator.post(url)["Location"] == "/console/workspace/"
    assert world.workspace.name.encode() in operator.get("/console/workspace/").content


def test_each_act_in_a_workspace_is_in_its_trail(operator, world):
    operator.post("/console/workspace/", {"workspace": str(world.workspace.id)})
    operator.post(reverse("admin:reject", args=[world.approvals["lamp"].id]), {"comment": "no"})
    found = trail(world.workspace.id)
    assert ("operator.enter", "Root Operator (as operator)", world.workspace.ref) in found
    assert ("operator.act", "Root Operator (as operator)", world.workspace.ref) in found
    assert "approval.decide" in [action for action, _, _ in found]
    assert b"You act as operator" in operator.get("/console/").content


def test_each_act_on_the_estate_is_in_the_trail_of_the_estate(operator, world):
    operator.post("/console/workspace/", {"workspace": "all"})
    operator.post("/console/tenancy/revokedsigningkey/add/", {"kid": "old", "reason": "leaked"})
    found = trail(ESTATE)
    label = "Root Operator (as operator, estate-wide)"
    assert found[0] == ("operator.enter", label, "estate-wide")
    assert ("operator.act", label, "estate-wide") in found
    assert trail(world.workspace.id) == []


def test_in_a_workspace_of_their_own_they_are_a_member(world):
    user = seed.person("both@x.example", operator=True)
    seed.member(user, world.workspace, "workspace.read", "thread.read")
    client = signed_in(user)
    assert client.get("/console/inbox/thread/").status_code == 200
    assert client.get("/console/webhooks/webhook/").status_code == 403
    assert client.get("/console/tenancy/revokedsigningkey/").status_code == 403
    client.post("/console/workspace/", {"workspace": "all"})
    assert client.get("/console/tenancy/revokedsigningkey/").status_code == 200


def test_who_is_no_operator_any_more_is_out_at_the_next_click(operator, world):
    operator.post("/console/workspace/", {"workspace": "all"})
    assert operator.get("/console/tenancy/workspace/").status_code == 200
    from tenancy.models import User

    User.objects.filter(email="root@x.example").update(is_operator=False)
    assert operator.get("/console/tenancy/workspace/").status_code == 403


def test_there_is_no_stop_for_all_of_them(operator, world):
    operator.post("/console/workspace/", {"workspace": "all"})
    answer = operator.post(reverse("admin:emergency_stop"), {"reason": "all"}, follow=True)
    assert b"Choose the workspace to stop" in answer.content
