"""The order of a run: long tests begin first, so that no worker is left alone with one at the end."""

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The rest keeps the order that it was shuffled into."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
