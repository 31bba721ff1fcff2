"""The script of the fake model ends with each test."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _no_script() -> Iterator[None]:
    from agents.llm import scripted

    scripted.play(None)
    yield
    scripted.play(None)
