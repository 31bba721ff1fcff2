"""What every resource shows, which methods it knows, and that `updated_at` tells of every change."""

import re
from datetime import datetime
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.db.utils import DatabaseError

from kernel.transactions import in_workspace
from tests.resources.nine import NINE, SHARED

each = pytest.mark.parametrize("name", NINE)
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


@each
def test_the_shared_fields_are_there_in_the_list_and_alone(acme, name):
    resource = NINE[name]
    bodies = [acme.call("GET", acme.path(name)).json()]
    if resource.has_list:
        listed = acme.call("GET", resource.path).json()["data"]
        bodies += [row for row in listed if row["id"] == str(acme.ids[name])]
        assert len(bodies) == 2
    for body in bodies:
        assert set(SHARED) <= set(body)
        assert body["object"] == name
        assert UUID(body["id"]).version == 4
        assert ISO.fullmatch(body["created_at"])
        assert ISO.fullmatch(body["updated_at"])
        assert body["deleted_at"] is None
        assert isinstance(body["metadata"], dict)
        assert isinstance(body["custom_metadata"], dict)
        assert ("external_id" in body) == resource.has_external_id
        if resource.has_external_id:
            assert UUID(body["external_id"]).version == 4
        assert ("workspace_id" in body) == (name != "workspace")


@each
def test_only_the_methods_of_the_document_are_known(acme, name, cases):
    """405 names what is possible, also for an id that nobody has: the method is refused before the row is looked for."""
    resource = NINE[name]
    targets = [(acme.path(name), resource.on_one)]
    if resource.has_list:
        targets += [(resource.path, resource.on_list), (f"{resource.path}/{uuid4()}", resource.on_one)]
    tried = 0
    for path, known in targets:
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
            if method in known:
                continue
            answer = acme.call(method, path, {})
            assert answer.status_code == 405, (method, path, answer.content)
            allowed = {word.strip() for word in answer["Allow"].split(",")}
            assert allowed - {"HEAD"} == {"GET", *known}, (method, path, allowed)
            assert answer.json()["code"] == "method_not_allowed"
            tried += 1
    cases("S0-15", tried)


def test_an_inbox_says_what_to_do_in_place_of_deleting_it(acme):
    answer = acme.call("DELETE", acme.path("inbox"))
    assert (answer.status_code, "deactivated" in answer.json()["detail"]) == (405, True)
    assert acme.call("PATCH", acme.path("inbox"), {"active": False}).json()["active"] is False


CHANGES = {
    "workspace": {"name": "Acme Two"},
    "inbox": {"name": "Sales"},
    "email": {"custom_metadata": {"a": 1}},
    "agent": {"name": "Two"},
    "webhook": {"label": "Two"},
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_answer_shows_the_time_of_its_own_change(acme, name):
    before = acme.call("GET", acme.path(name)).json()
    after = acme.call("PATCH", acme.path(name), CHANGES[name]).json()
    assert datetime.fromisoformat(after["updated_at"]) > datetime.fromisoformat(before["updated_at"])
    assert after["created_at"] == before["created_at"]
    assert acme.call("GET", acme.path(name)).json() == after


@pytest.mark.parametrize("name", [name for name in NINE if name != "system_event"])
def test_updated_at_moves_on_every_change_whatever_makes_it(acme, name):
    model, row_id = NINE[name].model, acme.ids[name]
    table = model._meta.db_table
    with in_workspace(acme.id):
        seen = [model._base_manager.get(id=row_id)]
        model._base_manager.filter(id=row_id).update(created_at=seen[0].created_at)
        seen.append(model._base_manager.get(id=row_id))
        model._base_manager.bulk_update([seen[-1]], ["created_at"])
        seen.append(model._base_manager.get(id=row_id))
        seen[-1].save()
        seen.append(model._base_manager.get(id=row_id))
        with connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {table} SET updated_at = '2001-01-01', created_at = created_at WHERE id = %s", [row_id]
            )
        seen.append(model._base_manager.get(id=row_id))
    times = [row.updated_at for row in seen]
    assert times == sorted(set(times))
    assert len({row.created_at for row in seen}) == 1


def test_an_event_never_changes_so_its_times_agree(acme):
    body = acme.call("GET", acme.path("system_event")).json()
    assert body["updated_at"] == body["created_at"]
    model = NINE["system_event"].model
    for change in (lambda: model.objects.update(slug="x.y"), lambda: model.objects.all().delete()):
        with pytest.raises(DatabaseError), in_workspace(acme.id):
            change()


def test_an_unknown_route_of_the_api_is_a_problem_too(acme):
    for path in ("/emails/none", f"/emails/{'-' * 36}", "/inboxes/1/2/3", f"/emails/{str(uuid4())[:-1]}"):
        answer = acme.call("GET", path)
        assert answer.status_code == 404, path
