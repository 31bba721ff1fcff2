"""One factory per model, each for one workspace, found by model: `make(Thread, workspace)`.

A factory makes the smallest row that the database accepts, with whatever it needs beside it in the same workspace.
They write through the ORM as the runtime role, inside the workspace's scope, so the fences hold for them too.
"""

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.db.models import Model

from kernel.transactions import in_workspace
from tenancy.models import Workspace
from tenancy.services import provisioning

M = TypeVar("M", bound=Model)
Factory = Callable[..., Any]

FACTORIES: dict[type[Model], Factory] = {}


def factory(model: type[Model]) -> Callable[[Factory], Factory]:
    """Register the factory of a model."""

    def register(make_one: Factory) -> Factory:
        FACTORIES[model] = make_one
        return make_one

    return register


def make(model: type[M], workspace_id: UUID, **given: Any) -> M:
    """A row of `model` in a workspace; `given` fields replace the factory's own."""
    with in_workspace(workspace_id):
        row: M = FACTORIES[model](workspace_id, **given)
    return row


def create(model: type[M], workspace_id: UUID, given: dict[str, Any], /, **usual: Any) -> M:
    """For factories: insert a row with the usual fields, as far as none is given."""
    fields = (
        {"workspace_id": workspace_id} | {name: value for name, value in usual.items() if name not in given} | given
    )
    values = {name: value() if callable(value) else value for name, value in fields.items()}
    return model._base_manager.create(**values)


def workspace(name: str = "Acme", **fields: Any) -> Workspace:
    """A provisioned workspace."""
    made, _ = provisioning.provision(external_id=uuid4(), name=name, **fields)
    return made


def unique(prefix: str = "x") -> str:
    """A short text that no other row has."""
    return f"{prefix}-{uuid4().hex[:12]}"


def digest(text: str = "") -> bytes:
    """32 bytes, as a content hash is."""
    return hashlib.sha256(text.encode() or uuid4().bytes).digest()
