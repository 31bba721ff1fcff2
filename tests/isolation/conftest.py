"""Two workspaces, each with one of everything."""

import pytest

from tests.keeping import kept
from tests.resources.nine import World, world


@pytest.fixture
def ours(db) -> World:
    return kept("nine", world)


@pytest.fixture
def theirs(ours: World) -> World:
    return world("globex")
