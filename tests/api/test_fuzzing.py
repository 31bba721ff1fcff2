"""Whatever is sent, the API answers as it is described: no fault of ours, no status and no body that nobody expects."""

from collections import Counter

import pytest

from tests.api.conftest import World
from tests.api.fuzzing import fuzz, operations


def _judge(statuses: Counter[int], examples: int) -> None:
    told = ", ".join(f"{number} × {code}" for code, number in sorted(statuses.items()))
    print(f"{statuses.total()} made-up requests: {told}")
    assert statuses.total() > examples * len(operations()) // 2
    # They are not all turned away at the door.
    assert statuses[200] > examples * 5
    assert statuses[400] > examples * 2
    assert max(statuses) < 500


@pytest.mark.long
@pytest.mark.timeout(280)
def test_made_up_requests_are_answered_as_described(world: World, settings):
    settings.API_RATE_LIMIT = 0
    _judge(fuzz(world, examples=1, brief=True), 1)


@pytest.mark.deep
@pytest.mark.timeout(3600)
def test_ten_thousands_of_them_too(world: World, settings):
    settings.API_RATE_LIMIT = 0
    _judge(fuzz(world, examples=120, brief=False), 120)
