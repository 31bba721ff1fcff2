"""A workspace with one of everything, and a program that may do all of it."""

import pytest

from tests.api.conftest import Caller, World, acme


@pytest.fixture
def world(db, settings) -> World:
    settings.API_RATE_LIMIT = 0
    return acme()


@pytest.fixture
def caller(world: World) -> Caller:
    return Caller(world.id)
