"""Where the work is done: Django's database is used from threads, and each keeps its connection for the next call."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import TypeVar

from django.conf import settings
from django.db import close_old_connections

R = TypeVar("R")


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=settings.MCP_THREADS, thread_name_prefix="mcp")


async def run(work: Callable[[], R]) -> R:
    """Do `work` in a thread while the event loop goes on."""

    def guarded() -> R:
        try:
            return work()
        finally:
            close_old_connections()

    return await asyncio.get_running_loop().run_in_executor(_pool(), copy_context().run, guarded)
