"""The mail listener as a process: 250 means stored, unknown recipients are refused, and a kill loses nothing."""

import os
import smtplib
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from config import ports
from inbox.models import InboundMessage
from inbox.services import ingesting
from kernel.transactions import in_all_workspaces
from tests.factories.world import house, mail

pytestmark = pytest.mark.xdist_group("listener")  # one process for most of them


@contextmanager
def listening(*options: str, **environment: str) -> Iterator[tuple[int, subprocess.Popen]]:
    port = ports.choose(0)
    process = subprocess.Popen(
        [sys.executable, "manage.py", "run_smtp", "--port", str(port), *options],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings.test"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdout.readline(), "the listener did not start"
        yield port, process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(timeout=15)
        process.stdout.close()


@pytest.fixture(scope="module")
def listener(django_db_setup) -> Iterator[tuple[int, subprocess.Popen]]:
    """One for all tests that neither end it nor want it otherwise: it keeps nothing between sessions."""
    with listening() as (port, process):
        yield port, process


def send(port: int, raw: bytes, *recipients: str, client: type[smtplib.SMTP] = smtplib.SMTP) -> None:
    with client("127.0.0.1", port, timeout=20) as session:
        session.sendmail("ada@customer.test", list(recipients) or ["support@acme.test"], raw)


def messages() -> list[tuple[str, str, int]]:
    with in_all_workspaces("counting in a test"):
        return list(InboundMessage.objects.order_by("created_at").values_list("source", "state", "deliveries"))


def test_a_mail_is_stored_before_250_and_repeated_ones_are_the_same(db):
    house()
    raw = mail()
    with listening() as (port, process):
        send(port, raw)
        assert messages() == [("smtp", "stored", 1)]
        send(port, raw)
        assert messages() == [("smtp", "stored", 2)]
        process.terminate()
        assert process.wait(timeout=15) == 0
    ingesting.process_all()
    assert messages() == [("smtp", "done", 2)]


def test_recipients_that_nobody_has_are_refused_and_the_others_get_the_mail(db, listener):
    house()
    with smtplib.SMTP("127.0.0.1", listener[0], timeout=20) as session:
        refused = session.sendmail("ada@customer.test", ["support@acme.test", "nobody@acme.test"], mail())
        assert {address: code for address, (code, _) in refused.items()} == {"nobody@acme.test": 550}
        with pytest.raises(smtplib.SMTPRecipientsRefused):
            session.sendmail("ada@customer.test", ["nobody@elsewhere.test"], mail())
    assert len(messages()) == 1


def test_a_tagged_address_reaches_its_inbox(db, listener):
    house()
    send(listener[0], mail(), "Support+orders@ACME.test")
    assert len(messages()) == 1


def test_lmtp(db):
    house()
    with listening("--lmtp") as (port, _):
        send(port, mail(), client=smtplib.LMTP)
    assert messages() == [("lmtp", "stored", 1)]


@pytest.mark.long
def test_a_listener_killed_after_the_commit_leaves_one_mail(db):
    house()
    raw = mail()
    with listening(CRASH_AT="accept.committed:kill") as (port, process):
        with pytest.raises((smtplib.SMTPServerDisconnected, ConnectionError, OSError)):
            send(port, raw)
        process.wait(timeout=15)
    with listening() as (port, _):
        send(port, raw)
    assert messages() == [("smtp", "stored", 2)]


def test_too_large_mail_is_refused_before_it_is_sent(db):
    house()
    with listening(MAIL_MAX_BYTES="20000") as (port, _):
        with pytest.raises(smtplib.SMTPResponseException) as refused:
            send(port, mail(text="x" * 30_000))
        assert refused.value.smtp_code == 552
    assert messages() == []


def test_the_listener_survives_garbage(db, listener):
    import socket

    house()
    port, process = listener
    for noise in (b"\x00\xff\r\n" * 50, b"GET / HTTP/1.1\r\n\r\n", b"A" * 70_000 + b"\r\n"):
        with socket.create_connection(("127.0.0.1", port), timeout=5) as raw_socket:
            raw_socket.sendall(noise)
            time.sleep(0.05)
    assert process.poll() is None
    send(port, mail())
    assert len(messages()) == 1
