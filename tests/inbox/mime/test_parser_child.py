"""The child dies instead of the worker, says why, and the next mail finds another one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from inbox.mime import child as child_module
from inbox.mime.child import ROOT, ParserChild, ParserCrashed, ParserPool
from inbox.mime.parsing import parse

MAIL = b"From: Ann <ann@example.org>\r\nSubject: Hello\r\n\r\nHow are you?\r\n"
# A worker whose parse does what the subject says; everything else is the real worker.
SABOTEUR = """
import sys; sys.path.insert(0, sys.argv.pop(1))
import os, signal, time
from inbox.mime import worker
real = worker.parse
def parse(raw):
    if b"burn" in raw:
        while True: pass
    if b"sleep" in raw:
        time.sleep(60)
    if b"eat" in raw:
        bytearray(2 * 1024 ** 3)
    if b"die" in raw:
        os.kill(os.getpid(), signal.SIGKILL)
    if b"garbage" in raw:
        sys.stdout.buffer.write(b"\\xff" * 64); sys.stdout.buffer.flush(); os._exit(0)
    return real(raw)
worker.parse = parse
worker.main(sys.argv)
"""


@pytest.fixture
def child() -> Iterator[ParserChild]:
    parser = ParserChild()
    yield parser
    parser.close()


@pytest.fixture
def fragile(monkeypatch: pytest.MonkeyPatch) -> Iterator[ParserChild]:
    monkeypatch.setattr(child_module, "_BOOT", SABOTEUR)
    parser = ParserChild(cpu_seconds=0.3, wall_seconds=3.0)
    yield parser
    parser.close()


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until_gone(pid: int, seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not is_running(pid):
            return True
        time.sleep(0.02)
    return False


def test_the_answer_is_that_of_the_parser(child: ParserChild) -> None:
    attachment = b"Content-Type: application/pdf\r\n\r\n%PDF" + os.urandom(3_000_000)
    for raw in (MAIL, b"", attachment):
        assert child.parse(raw) == parse(raw)


def test_one_process_serves_many_mails(child: ParserChild) -> None:
    child.parse(MAIL)
    first = child.pid
    for _ in range(50):
        child.parse(MAIL)
    assert child.pid == first


def test_reply_text_of_a_body(child: ParserChild) -> None:
    assert child.reply_text(b"Yes.\n\n> Shall we?\n") == "Yes."
    assert child.reply_text(b"caf\xe9") == "caf\ufffd"


@pytest.mark.parametrize(
    ("subject", "reason"),
    [(b"burn", "cpu"), (b"sleep", "time"), (b"eat", "memory"), (b"die", "crash"), (b"garbage", "crash")],
)
def test_a_mail_that_kills_the_child(fragile: ParserChild, subject: bytes, reason: str) -> None:
    assert fragile.parse(MAIL).subject == "Hello"
    killed = fragile.pid or 0
    start = time.monotonic()
    with pytest.raises(ParserCrashed) as crash:
        fragile.parse(b"Subject: " + subject + b"\r\n\r\n")
    assert crash.value.reason == reason
    assert time.monotonic() - start < 30  # it would sleep for a minute
    assert not is_running(killed)
    assert fragile.parse(MAIL).subject == "Hello"
    assert fragile.pid != killed


def test_neighbours_of_a_poison_mail_are_all_read(fragile: ParserChild) -> None:
    mails = [b"Subject: %d\r\n\r\nx" % number for number in range(12)]
    mails[5] = b"Subject: die\r\n\r\nx"
    subjects = []
    for raw in mails:
        try:
            subjects.append(fragile.parse(raw).subject)
        except ParserCrashed:
            subjects.append("poison")
    assert subjects == [*map(str, range(5)), "poison", *map(str, range(6, 12))]


def test_killed_from_outside_between_two_mails(child: ParserChild) -> None:
    child.parse(MAIL)
    os.kill(child.pid or 0, signal.SIGKILL)
    wait_until_gone(child.pid or 0, 1)
    assert child.parse(MAIL).subject == "Hello"


def test_recycled_after_a_number_of_mails() -> None:
    parser = ParserChild(recycle_after=3)
    try:
        seen = set()
        for _ in range(9):
            parser.warm_up()
            seen.add(parser.pid)
            assert parser.parse(MAIL).subject == "Hello"
        assert len(seen) == 3
    finally:
        parser.close()


def test_close_leaves_no_process(child: ParserChild) -> None:
    child.parse(MAIL)
    pid = child.pid or 0
    child.close()
    assert not is_running(pid)


def test_many_threads_share_one_child(child: ParserChild) -> None:
    wrong: list[str] = []

    def work(number: int) -> None:
        for step in range(30):
            wanted = f"{number}-{step}"
            got = child.parse(f"Subject: {wanted}\r\n\r\nx".encode()).subject
            if got != wanted:
                wrong.append(got)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_pool_serves_more_threads_than_children() -> None:
    pool = ParserPool(2)
    results: list[str] = []
    try:
        threads = [threading.Thread(target=lambda: results.append(pool.parse(MAIL).subject)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == ["Hello"] * 8
    finally:
        pool.close()


def test_a_fork_does_not_use_its_parents_child(child: ParserChild) -> None:
    child.parse(MAIL)
    mine = child.pid
    reader, writer = os.pipe()
    forked = os.fork()
    if forked == 0:
        try:
            os.write(writer, f"{child.parse(MAIL).subject} {child.pid}".encode())
            child.close()
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        subject, _, pid = answer.read().partition(" ")
    os.waitpid(forked, 0)
    assert subject == "Hello"
    assert int(pid) != mine
    assert child.parse(MAIL).subject == "Hello"
    assert child.pid == mine


def test_the_child_does_not_outlive_its_parent() -> None:
    script = "from inbox.mime.child import ParserChild; import os, signal\nc = ParserChild(); c.warm_up(); print(c.pid, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert wait_until_gone(int(done.stdout))


def test_the_child_inherits_no_secret(child: ParserChild, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "do-not-pass-on")
    child.parse(MAIL)
    environment = Path(f"/proc/{child.pid}/environ").read_bytes()
    assert b"do-not-pass-on" not in environment
    assert os.readlink(f"/proc/{child.pid}/cwd") == "/"


def test_the_parser_knows_no_django() -> None:
    script = "import sys; import inbox.mime.worker, inbox.mime.child, inbox.mime.rendering; print('django' in sys.modules, 'lxml' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
