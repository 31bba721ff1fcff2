"""Members come by invitation, are suspended, let in again and removed; and a workspace keeps an owner."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
import time_machine
from django.db import IntegrityError, connection
from django.test import Client

from audit.models import AuditEvent
from kernel import clock
from kernel.errors import Forbidden, Invalid
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace, unit_of_work
from tenancy.models import Invitation, LoginEvent, Membership, MembershipRole, User
from tenancy.queries import principals
from tenancy.services import inviting, leaving, members, people
from tenancy.services.inviting import LinkOver
from tenancy.services.members import LastOwner
from tests.api.conftest import Caller
from tests.console import seed
from tests.people.conftest import PASSWORD, invitation_path, is_in, knock, open_office
from tests.tenancy.test_provisioning import together

NEW = {"name": "Noor Haddad", "password": "a phrase that nobody else has"}


def trail(office) -> list[str]:
    with in_workspace(office.id):
        return list(AuditEvent.objects.filter(outcome="done").order_by("sequence").values_list("action", flat=True))


def facts(office) -> list[str]:
    with in_workspace(office.id):
        return list(OutboxEvent.objects.order_by("id").values_list("slug", flat=True))


def path_of(link: str) -> str:
    return "/" + link.split("/", 3)[3]


def invite(office, email: str = "noor@acme.test") -> str:
    return invitation_path(office, email)


def test_an_invitation_is_mailed_and_accepted_once(office, post):
    row, link = inviting.invite(workspace_id=office.id, email=" Noor@Acme.test", role_ids=[office.agent_role.id])
    assert (link, row.email, row.mail_state) == ("", "noor@acme.test", "queued")
    (letter,) = post.letters()
    assert (letter["To"], letter["From"], letter["Auto-Submitted"]) == (
        "noor@acme.test", "Acme Inbox <inbox@acme.test>", "auto-generated",
    )  # fmt: skip
    assert "You are invited to Acme" in letter["Subject"]
    path = post.path()
    assert len(post.letters()) == 1, "a letter is sent once"
    page = Client().get(path)
    assert b"noor@acme.test" in page.content
    assert (page["Referrer-Policy"], "no-store" in page["Cache-Control"]) == ("same-origin", True)
    client = Client()
    assert b"too short" in client.post(path, NEW | {"password": "short"}).content
    assert client.post(path, NEW)["Location"] == "/console/"
    assert b"Conversations" in client.get("/console/").content
    assert Client().get(path).status_code == 404, "used"
    noor = User.objects.get(email="noor@acme.test")
    assert (noor.name, noor.is_staff, noor.is_superuser, noor.timezone) == ("Noor Haddad", True, False, "UTC")
    with in_workspace(office.id):
        held = MembershipRole.objects.filter(membership__user=noor).values_list("role_id", flat=True)
        assert list(held) == [office.agent_role.id]
        invitation = Invitation.objects.get()
        assert (invitation.state, invitation.token_hash, invitation.mail_state) == ("accepted", None, "sent")
    assert {"member.invite", "member.join"} <= set(trail(office))
    assert facts(office)[-2:] == ["member.invited", "member.joined"]
    assert is_in(knock("noor@acme.test", NEW["password"]))


def test_the_secret_of_a_link_is_nowhere_but_in_it(office):
    token = invite(office).split("/")[-2]
    with in_workspace(office.id), connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        for (table,) in cursor.fetchall():
            cursor.execute(f"SELECT count(*) FROM {table} t WHERE strpos(t::text, %s) > 0", [token])
            assert cursor.fetchone() == (0,), table


def test_a_link_ends_by_time_by_being_taken_back_and_by_the_next_one(office):
    over, taken_back, renewed = (invite(office, f"{name}@acme.test") for name in ("a", "b", "c"))
    with in_workspace(office.id):
        ids = dict(Invitation.objects.values_list("email", "id"))
    inviting.revoke(workspace_id=office.id, invitation_id=ids["b@acme.test"])
    _, link = inviting.resend(workspace_id=office.id, invitation_id=ids["c@acme.test"])
    for path in (taken_back, renewed, "/console/join/made-up/"):
        for answer in (Client().get(path), Client().post(path, NEW)):
            assert answer.status_code == 404
            assert b"This invitation is over" in answer.content
    assert Client().get(path_of(link)).status_code == 200
    with time_machine.travel(clock.now() + timedelta(days=8)):
        assert Client().get(over).status_code == 404
        # Nobody accepted in time; the address can be invited anew.
        assert Client().get(invite(office, "a@acme.test")).status_code == 200
    assert not User.objects.filter(email__in=["a@acme.test", "b@acme.test", "c@acme.test"]).exists()


def test_sixteen_who_accept_at_once_are_one_member(office):
    path = invite(office)

    def accept(number: int) -> int:
        return Client().post(path, NEW | {"name": f"Noor {number}"}).status_code

    # Who comes late sees that it is over, or that there is an account by now.
    assert together(16, accept)[302] == 1
    with in_workspace(office.id):
        assert Membership.objects.filter(user__email="noor@acme.test").count() == 1
        assert AuditEvent.objects.filter(action="member.join").count() == 1


def test_who_has_an_account_joins_with_it_and_nobody_else_can(office):
    seed.person("noor@acme.test", name="Noor")
    path = invite(office)
    page = Client().get(path).content
    assert b"You have an account here" in page
    assert b"password" not in page
    assert Client().post(path, NEW).status_code == 200
    assert knock("noor@acme.test", NEW["password"]).answer.status_code == 200, "no password was set by the link"
    other = knock("bo@acme.test")
    assert b"You are signed in as <b>bo@acme.test" in other.get(path).content
    assert b"is over" in other.post(path).content
    noor = knock("noor@acme.test")
    assert noor.get("/console/").status_code == 403, "nowhere a member yet"
    before = noor.cookies["sessionid"].value
    assert noor.post(path)["Location"] == "/console/"
    assert noor.cookies["sessionid"].value != before, "what the session may has changed"
    assert is_in(noor)
    assert knock("noor@acme.test").get(path).status_code == 404


def test_nobody_gives_more_than_they_have(office, role_that_may):
    theirs = open_office("Globex", owner="gus@globex.test", agent="gil@globex.test")
    clerk = frozenset({"member.read", "member.manage", "thread.read"})
    mild, mighty = role_that_may("thread.read"), role_that_may("agent.manage")
    inviting.invite(workspace_id=office.id, email="a@x.test", role_ids=[mild.id], may=clerk)
    for role in (mighty, office.owner_role):
        with pytest.raises(Forbidden):
            inviting.invite(workspace_id=office.id, email="b@x.test", role_ids=[role.id], may=clerk)
        with pytest.raises(Forbidden):
            members.give_roles(
                workspace_id=office.id, membership_id=office.member.id, role_ids=[mild.id, role.id], may=clerk
            )
    with in_workspace(office.id):
        ada = Membership.objects.get(user=office.ada)
    for deed in (leaving.suspend, leaving.remove):
        with pytest.raises(Forbidden):
            deed(workspace_id=office.id, membership_id=ada.id, may=clerk)
    for foreign in (theirs.agent_role.id, theirs.owner_role.id, uuid4()):
        with pytest.raises(Invalid, match="of this workspace"):
            inviting.invite(workspace_id=office.id, email="c@x.test", role_ids=[foreign])
    with in_workspace(office.id):
        assert [row.email for row in Invitation.objects.all()] == ["a@x.test"]


def test_what_is_done_to_a_member_holds_at_their_next_request(office):
    bo = knock("bo@acme.test")
    place = {"workspace_id": office.id, "membership_id": office.member.id}
    assert is_in(bo)
    leaving.suspend(**place)
    assert bo.get("/console/").status_code == 403
    # Also for who had chosen the workspace a moment before.
    assert principals.of_member(user_id=office.bo.id, workspace_id=office.id) is None
    members.reactivate(**place)
    assert bo.get("/console/inbox/thread/").status_code == 200
    with in_workspace(office.id):
        role = MembershipRole.objects.get(membership=office.member).role
        role.grants.filter(permission="thread.read").delete()
    assert bo.get("/console/inbox/thread/").status_code == 403
    members.give_roles(**place, role_ids=[office.owner_role.id])
    assert bo.get("/console/tenancy/machinekey/").status_code == 200
    leaving.remove(**place)
    assert bo.get("/console/").status_code == 403
    with in_workspace(office.id):
        assert not MembershipRole.objects.filter(membership=office.member).exists()
    # Invited anew, with what that invitation gives.
    assert bo.post(invite(office, "bo@acme.test"))["Location"] == "/console/"
    assert is_in(bo)
    with in_workspace(office.id):
        assert Membership.objects.filter(user=office.bo).count() == 1
    done = ["suspend", "reactivate", "give_roles", "remove", "invite", "join"]
    assert trail(office)[-6:] == [f"member.{verb}" for verb in done]
    told = ["suspended", "reactivated", "roles_changed", "removed", "invited", "joined"]
    assert facts(office)[-6:] == [f"member.{verb}" for verb in told]


# --- the last owner -------------------------------------------------------------------------------------------------


def test_the_last_owner_stays_whichever_way_they_would_go(office):
    with in_workspace(office.id):
        ada = Membership.objects.get(user=office.ada)
    place = {"workspace_id": office.id, "membership_id": ada.id}
    ways = {
        "suspend": lambda: leaving.suspend(**place),
        "remove": lambda: leaving.remove(**place),
        "demote": lambda: members.give_roles(**place, role_ids=[office.agent_role.id]),
        "deactivate": lambda: people.deactivate(user=User.objects.get(id=office.ada.id)),
    }
    for name, way in ways.items():
        with pytest.raises(LastOwner):
            way()
        assert is_in(knock()), name
    owner = {"r": office.owner_role.id, "m": ada.id, "u": office.ada.id}
    for statement in (
        "UPDATE tenancy_membership SET status = 'suspended' WHERE id = %(m)s",
        "UPDATE tenancy_membership SET status = 'removed'",
        "DELETE FROM tenancy_membershiprole WHERE role_id = %(r)s",
        "UPDATE tenancy_membershiprole SET role_id = (SELECT id FROM tenancy_role WHERE name = 'agent') WHERE role_id = %(r)s",
        "UPDATE tenancy_user SET is_active = false WHERE id = %(u)s",
    ):
        with (
            pytest.raises(IntegrityError, match="at least one active owner"),
            in_workspace(office.id),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement, owner)
    # With another one, each of them may go.
    members.give_roles(workspace_id=office.id, membership_id=office.member.id, role_ids=[office.owner_role.id])
    ways["demote"]()
    with pytest.raises(LastOwner):
        leaving.remove(workspace_id=office.id, membership_id=office.member.id)
    assert "member.suspend" not in trail(office)


def test_of_many_owners_who_leave_at_once_one_stays(office):
    with in_workspace(office.id):
        owners = [Membership.objects.get(user=office.ada)]
    owners += [seed.member(seed.person(f"owner{number}@acme.test"), office.workspace) for number in range(7)]
    deeds = (leaving.suspend, leaving.remove)

    def leave(number: int) -> str:
        deeds[number % 2](workspace_id=office.id, membership_id=owners[number].id)
        return "gone"

    assert together(8, leave) == {"gone": 7, "LastOwner": 1}
    with in_workspace(office.id):
        active = Membership.objects.filter(status="active", role_links__role=office.owner_role)
        assert active.count() == 1


def test_a_workspace_that_nobody_owns_yet_can_be_worked_on(office):
    """The rule is about an owner who goes, not about a workspace that has none."""
    from tests.factories.every import workspace

    place = workspace("Fresh")
    seed_member = seed.member(seed.person("first@fresh.test"), place, "thread.read")
    leaving.suspend(workspace_id=place.id, membership_id=seed_member.id)
    with unit_of_work():
        people.deactivate(user=User.objects.get(email="first@fresh.test"))


# --- over HTTP and in the console -----------------------------------------------------------------------------------


def test_the_api_of_members(office):
    call = Caller(office.id)
    listed = call.get("/members?email=bo@acme.test").json()["data"]
    assert [(row["email"], row["status"], row["roles"][0]["id"]) for row in listed] == [
        ("bo@acme.test", "active", str(office.agent_role.id))
    ]
    path = f"/members/{office.member.id}"
    assert call("POST", f"{path}/suspend").json()["status"] == "suspended"
    assert call("POST", f"{path}/suspend").status_code == 409
    assert call("POST", f"{path}/reactivate").json()["suspended_at"] is None
    changed = call("PATCH", path, {"roles": [str(office.owner_role.id)]})
    assert (changed.status_code, changed.json()["roles"][0]["name"]) == (200, "owner")
    assert call("PATCH", path, {"roles": [str(uuid4())]}).json()["errors"][0]["pointer"] == "/roles"
    assert call("DELETE", path).status_code == 204
    assert call.get(path).status_code == 404
    ada = call.get("/members").json()["data"][0]
    last = call("DELETE", f"/members/{ada['id']}").json()
    assert (last["status"], last["code"]) == (409, "last_owner")
    roles = {row["name"]: row["permissions"] for row in call.get("/roles").json()["data"]}
    assert roles["owner"] == ["*"]
    made = call("POST", "/invitations", {"email": "noor@acme.test", "roles": [str(office.agent_role.id)]})
    assert made.status_code == 201
    invitation = made.json()
    assert re.fullmatch(r"http://[^/]+/console/join/lnk_[\w-]{43}/", invitation["link"])
    shown = call.get(f"/invitations/{invitation['id']}").json()
    assert "link" not in shown
    again = call("POST", "/invitations", {"email": "NOOR@acme.test", "roles": [str(office.agent_role.id)]})
    assert again.status_code == 409
    assert call("POST", f"/invitations/{invitation['id']}/resend").json()["link"] != invitation["link"]
    assert call("POST", f"/invitations/{invitation['id']}/revoke").json()["state"] == "revoked"
    assert [row["id"] for row in call.get("/invitations?state=open").json()["data"]] == []
    reader = Caller(office.id, "member.read", name="reader")
    for method, where in (("POST", "/invitations"), ("DELETE", path), ("PATCH", path), ("POST", f"{path}/suspend")):
        assert reader(method, where, {}).status_code == 403, where
    assert Caller(office.id, "thread.read", name="other").get("/members").status_code == 403


def test_the_console_of_members(office, role_that_may):
    ada = knock()
    page = "/console/tenancy/invitation/add/"
    shown = ada.post(page, {"email": "noor@acme.test", "roles": [str(office.agent_role.id)]}).content.decode()
    link = shown.partition("data-secret>")[2].partition("<")[0]
    assert Client().get(path_of(link)).status_code == 200
    assert link not in ada.get("/console/tenancy/invitation/").content.decode()
    assert (
        b"open invitation for this address"
        in ada.post(page, {"email": "noor@acme.test", "roles": [str(office.agent_role.id)]}).content
    )
    assert b"is suspended" in _act(ada, "membership", "suspend", office.member).content
    assert b"let in again" in _act(ada, "membership", "reactivate", office.member).content
    change = f"/console/tenancy/membership/{office.member.id}/change/"
    assert ada.post(change, {"roles": [str(office.owner_role.id)]}).status_code == 302
    with in_workspace(office.id):
        assert [link.role.name for link in office.member.role_links.all()] == ["owner"]
        mine = Membership.objects.get(user=office.ada)
    assert b"no longer a member" in _act(ada, "membership", "remove", office.member).content
    assert b"at least one active owner" in _act(ada, "membership", "suspend", mine).content
    clerk = seed.person("clerk@acme.test")
    seed.member(clerk, office.workspace, "workspace.read", "member.read", "member.manage")
    there = knock("clerk@acme.test")
    assert b"do not have the permission" in _act(there, "membership", "suspend", mine).content
    refused = there.post(page, {"email": "x@acme.test", "roles": [str(office.owner_role.id)]})
    assert b"do not have the permission" in refused.content
    for path in ("/console/tenancy/loginevent/", "/console/tenancy/user/"):
        assert (there.get(path).status_code == 200) is (path != "/console/tenancy/loginevent/")
    looker = seed.person("looker@acme.test")
    seed.member(looker, office.workspace, "workspace.read", "member.read")
    eyes = knock("looker@acme.test")
    assert b'name="_save"' not in eyes.get(f"/console/tenancy/membership/{mine.id}/change/").content
    assert eyes.get(page).status_code == 403


def _act(client: Client, model: str, action: str, *rows):
    body = {"action": action, "_selected_action": [str(row.pk) for row in rows], "index": "0"}
    return client.post(f"/console/tenancy/{model}/", body, follow=True)


def test_who_runs_the_installation_sees_to_its_people(office):
    seed.person("root@estate.test", operator=True)
    root, bo = knock("root@estate.test"), knock("bo@acme.test")
    root.post("/console/workspace/", {"workspace": "all"})
    assert b"root@estate.test" in root.get("/console/tenancy/loginevent/").content
    assert LoginEvent.objects.count() == 2
    assert b"signed out everywhere" in _act(root, "user", "sign_out", office.bo).content
    assert not is_in(bo)
    shown = _act(root, "user", "new_password", office.bo).content.decode()
    path = path_of(shown.partition("data-secret>")[2].partition("<")[0])
    assert Client().post(path, {"password": "quite another long phrase"})["Location"] == "/console/login/"
    assert is_in(knock("bo@acme.test", "quite another long phrase"))
    assert b"is shut out" in _act(root, "user", "deactivate", office.bo).content
    assert not is_in(knock("bo@acme.test", "quite another long phrase"))
    assert b"may sign in again" in _act(root, "user", "reactivate", office.bo).content
    assert is_in(knock("bo@acme.test", "quite another long phrase"))
    assert b"only owner of a workspace" in _act(root, "user", "deactivate", office.ada).content
    # Of the estate, so no owner of a workspace does it.
    assert b"is shut out" not in _act(knock(), "user", "deactivate", office.bo).content
    assert User.objects.get(id=office.bo.id).is_active


def test_letters_are_tried_again_and_given_up(office, post, settings):
    settings.STAFF_MAIL_RETRY_SECONDS = [0]
    port, settings.MAIL_SMTP_PORT = settings.MAIL_SMTP_PORT, 1
    row, _ = inviting.invite(workspace_id=office.id, email="noor@acme.test", role_ids=[office.agent_role.id])
    post.letters()
    with in_workspace(office.id):
        row.refresh_from_db()
    assert (row.mail_state, row.mail_attempts) == ("failed", 2)
    assert "NotAccepted" in row.mail_error
    settings.MAIL_SMTP_PORT = port
    inviting.resend(workspace_id=office.id, invitation_id=row.id)
    assert len(post.letters()) == 1
    assert Client().get(post.path()).status_code == 200


def test_a_letter_of_a_worker_that_died_is_sent_by_the_next(office, post):
    """Two letters can arrive, never two links that are good."""
    row, _ = inviting.invite(workspace_id=office.id, email="noor@acme.test", role_ids=[office.agent_role.id])
    post.letters()
    first = post.path()
    with in_workspace(office.id):
        lost = {"mail_state": "sending", "mail_due_at": clock.now() - timedelta(seconds=1)}
        Invitation.objects.filter(id=row.id).update(**lost)
    assert len(post.letters()) == 2
    assert Client().get(post.path()).status_code == 200
    assert Client().get(first).status_code == 404


def test_services_say_that_a_link_is_over(office):
    with pytest.raises(LinkOver):
        inviting.accept(token="made up", user=office.ada)
    assert PASSWORD
