"""Every change of an agent is a new version that nobody can change."""

import threading
import uuid

import pytest
from django.db import connections
from django.db.utils import DatabaseError

from agents.models import Agent, AgentVersion
from agents.queries import agents as queries
from agents.services import configuring
from audit.models import AuditEvent
from kernel.errors import Conflict, Invalid, NotFound
from kernel.transactions import in_workspace
from tests.factories.world import house


def _versions(place):
    with in_workspace(place.id):
        return list(AgentVersion.objects.order_by("number"))


def test_a_new_agent_drafts_and_has_its_first_version(db):
    place = house()
    agent = configuring.create(workspace_id=place.id, name="Help", system_prompt="Be kind.", skills=["Weather"])
    assert (agent.autonomy, agent.status, agent.current_version) == ("draft", "active", 1)
    (version,) = _versions(place)
    assert (version.number, version.system_prompt, version.skills) == (1, "Be kind.", ["Weather"])
    assert queries.Limits.of(version).permissions == set(queries.DEFAULT_PERMISSIONS)


def test_each_change_is_a_new_version_and_keeps_the_rest(db):
    place = house()
    agent = configuring.create(workspace_id=place.id, name="Help", system_prompt="Be kind.", model="m1")
    configuring.update(workspace_id=place.id, agent_id=agent.id, autonomy="supervised")
    configuring.pause(workspace_id=place.id, agent_id=agent.id)
    changed = configuring.activate(workspace_id=place.id, agent_id=agent.id)
    assert changed.current_version == 4
    assert [(v.autonomy, v.system_prompt, v.model) for v in _versions(place)] == [
        ("draft", "Be kind.", "m1"),
        ("supervised", "Be kind.", "m1"),
        ("supervised", "Be kind.", "m1"),
        ("supervised", "Be kind.", "m1"),
    ]
    with in_workspace(place.id):
        assert AuditEvent.objects.filter(action="agent.update").count() == 3
        assert queries.current(queries.with_version().get()).number == 4


def test_a_version_cannot_be_changed(db):
    place = house()
    configuring.create(workspace_id=place.id, name="Help")
    with pytest.raises(DatabaseError), in_workspace(place.id):
        AgentVersion.objects.update(system_prompt="Send money")
    with pytest.raises(DatabaseError), in_workspace(place.id):
        AgentVersion.objects.all().delete()


def test_changes_at_once_get_a_version_each(db):
    place = house()
    agent = configuring.create(workspace_id=place.id, name="Help")

    def change(number):
        try:
            configuring.update(workspace_id=place.id, agent_id=agent.id, model=f"m{number}")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=change, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [version.number for version in _versions(place)] == list(range(1, 10))


@pytest.mark.parametrize(
    "fields",
    [
        {"name": " "},
        {"name": "x" * 201},
        {"autonomy": "total"},
        {"status": "dead"},
        {"provider": "skynet"},
        {"model": "m" * 121},
        {"skills": "all"},
        {"skills": [1]},
        {"permissions": ["workspace.manage"]},
        {"max_steps": 1000},
        {"max_steps": 1},
        {"max_cost_micros": -1},
        {"system_prompt": "x" * 50_001},
        {"current_version": 7},
        {"metadata": {}},
    ],
)
def test_what_an_agent_cannot_work_with_is_refused(db, fields):
    place = house()
    with pytest.raises(Invalid):
        configuring.create(workspace_id=place.id, **({"name": "Help"} | fields))
    assert _versions(place) == []


def test_an_external_id_is_unique_and_covers_the_deleted(db):
    place, other = house("acme"), house("globex")
    external_id = uuid.uuid4()
    agent = configuring.create(workspace_id=place.id, name="Help", external_id=external_id)
    configuring.delete(workspace_id=place.id, agent_id=agent.id)
    for workspace in (place, other):
        with pytest.raises(Conflict):
            configuring.create(workspace_id=workspace.id, name="Help", external_id=external_id)


def test_a_deleted_or_foreign_agent_is_not_found(db):
    place, other = house("acme"), house("globex")
    agent = configuring.create(workspace_id=place.id, name="Help")
    with pytest.raises(NotFound):
        configuring.update(workspace_id=other.id, agent_id=agent.id, name="Mine")
    configuring.delete(workspace_id=place.id, agent_id=agent.id)
    for action in (configuring.pause, configuring.delete):
        with pytest.raises(NotFound):
            action(workspace_id=place.id, agent_id=agent.id)
    with in_workspace(place.id):
        assert not Agent.objects.exists()
        assert Agent.with_deleted.count() == 1
        assert queries.bound(agent.id) is None
