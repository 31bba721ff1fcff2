"""Two workspaces, each with one of everything."""

import pytest

from tests.resources.nine import World, world


@pytest.fixture
def ours(db) -> World:
    return world("acme")


@pytest.fixture
def theirs(ours: World) -> World:
    return world("globex")
