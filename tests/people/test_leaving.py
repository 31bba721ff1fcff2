"""Who is suspended or removed goes on through nothing that they had let in: no key, no certificate, no invitation."""

from typing import Any

import pytest
from django.test import Client

from audit.models import AuditEvent, AuditPayload
from kernel import context
from kernel.context import Actor
from kernel.transactions import in_workspace
from tenancy.models import ClientCertificate, Invitation, MachineKey
from tenancy.services import certificates, inviting, keys, people
from tests.api.conftest import Caller
from tests.console import seed
from tests.people.conftest import knock, open_office
from tests.tenancy.certificates import certificate, pem


@pytest.fixture
def issued(office) -> dict[str, Any]:
    """What Bo had let in, and what that let in; and what Ada had."""

    def key(who: Actor, name: str) -> tuple[MachineKey, str]:
        with context.acting_as(who):
            return keys.issue(workspace_id=office.id, name=name, scopes=["workspace.read"])

    bo, ada = (Actor("user", str(one.pk), one.name) for one in (office.bo, office.ada))
    own, secret = key(bo, "own")
    gone, _ = key(bo, "gone")
    later = [key(Actor("machine_key", str(one.id), one.name), f"of {one.name}")[1] for one in (own, gone)]
    keys.revoke(workspace_id=office.id, key_id=gone.id)
    _, of_ada = key(ada, "ada's")
    with context.acting_as(bo):
        row = certificates.register(workspace_id=office.id, pem=pem(certificate()), name="c", scopes=["workspace.read"])
        _, link = inviting.invite(workspace_id=office.id, email="mine@else.test", role_ids=[office.agent_role.id])
    with context.acting_as(ada):
        _, hers = inviting.invite(workspace_id=office.id, email="noor@acme.test", role_ids=[office.agent_role.id])
    return {"certificate": row, "link": link, "hers": hers, "keys": [secret, *later], "of_ada": of_ada}


def works(secret: str) -> bool:
    answer = Client(headers={"authorization": f"Bearer {secret}"}).get("/api/v1/workspace-settings")
    assert answer.status_code in (200, 401)
    return answer.status_code == 200


def opens(link: str) -> bool:
    return Client().get("/" + link.split("/", 3)[3]).status_code == 200


def standing(office, issued) -> tuple[list[bool], bool, bool]:
    """Which of Bo's keys work, whether his certificate is good, and whether his invitation is."""
    with in_workspace(office.id):
        certificate = ClientCertificate.objects.get(id=issued["certificate"].id)
    return [works(secret) for secret in issued["keys"]], certificate.revoked_at is None, opens(issued["link"])


def by_api(office, deed: str, *, keep: bool) -> None:
    path = f"/members/{office.member.id}"
    if deed == "suspend":
        answer = Caller(office.id)("POST", f"{path}/suspend", {"keep_credentials": True} if keep else {})
    else:
        answer = Caller(office.id)("DELETE", path + ("?keep_credentials=true" if keep else ""))
    assert answer.status_code in (200, 204), answer.content


def by_console(office, deed: str, *, keep: bool) -> None:
    body = {"action": f"{deed}_only" if keep else deed, "_selected_action": [str(office.member.pk)], "index": "0"}
    assert knock().post("/console/tenancy/membership/", body).status_code == 302


@pytest.mark.parametrize("door", [by_api, by_console])
@pytest.mark.parametrize("deed", ["suspend", "remove"])
def test_what_they_had_let_in_ends_with_them(office, issued, door, deed):
    assert standing(office, issued) == ([True] * 3, True, True)
    door(office, deed, keep=False)
    assert standing(office, issued) == ([False] * 3, False, False)
    assert works(issued["of_ada"])
    assert opens(issued["hers"]), "what others had let in stays"
    with in_workspace(office.id):
        event = AuditEvent.objects.get(action=f"member.{deed}")
        told = AuditPayload.objects.get(event_id=event.id).payload
    assert [len(told[name]) for name in ("machine_keys", "client_certificates", "invitations")] == [3, 1, 1]


@pytest.mark.parametrize("door", [by_api, by_console])
@pytest.mark.parametrize("deed", ["suspend", "remove"])
def test_credentials_are_kept_when_somebody_says_so_and_invitations_never(office, issued, door, deed):
    door(office, deed, keep=True)
    assert standing(office, issued) == ([True] * 3, True, False)
    with in_workspace(office.id):
        assert Invitation.objects.get(email="mine@else.test").revoked_at is not None


def test_a_member_who_may_not_be_touched_keeps_everything(office, issued):
    weak = Caller(office.id, "member.manage", "member.read")
    for method, path in (("POST", "/suspend"), ("DELETE", "")):
        assert weak(method, f"/members/{office.member.id}{path}", {} if path else None).status_code == 403
    assert standing(office, issued) == ([True] * 3, True, True)


def test_who_is_shut_out_of_the_installation_leaves_nothing_in_any_workspace(office, issued):
    other = open_office("Globex", owner="eve@globex.test", agent="joe@globex.test")
    seed.member(office.bo, other.workspace, "workspace.read")
    with context.acting_as(Actor("user", str(office.bo.pk), office.bo.name)):
        secret = keys.issue(workspace_id=other.id, name="there", scopes=["workspace.read"])[1]
    assert works(secret)
    people.deactivate(user=office.bo)
    assert standing(office, issued) == ([False] * 3, False, False)
    assert not works(secret)
    assert works(issued["of_ada"])
