"""Parsing in a child process: a hostile mail can cost that child its life, never the worker that asked.

    pool = ParserPool()
    mail = pool.parse(raw)          # ParserCrashed when the child died over it; the next call starts another

The child lives on from mail to mail, so an ordinary one pays two pipe writes. It is replaced after a number
of messages, against slow leaks, and the replacement warms up while the caller does something else.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inbox.mime.types import ParsedMail
from inbox.mime.wire import ANSWER, BODY, EXIT_MEMORY, HTML, MAIL, REQUEST, html_decoder, mail_decoder, text_decoder

ROOT = Path(__file__).resolve().parents[2]
_BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from inbox.mime.worker import main; main(sys.argv)"
_PIPE = 1024 * 1024
_CHUNK = 1024 * 1024
_MAX_ANSWER = 256 * 1024 * 1024
_CHILDREN: weakref.WeakSet[ParserChild] = weakref.WeakSet()


class ParserCrashed(Exception):
    """The child did not survive this message. `reason` is one of cpu, time, memory, crash."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class ParserChild:
    """One child and the lock around it. Cheap to create: the process starts with the first message."""

    def __init__(
        self,
        *,
        cpu_seconds: float = 2.0,
        wall_seconds: float = 15.0,
        memory: int = 220 * 1024 * 1024,
        recycle_after: int = 2_000,
    ) -> None:
        self.cpu_seconds = cpu_seconds
        self.wall_seconds = wall_seconds
        self.memory = memory
        self.recycle_after = recycle_after
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._served = 0
        _CHILDREN.add(self)

    @property
    def pid(self) -> int | None:
        """The process id of the running child, for tests and for the console."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def parse(self, raw: bytes) -> ParsedMail:
        return mail_decoder.decode(self._ask(MAIL, raw))

    def reply_text(self, body: bytes) -> str:
        """The new text of a plain body; for the command and for channels that are no mail."""
        return text_decoder.decode(self._ask(BODY, body))

    def clean(self, html: str) -> str | None:
        """Sanitised HTML; None for what cannot be had within the limits. Asked apart from the mail, which stays readable."""
        try:
            return html_decoder.decode(self._ask(HTML, html.encode("utf-8", "replace")))
        except ParserCrashed:
            return None

    def warm_up(self) -> None:
        """Start the process now instead of with the first message."""
        with self._lock:
            self._running()

    def close(self) -> None:
        with self._lock:
            self._end()

    def _ask(self, what: bytes, data: bytes) -> bytearray:
        with self._lock:
            process = self._running()
            try:
                answer = self._exchange(process, what, data)
            except ParserCrashed:
                raise
            except BaseException:
                self._end()  # half an exchange: what comes next on the pipe would be an answer to another question
                raise
            self._served += 1
            if self._served >= self.recycle_after:
                self._end()
                self._running()
            return answer

    def _exchange(self, process: subprocess.Popen[bytes], what: bytes, data: bytes) -> bytearray:
        deadline = time.monotonic() + self.wall_seconds
        try:
            self._write(process, REQUEST.pack(what, self.cpu_seconds, len(data)), data, deadline)
            head = self._read(process, ANSWER.size, deadline)
            (length,) = ANSWER.unpack(head)
            if length > _MAX_ANSWER:
                raise BrokenPipeError
            return self._read(process, length, deadline)
        except TimeoutError:
            self._end()
            raise ParserCrashed("time", f"no answer within {self.wall_seconds} s") from None
        except (BrokenPipeError, EOFError, ConnectionError):
            raise self._obituary(process) from None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            self._process = self._start()
            self._served = 0
        return self._process

    def _start(self) -> subprocess.Popen[bytes]:
        """-I: no environment variable and no current directory decides what the child imports; no secrets go along."""
        main_thread = "1" if threading.current_thread() is threading.main_thread() else "0"
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and constant arguments
            [sys.executable, "-I", "-c", _BOOT, str(ROOT), str(self.memory), str(os.getpid()), main_thread],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            close_fds=True,
            cwd="/",
            env={"LANG": "C.UTF-8"},
        )
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                with contextlib.suppress(OSError):  # a smaller pipe is slower, nothing else
                    fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE)
        return process

    def _write(self, process: subprocess.Popen[bytes], head: bytes, data: bytes, deadline: float) -> None:
        """Small mail goes out in one call; a large one is watched, since a dead or stuck child reads nothing."""
        if process.stdin is None:
            raise BrokenPipeError
        descriptor = process.stdin.fileno()
        pieces = [head + data] if len(data) < _CHUNK else [head, data]
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                try:
                    rest = rest[os.write(descriptor, rest[:_CHUNK]) :]
                except BlockingIOError:
                    _wait(descriptor, select.POLLOUT, deadline)

    def _read(self, process: subprocess.Popen[bytes], length: int, deadline: float) -> bytearray:
        if process.stdout is None:
            raise EOFError
        descriptor = process.stdout.fileno()
        answer = bytearray(length)
        rest = memoryview(answer)
        while rest:
            _wait(descriptor, select.POLLIN, deadline)
            try:
                count = os.readv(descriptor, [rest[:_CHUNK]])
            except BlockingIOError:
                continue
            if count == 0:
                raise EOFError
            rest = rest[count:]
        return answer

    def _obituary(self, process: subprocess.Popen[bytes]) -> ParserCrashed:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=2)
        code = process.returncode
        self._end()
        reason = {-signal.SIGPROF: "cpu", -signal.SIGXCPU: "cpu", EXIT_MEMORY: "memory", -signal.SIGABRT: "memory"}
        return ParserCrashed(reason.get(code, "crash"), f"exit status {code}")

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def forget(self) -> None:
        """After a fork: the child is the parent's. Its pipes are closed here, or it would outlive the parent."""
        process, self._process = self._process, None
        self._lock = threading.Lock()
        if process is not None:
            process.returncode = 0  # not ours to wait for
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


def _forget_all() -> None:
    for child in tuple(_CHILDREN):
        child.forget()


os.register_at_fork(after_in_child=_forget_all)


def _wait(descriptor: int, event: int, deadline: float) -> None:
    left = deadline - time.monotonic()
    poll = select.poll()
    poll.register(descriptor, event)
    if left <= 0 or not poll.poll(left * 1000):
        raise TimeoutError


class ParserPool:
    """Several children for several threads; each takes the one used last, so that quiet ones stay unstarted."""

    def __init__(self, size: int = 2, **limits: Any) -> None:
        """`limits` are those of `ParserChild`."""
        self._idle = [ParserChild(**limits) for _ in range(size)]
        self._children = tuple(self._idle)
        self._condition = threading.Condition()

    def parse(self, raw: bytes) -> ParsedMail:
        with self._taken() as child:
            return child.parse(raw)

    def reply_text(self, body: bytes) -> str:
        with self._taken() as child:
            return child.reply_text(body)

    def clean(self, html: str) -> str | None:
        with self._taken() as child:
            return child.clean(html)

    def close(self) -> None:
        for child in self._children:
            child.close()

    @contextlib.contextmanager
    def _taken(self) -> Iterator[ParserChild]:
        with self._condition:
            while not self._idle:
                self._condition.wait()
            child = self._idle.pop()
        try:
            yield child
        finally:
            with self._condition:
                self._idle.append(child)
                self._condition.notify()
