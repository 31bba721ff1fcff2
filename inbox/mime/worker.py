"""The parser child: one mail after the other from stdin to stdout, under limits that only kill this process.

Started by child.py as a fresh interpreter, never by fork: it inherits no database connection, no secret and
no lock from the application.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from typing import BinaryIO

from inbox.mime.clean_html import NotCleaned, clean
from inbox.mime.parsing import parse
from inbox.mime.reply_text import reply_text
from inbox.mime.wire import ANSWER, BODY, EXIT_MEMORY, EXIT_ORPHAN, HTML, MAIL, REQUEST, encoder

_PR_SET_PDEATHSIG = 1
_ARGUMENTS = 4


def main(arguments: list[str]) -> None:
    """Arguments: address space to allow beyond the start, parent's process id, whether to die with its thread."""
    if len(arguments) < _ARGUMENTS:
        raise SystemExit("usage: worker <bytes> <parent pid> <0|1>")
    _confine(int(arguments[1]))
    _follow_parent(int(arguments[2]), arguments[3] == "1")
    serve(sys.stdin.buffer, sys.stdout.buffer)


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    while True:
        head = source.read(REQUEST.size)
        if len(head) < REQUEST.size:
            return
        what, seconds, length = REQUEST.unpack(head)
        data = source.read(length)
        if len(data) < length:
            return
        try:
            answer = _answered(what, seconds, data)
        except MemoryError:
            os._exit(EXIT_MEMORY)
        del data
        sink.write(ANSWER.pack(len(answer)))
        sink.write(answer)
        sink.flush()


def _answered(what: bytes, seconds: float, data: bytes) -> bytes:
    """SIGPROF has its default action here: a message that uses up its CPU time ends the process, even inside C."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        if what == MAIL:
            return encoder.encode(parse(data))
        if what == BODY:
            return encoder.encode(reply_text(data.decode("utf-8", "replace")).text)
        if what == HTML:
            return encoder.encode(_cleaned(data.decode("utf-8", "replace")))
        return b""
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _cleaned(html: str) -> str | None:
    try:
        return clean(html)
    except NotCleaned:
        return None


def _confine(extra: int) -> None:
    """Address space: what the interpreter has now plus `extra`. No core file: it would hold customers' mail."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open("/proc/self/statm", encoding="ascii") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, used + extra))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _follow_parent(parent: int, die_with_thread: bool) -> None:
    """End of input ends the child anyway; the signal also covers a parent that died while a message is parsed."""
    if die_with_thread:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(EXIT_ORPHAN)


if __name__ == "__main__":
    main(sys.argv)
