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
from inbox.models import InboundMessage, Inbox
from inbox.services import inboxes, ingesting
from inbox.services.addressing import Further
from kernel.transactions import in_all_workspaces
from tenancy.services import domains
from tests.factories.world import House, hand_in, house, mail

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


# Every way in which an address may be an inbox's, beside addresses like them that are nobody's.
WAYS = {
    "Support@ACME.test": True,
    "support+orders@acme.test": True,
    "help@acme.test": True,
    "Help+now@acme.test": True,
    "nobody@acme.test": False,
    "helper@acme.test": False,
    "help@elsewhere.test": False,
    "whoever@brands.test": True,
    "whoever+x@BRANDS.test": True,
    "whoever@sub.brands.test": False,
    "*@acme.test": False,
    "gone@acme.test": False,
}


def _with_every_way() -> tuple[House, list[Inbox]]:
    acme = house()
    domains.claim(workspace_id=acme.id, domain="brands.test")
    domains.confirm(workspace_id=acme.id, domain="brands.test", proof="test")
    inboxes.change(workspace_id=acme.id, inbox_id=acme.inbox.id, changes={"aliases": ["help@acme.test"]})
    brands = inboxes.open_inbox(
        workspace_id=acme.id, address="hello@brands.test", further=Further(aliases=(), catch_all=True)
    )
    gone = inboxes.open_inbox(workspace_id=acme.id, address="gone@acme.test")
    inboxes.delete(workspace_id=acme.id, inbox_id=gone.id)
    return acme, [acme.inbox, brands]


def _answers(port: int) -> dict[str, bool]:
    """Which addresses are taken at RCPT; a refusal is for good."""
    with smtplib.SMTP("127.0.0.1", port, timeout=20) as session:
        session.ehlo()
        session.mail("ada@customer.test")
        codes = {address: session.rcpt(address)[0] for address in WAYS}
    assert set(codes.values()) <= {250, 550}
    return {address: code == 250 for address, code in codes.items()}


def test_the_door_is_open_for_exactly_the_addresses_that_lead_to_an_inbox(db, listener):
    """What RCPT says is what acceptance does: with an alias, a tag, whatever a domain gets, and with what nobody has."""
    _with_every_way()
    assert _answers(listener[0]) == WAYS
    for address, leads in WAYS.items():
        (accepted,) = hand_in(mail(), address)
        assert (accepted.inbox_id is not None) is leads, address
    send(listener[0], mail(), *[address for address, leads in WAYS.items() if leads])
    with in_all_workspaces("counting in a test"):
        assert InboundMessage.objects.get(source="smtp").emails.count() == 2


@pytest.mark.parametrize("what", ["store", "bounce"])
def test_an_inbox_that_is_off_refuses_under_all_its_addresses_where_its_policy_says_so(db, listener, what):
    acme, both = _with_every_way()
    for inbox in both:
        inboxes.change(
            workspace_id=acme.id, inbox_id=inbox.id, changes={"policy": {"when_inactive": what}, "active": False}
        )
    assert _answers(listener[0]) == (WAYS if what == "store" else dict.fromkeys(WAYS, False))


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
