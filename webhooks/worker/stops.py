"""The emergency stop, as the dispatcher knows it: never older than a moment, however long it slept."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

# A request for each delivery would cost more than the delivery; this costs a few a second, whatever the load.
_FRESH_SECONDS = 0.25


class Stops:
    """Which workspaces are stopped."""

    def __init__(self, read: Callable[[], Awaitable[frozenset[str]]]) -> None:
        self._read = read
        self._known: frozenset[str] = frozenset()
        self._read_at = -_FRESH_SECONDS
        self._lock = asyncio.Lock()

    async def let(self, workspace_id: str) -> bool:
        """Whether a delivery of this workspace may be sent now."""
        if monotonic() - self._read_at >= _FRESH_SECONDS:
            async with self._lock:
                if monotonic() - self._read_at >= _FRESH_SECONDS:
                    began = monotonic()
                    self._known = await self._read()
                    self._read_at = began
        return workspace_id not in self._known
