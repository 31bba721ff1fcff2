"""The end of tasks."""

import asyncio
from collections.abc import Collection
from typing import Any

_AGAIN_SECONDS = 0.2


async def end(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait until they have ended, whatever they end with.

    They are told more than once: a cancellation that reaches a client library while it connects can be lost there, and a
    dispatcher that waits for such a task would never stop.
    """
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=_AGAIN_SECONDS)
    await asyncio.gather(*tasks, return_exceptions=True)
