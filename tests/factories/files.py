"""Factories of files."""

from typing import Any
from uuid import UUID

from files.models import File
from tests.factories.registry import create, digest, factory, unique


@factory(File)
def _file(workspace_id: UUID, **given: Any) -> File:
    return create(File, workspace_id, given, sha256=digest, size=5, storage_key=lambda: unique("stored"))
