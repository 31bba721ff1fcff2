"""The database from asyncio: a thread with a connection of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Self, TypeVar

from django.db import InterfaceError, OperationalError, connections

T = TypeVar("T")


class DatabaseThread:
    """Runs one piece of work after the other. A broken connection is dropped, so that the next call opens a new one."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.run(connections.close_all)
        self._thread.shutdown()

    async def run(self, work: Callable[[], T]) -> T:
        """The outcome of `work`. When the caller is cancelled, the work still ends, and nothing waits for it."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(_guarded, work))


def _guarded(work: Callable[[], T]) -> T:
    try:
        return work()
    except (OperationalError, InterfaceError):
        connections["default"].close()
        raise
