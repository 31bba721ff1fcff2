"""A wire that can be cut: a TCP proxy in a thread, whose connections the test resets when it likes."""

import asyncio
import socket
import struct
import threading
from typing import Self

# Linger on, for no time at all: closing sends a reset instead of an orderly end.
ABRUPTLY = struct.pack("ii", 1, 0)


class Proxy:
    """Passes on what comes to its port to another port of this machine."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._open: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = self._run(asyncio.start_server(self._carry, "127.0.0.1", 0))
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()
        self.reset()
        self._run(asyncio.sleep(0.05))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def port(self) -> int:
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def connections(self) -> int:
        """How many there are now."""
        return len([writer for writer in self._open.copy() if not writer.is_closing()]) // 2

    def reset(self) -> int:
        """Reset every connection on both sides; how many there were."""
        return self._run(self._reset())

    async def _reset(self) -> int:
        writers, self._open = [writer for writer in self._open if not writer.is_closing()], set()
        for writer in writers:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABRUPTLY)
            writer.transport.abort()
        return len(writers) // 2

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:  # nobody there: as if it had been refused here
            writer.transport.abort()
            return
        self._open |= {writer, back}
        await asyncio.gather(self._pump(reader, back), self._pump(there, writer))
        self._open -= {writer, back}

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65_536):
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        sink.close()

    def _run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)
