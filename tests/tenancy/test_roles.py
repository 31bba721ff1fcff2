"""Roles: seeded and kept in step, made and changed by people, given and taken; nobody gives what they do not have."""

from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import DatabaseError, IntegrityError, connection

from audit.models import AuditEvent
from kernel.access import catalogue
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tenancy.models import Membership, MembershipRole, Permission, Role, RolePermission
from tenancy.permissions import SYSTEM_ROLES, is_known
from tenancy.services import provisioning, roles
from tests.factories.every import make, workspace
from tests.factories.tenancy import user
from tests.resources.nine import Caller
from tests.tenancy.test_provisioning import together

EVERYTHING = frozenset({"*"})


@pytest.fixture
def house(db):
    return workspace()


def member(house, role: str = "") -> Membership:
    row = make(Membership, house.id)
    if role:
        roles.give(workspace_id=house.id, role_id=of_name(house, role).id, membership_id=row.id, may=EVERYTHING)
    return row


def of_name(house, name: str) -> Role:
    with in_workspace(house.id):
        return Role.objects.get(name=name)


def state(house):
    with in_workspace(house.id):
        return sorted(Role.objects.values_list("id", "name", "is_system")), sorted(
            RolePermission.objects.values_list("role_id", "permission")
        )


def test_every_grant_of_the_system_is_a_known_permission():
    assert [grant for _, grants in SYSTEM_ROLES.values() for grant in grants if not is_known(grant)] == []


def test_migrating_again_changes_nothing_and_mends_what_was_changed(house, owner_sql):
    before = state(house)
    call_command("migrate", verbosity=0)
    assert state(house) == before
    assert dict(Permission.objects.values_list("name", "description")) == catalogue()
    own = roles.create(workspace_id=house.id, name="Ours", permissions=["email.read"], may=EVERYTHING)
    # As an older release would have left it: a grant too many, one too few, a name that people had given before.
    owner_sql(
        "SET app.keeping_roles = 'on'; SET app.all_workspaces = 'on';"
        "DELETE FROM tenancy_rolepermission WHERE permission = 'audit.read';"
        "UPDATE tenancy_rolepermission SET permission = 'agent.*' WHERE permission = 'email.draft';"
        "DELETE FROM tenancy_role WHERE name = 'auditor' AND NOT EXISTS"
        " (SELECT FROM tenancy_rolepermission g WHERE g.role_id = tenancy_role.id);"
        f"UPDATE tenancy_role SET name = 'analyst (old)', is_system = false WHERE name = 'analyst';"
        f"UPDATE tenancy_role SET name = 'analyst' WHERE id = '{own.id}';"
        "UPDATE tenancy_permission SET description = 'old'; INSERT INTO tenancy_permission VALUES ('gone.gone', 'x')"
    )
    call_command("migrate", verbosity=0)
    with in_workspace(house.id):
        held = set(RolePermission.objects.filter(role__is_system=True).values_list("role__name", "permission"))
        assert held == {(name, grant) for name, (_, grants) in SYSTEM_ROLES.items() for grant in grants}
        assert Role.objects.get(id=own.id).name == "analyst (custom)"
        assert RolePermission.objects.get(role_id=own.id).permission == "email.read"
    assert dict(Permission.objects.values_list("name", "description")) == catalogue()


def test_a_role_is_made_changed_given_taken_and_deleted_over_http(house):
    call, someone = Caller(house.id), member(house)
    made = call("POST", "/roles", {"name": "Night shift", "permissions": ["email.send", "thread.*"]})
    assert made.status_code == 201
    path = f"/roles/{made.json()['id']}"
    changed = call("PATCH", path, {"permissions": ["email.send"], "description": "At night"}).json()
    assert (changed["permissions"], changed["description"], changed["is_system"]) == (["email.send"], "At night", False)
    assert call("POST", f"{path}/give", {"membership_id": str(someone.id)}).status_code == 201
    assert call("POST", f"{path}/give", {"membership_id": str(someone.id)}).status_code == 201, "again is the same"
    assert call("GET", path).json()["membership_ids"] == [str(someone.id)]
    assert call("DELETE", path).json()["code"] == "role_in_use"
    assert call("POST", f"{path}/take", {"membership_id": str(someone.id)}).status_code == 200
    assert call("POST", f"{path}/take", {"membership_id": str(someone.id)}).status_code == 404
    assert call("DELETE", path).status_code == 204
    assert call("GET", path).status_code == 404
    with in_workspace(house.id):
        trail = (
            AuditEvent.objects.filter(resource_kind="role", outcome="done")
            .order_by("sequence")
            .values_list("action", flat=True)
        )
        assert list(trail) == ["role.create", "role.change", "role.give", "role.take", "role.delete"]
        facts = OutboxEvent.objects.filter(slug__startswith="role.").order_by("id").values_list("slug", flat=True)
        assert list(facts) == ["role.created", "role.changed", "role.given", "role.taken", "role.deleted"]


def test_what_is_wrong_with_a_role_is_said(house):
    call = Caller(house.id)
    owner = f"/roles/{of_name(house, 'owner').id}"
    mine = call("POST", "/roles", {"name": "Mine", "permissions": []}).json()["id"]
    for method, path, body, status, code in (
        ("POST", "/roles", {"name": "x", "permissions": ["email.fly"]}, 422, "/permissions"),
        ("POST", "/roles", {"name": " ", "permissions": []}, 422, "/name"),
        ("POST", "/roles", {"name": "Mine", "permissions": []}, 409, "role_name_taken"),
        ("POST", "/roles", {"name": "Owner", "permissions": []}, 409, "role_name_taken"),
        ("PATCH", owner, {"name": "King"}, 409, "role_read_only"),
        ("PATCH", owner, {"permissions": []}, 409, "role_read_only"),
        ("DELETE", owner, None, 409, "role_read_only"),
        ("PATCH", f"/roles/{mine}", {"is_system": True}, 422, "/is_system"),
        ("POST", f"/roles/{mine}/give", {"membership_id": str(uuid4())}, 404, "not_found"),
    ):
        answer = call(method, path, body)
        told = answer.json()
        said = told["errors"][0]["pointer"] if status == 422 else told["code"]
        assert (answer.status_code, said) == (status, code), (method, path, body)


def test_nobody_gives_what_they_do_not_have(house):
    call, someone = Caller(house.id, "role.manage", "role.read", "email.read"), member(house)
    assert call("POST", "/roles", {"name": "x", "permissions": ["email.send"]}).status_code == 403
    made = call("POST", "/roles", {"name": "x", "permissions": ["email.read"]}).json()["id"]
    assert call("PATCH", f"/roles/{made}", {"permissions": ["email.read", "audit.read"]}).status_code == 403
    strong = Caller(house.id)("POST", "/roles", {"name": "y", "permissions": ["*"]}).json()["id"]
    for role in (strong, of_name(house, "owner").id, of_name(house, "agent").id):
        refused = call("POST", f"/roles/{role}/give", {"membership_id": str(someone.id)})
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    boss = member(house, "owner")
    assert call("POST", f"/roles/{of_name(house, 'owner').id}/take", {"membership_id": str(boss.id)}).status_code == 403
    # What is there may stay: the name of a stronger role can be mended, its grants cannot grow.
    assert call("PATCH", f"/roles/{strong}", {"name": "z"}).status_code == 200
    assert call("POST", f"/roles/{made}/give", {"membership_id": str(someone.id)}).status_code == 201


def test_nobody_takes_out_of_a_role_what_they_do_not_have(house):
    """Whoever holds the role would have it no more, and so would an invitation that brings it."""
    call, boss = Caller(house.id, "role.manage", "role.read", "email.*"), Caller(house.id)
    before = ["audit.read", "email.read", "inbox.*"]
    path = f"/roles/{boss('POST', '/roles', {'name': 'x', 'permissions': before}).json()['id']}"
    for left in ([], ["email.read"], ["audit.read", "email.read"], ["audit.read", "inbox.read"]):
        refused = call("PATCH", path, {"permissions": left})
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden"), left
        assert refused.json()["permission"] in {"audit.read", "inbox.*"}
    assert call("DELETE", path).status_code == 403
    assert call("GET", path).json()["permissions"] == before
    # What they have themselves they may take and give; what they lack stays where it was.
    changed = call("PATCH", path, {"name": "y", "permissions": ["audit.read", "email.send", "inbox.*"]})
    assert (changed.status_code, changed.json()["permissions"]) == (200, ["audit.read", "email.send", "inbox.*"])
    assert boss("PATCH", path, {"permissions": ["email.send"]}).status_code == 200
    assert call("DELETE", path).status_code == 204


def test_the_last_owner_stays(house):
    call, one, other = Caller(house.id), member(house, "owner"), member(house, "owner")
    owner = of_name(house, "owner").id
    assert call("POST", f"/roles/{owner}/take", {"membership_id": str(one.id)}).status_code == 200
    refused = call("POST", f"/roles/{owner}/take", {"membership_id": str(other.id)})
    assert (refused.status_code, refused.json()["code"]) == (409, "last_owner")
    with pytest.raises(IntegrityError, match="keeps at least one active owner"), in_workspace(house.id):
        MembershipRole.objects.filter(membership=other).delete()
    with pytest.raises(IntegrityError, match="keeps at least one active owner"), in_workspace(house.id):
        MembershipRole.objects.filter(membership=other).update(role_id=of_name(house, "agent").id)
    with in_workspace(house.id):
        assert MembershipRole.objects.get(membership=other).role_id == owner
        assert AuditEvent.objects.filter(action="role.take", outcome="done").count() == 1, (
            "what was refused left nothing behind"
        )


def test_owners_who_take_it_from_each_other_at_once_leave_one(house):
    for _ in range(5):
        owner = of_name(house, "owner").id
        pair = [member(house, "owner"), member(house, "owner")]
        with in_workspace(house.id):
            for link in MembershipRole.objects.filter(role_id=owner).exclude(membership__in=pair):
                link.delete()

        def take(number: int, who=tuple(pair), role=owner) -> str:
            roles.take(workspace_id=house.id, role_id=role, membership_id=who[number].id, may=EVERYTHING)
            return "taken"

        assert together(2, take) == {"taken": 1, "LastOwner": 1}


def test_roles_of_the_system_are_read_only_in_the_database_too(house):
    role = of_name(house, "agent").id
    for statement in (
        f"UPDATE tenancy_role SET name = 'x' WHERE id = '{role}'",
        f"DELETE FROM tenancy_rolepermission WHERE role_id = '{role}'",
        f"UPDATE tenancy_rolepermission SET permission = '*' WHERE role_id = '{role}'",
        "INSERT INTO tenancy_rolepermission (id, workspace_id, role_id, permission)"
        f" VALUES (gen_random_uuid(), '{house.id}', '{role}', '*')",
        f"UPDATE tenancy_role SET is_system = true WHERE id = '{make(Role, house.id).id}'",
    ):
        with pytest.raises(DatabaseError, match="read-only"), in_workspace(house.id), connection.cursor() as cursor:
            cursor.execute(statement)


def test_a_forged_label_reaches_no_other_workspace(house):
    """S3-26: neither a member nor a role of another workspace can stand beside this one's label."""
    other = workspace("globex")
    theirs, role = member(other), of_name(other, "agent")
    ours, own = member(house), of_name(house, "agent")
    for membership, held in ((theirs.id, own.id), (ours.id, role.id), (theirs.id, role.id)):
        with pytest.raises(IntegrityError), in_workspace(house.id), connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO tenancy_membershiprole (id, workspace_id, membership_id, role_id)"
                " VALUES (gen_random_uuid(), %s, %s, %s)",
                [house.id, membership, held],
            )
    call = Caller(house.id)
    assert call("DELETE", f"/roles/{role.id}").status_code == 404
    assert call("POST", f"/roles/{role.id}/take", {"membership_id": str(theirs.id)}).status_code == 404
    assert call("POST", f"/roles/{own.id}/give", {"membership_id": str(theirs.id)}).status_code == 404


def test_the_first_owner_is_an_operator_and_no_superuser(house):
    owner = provisioning.create_first_owner(email="o@acme.test", password="a long enough password", workspace=house)
    assert (owner.is_operator, owner.is_superuser) == (True, False)
    assert not user().is_operator
