"""A small client that posts over connections that stay open: asyncio's streams and nothing else, so that the server is
what is measured. Orders come as JSON lines; see tests/bench/crew.py."""

import asyncio
import json
import pickle
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

READY: list[bytes] = []


def load(path: str) -> int:
    """Whole requests, head and body, before the clock runs."""
    READY[:] = pickle.loads(Path(path).read_bytes())
    return len(READY)


def post(port: int, connections: int, expected: int = 202) -> dict[str, float]:
    """Send all that is loaded, one at a time on each connection. Milliseconds of the median and the slowest hundredth."""
    times: list[float] = []
    began = time.perf_counter()
    asyncio.run(_post_all(port, connections, expected, times))
    seconds = time.perf_counter() - began
    times.sort()
    return {
        "seconds": seconds,
        "p50": times[len(times) // 2] * 1000,
        "p99": times[min(len(times) * 99 // 100, len(times) - 1)] * 1000,
    }


async def _post_all(port: int, connections: int, expected: int, times: list[float]) -> None:
    waiting = iter(READY)
    await asyncio.gather(*[_work(waiting, port, expected, times) for _ in range(connections)])


async def _work(waiting: Iterator[bytes], port: int, expected: int, times: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for request in waiting:
        began = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
        body = await reader.readexactly(int(fields[b"content-length"]))
        times.append(time.perf_counter() - began)
        if int(head.split(b" ", 2)[1]) != expected:
            raise RuntimeError(f"{head.splitlines()[0].decode()}: {body[:300]!r}")
    writer.close()
    await writer.wait_closed()


def main() -> None:
    known = {"load": load, "post": post}
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)
        try:
            answer: dict[str, Any] = {"done": known[order.pop("do")](**order)}  # type: ignore[operator]
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
