"""The outbox: once per consumer, in order, never lost."""

import uuid

import pytest

from kernel import outbox
from kernel.transactions import NoTransaction
from tenancy.events import WorkspaceProvisioned
from tenancy.services import provisioning


def test_emit_refuses_to_run_outside_a_unit_of_work(db):
    with pytest.raises(NoTransaction):
        outbox.emit(WorkspaceProvisioned(workspace_id=uuid.uuid4(), external_id=uuid.uuid4(), ref="x"))


def test_drain_delivers_once(db):
    provisioning.provision(external_id=uuid.uuid4(), name="Acme")
    assert outbox.drain() == 1
    assert outbox.drain() == 0
