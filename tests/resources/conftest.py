"""A workspace with one of each resource."""

import pytest

from tests.keeping import kept
from tests.resources.nine import World, world


@pytest.fixture
def acme(db) -> World:
    return kept("nine", world)
