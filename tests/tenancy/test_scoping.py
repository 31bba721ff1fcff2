"""Models of a workspace fail outside a scope, and inside one show its rows only."""

from uuid import uuid4

import pytest
from django.apps import apps
from django.db import connection

from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.models import Membership, Role
from tenancy.scoping import NoWorkspaceScope, SoftDeletable, WorkspaceOwned
from tests.factories.every import FACTORIES, make, workspace

OWNED = [model for model in apps.get_models() if issubclass(model, WorkspaceOwned)]
each_model = pytest.mark.parametrize("model", OWNED, ids=lambda model: model._meta.label)


@each_model
def test_every_manager_for_use_is_scoped(model):
    with pytest.raises(NoWorkspaceScope, match=model.__name__):
        model.objects.all()
    assert model._meta.default_manager.name == "unfenced"
    assert model._meta.base_manager_name == "unfenced"


@each_model
def test_every_query_in_a_scope_names_its_workspace(db, model):
    """By itself, not only by the policy beneath: the first of the two lines of defence."""
    house = uuid4()
    with in_workspace(house):
        assert str(house) in str(model.objects.all().query)
    with in_all_workspaces("a test looks at the query"):
        assert str(house) not in str(model.objects.all().query)


def test_rows_of_the_scope_only(db):
    ours, theirs = workspace("Ours"), workspace("Theirs")
    for house in (ours, theirs):
        make(Role, house.id, name=f"role of {house.name}")
    with in_workspace(ours.id):
        assert {role.workspace_id for role in Role.objects.all()} == {ours.id}
        with in_all_workspaces("a test looks at everything"):
            assert {role.workspace_id for role in Role.objects.all()} == {ours.id, theirs.id}
        assert not Role.objects.filter(workspace_id=theirs.id).exists()
        assert not Role.unfenced.filter(workspace_id=theirs.id).exists()  # beneath the manager stands the database


def test_related_rows_stay_inside(db):
    ours, theirs = workspace("Ours"), workspace("Theirs")
    mine = make(Membership, ours.id)
    make(Membership, theirs.id, user=mine.user)
    with in_workspace(ours.id):
        assert [membership.workspace_id for membership in mine.user.memberships.all()] == [ours.id]


@pytest.mark.parametrize(
    "model", [model for model in OWNED if issubclass(model, SoftDeletable)], ids=lambda model: model._meta.label
)
def test_marked_rows_are_out_of_sight_and_not_gone(db, model):
    from kernel import clock

    house = workspace()
    row = make(model, house.id)
    with in_workspace(house.id):
        model.objects.filter(pk=row.pk).update(deleted_at=clock.now())
        assert not model.objects.filter(pk=row.pk).exists()
        assert model.with_deleted.filter(pk=row.pk).exists()


def test_updated_at_moves_by_itself(db):
    house = workspace()
    row = make(Role, house.id)
    with in_workspace(house.id):
        row.refresh_from_db()
        Role.objects.filter(id=row.id).update(name="renamed")
        after = Role.objects.get(id=row.id)
        assert after.updated_at > row.updated_at
        with connection.cursor() as cursor:  # plain SQL, too, and whatever it claims
            cursor.execute("UPDATE tenancy_role SET description = 'x', updated_at = created_at WHERE id = %s", [row.id])
        assert Role.objects.get(id=row.id).updated_at > after.updated_at


def test_every_model_has_a_factory():
    assert set(OWNED) <= set(FACTORIES)
