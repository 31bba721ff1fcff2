"""G6: every role × every action of the API: exactly what the table of roles says, and at the next request after a change."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from config.proving.routes import _clean
from kernel.access import Principal
from kernel.api.views import WorkspaceViewSet
from kernel.context import Actor
from kernel.transactions import in_workspace
from tenancy.models import MachineKey, Role
from tenancy.permissions import SYSTEM_ROLES
from tenancy.queries import principals
from tenancy.services import roles
from tests.factories.every import make, workspace
from tests.resources.nine import Caller

# Beside the roles of the system, some that people might make.
PERSONAS = {name: grants for name, (_, grants) in SYSTEM_ROLES.items()} | {
    "nobody": (),
    "reader of mail": ("email.read",),
    "family": ("webhook.*",),
    "stopper": ("workspace.stop",),
    "people": ("member.*", "role.*"),
}


def actions() -> Iterator[tuple[str, str, str]]:
    """Method, path and permission of every action."""
    for path, view in _walk(get_resolver().url_patterns, ""):
        cls, named = getattr(view, "cls", None), getattr(view, "actions", None)
        if not named or not issubclass(cls, WorkspaceViewSet):
            continue
        for method, action in named.items():
            if method != "head":
                yield method.upper(), path, cls.permissions[action]


def _walk(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[tuple[str, object]]:
    for pattern in patterns:
        text = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, text)
        elif text.startswith("api/v1/"):
            yield _clean(text).replace("/{id}", f"/{uuid4()}").partition("(?P<")[0], pattern.callback


@pytest.fixture
def house(db):
    return workspace()


@pytest.mark.parametrize("step", [2, pytest.param(1, marks=pytest.mark.deep)])
def test_each_role_may_exactly_what_the_table_says(house, cases, step):
    tried = 0
    found = [row for row in actions() if not row[1].endswith("/")]
    assert len(found) >= 70
    for turn, (name, grants) in enumerate(PERSONAS.items()):
        call = Caller(house.id, "workspace.read")
        with in_workspace(house.id):
            MachineKey.objects.update(scopes=list(grants))
        who = Principal(workspace_id=house.id, actor=Actor(kind="test"), permissions=frozenset(grants))
        # By halves: each role half of the actions, the next one the other half.
        for method, path, permission in found[turn % step :: step]:
            answer = call(method, path, {} if method in ("POST", "PATCH", "PUT") else None)
            refused = answer.status_code == 403
            assert refused != who.allows(permission), (name, method, path, permission, answer.status_code)
            assert not refused or answer.json()["permission"] == permission
            tried += 1
    assert tried >= 500
    cases("G6", tried)


def test_a_change_holds_at_the_next_request(house):
    """Of a role, of who holds it, of a membership: asked anew each time, nothing is kept in between."""
    row = make(_membership(), house.id)
    may = frozenset({"*"})
    role = roles.create(workspace_id=house.id, name="Changing", permissions=["email.read"], may=may)

    def now() -> set[str] | None:
        found = principals.of_member(user_id=row.user_id, workspace_id=house.id)
        return None if found is None else set(found.permissions)

    assert now() == set()
    roles.give(workspace_id=house.id, role_id=role.id, membership_id=row.id, may=may)
    assert now() == {"email.read"}
    roles.change(workspace_id=house.id, role_id=role.id, changes={"permissions": ["agent.read"]}, may=may)
    assert now() == {"agent.read"}
    roles.take(workspace_id=house.id, role_id=role.id, membership_id=row.id, may=may)
    assert now() == set()
    with in_workspace(house.id):
        type(row).objects.filter(id=row.id).update(status="suspended")
    assert now() is None
    other = workspace("globex")
    assert principals.of_member(user_id=row.user_id, workspace_id=other.id) is None
    with in_workspace(house.id):
        assert Role.objects.filter(name="Changing").exists()


def _membership():
    from tenancy.models import Membership

    return Membership
