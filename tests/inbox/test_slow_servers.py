"""A server that never comes to an end costs the time of one conversation, and only the doubt that it has to."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from inbox.channels.smtp import SmtpTransport
from inbox.channels.transport import NotAccepted
from inbox.models import Email, OutboundMessage
from inbox.services import sending
from inbox.tasks import check_connections, process_messages, send_mail
from kernel.models import OutboxEvent
from kernel.secrecy import Secret
from kernel.tasks import drain_outbox
from kernel.transactions import in_workspace
from tests.factories.world import hand_in, house, mail
from tests.inbox.test_sending import one_mail, outbox_to, reply, states
from tests.world.smtp import Script, ScriptedServer

__all__ = ["outbox_to"]

# The watchdog hangs up long before this, and long after the pause between two drops.
_DEADLINE, _PATIENCE = 1.0, 4.0
BEFORE_THE_END_OF_DATA = ["connect", "ehlo", "mail", "rcpt", "data"]


@pytest.fixture(autouse=True)
def short(settings):
    settings.SEND_DEADLINE_SECONDS = _DEADLINE


@pytest.mark.parametrize(
    ("moment", "state"),
    [*((moment, "queued") for moment in BEFORE_THE_END_OF_DATA), ("content", "uncertain"), ("quit", "sent")],
)
def test_a_server_that_drips_holds_a_sender_no_longer_than_one_conversation(db, settings, outbox_to, moment, state):
    acme = house()
    email_id = one_mail(acme)
    with ScriptedServer(Script(drips=moment)) as server:
        outbox_to(server.port)
        settings.SEND_RETRY_SECONDS = [600]
        reply(acme, email_id)
        began = time.monotonic()
        assert sending.send_due()
    assert time.monotonic() - began < _PATIENCE
    assert [found for found, _ in states(acme)] == [state]
    with in_workspace(acme.id):
        error = OutboundMessage.objects.get().last_error
    assert error == ("" if state == "sent" else "the conversation was not over after 1 seconds")


@pytest.mark.parametrize("tls", ["none", "starttls", "implicit"])
@pytest.mark.parametrize("moment", ["connect", "ehlo"])
def test_a_check_ends_with_the_conversation_whatever_is_spoken(settings, tls, moment):
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    with ScriptedServer(Script(drips=moment)) as server:
        transport = SmtpTransport(
            host="127.0.0.1", port=server.port, user="", password=Secret(""), tls=tls, timeout=30, deadline=_DEADLINE,
            guarded=True,
        )  # fmt: skip
        began = time.monotonic()
        with pytest.raises(NotAccepted):
            transport.check()
    assert time.monotonic() - began < _PATIENCE


def test_slow_servers_hold_half_of_a_worker_and_the_other_half_goes_on(db, settings, outbox_to):
    acme = house()
    settings.SEND_DEADLINE_SECONDS = 15.0
    emails = [one_mail(acme, sender=f"p{number}@customer.test") for number in range(4)]
    script = Script(drips="connect")
    with ScriptedServer(script) as server, ThreadPoolExecutor(4) as worker:
        outbox_to(server.port)
        for number, email_id in enumerate(emails):
            reply(acme, email_id, key=f"k{number}")
        began = time.monotonic()
        sends = [worker.submit(apart, send_mail) for _ in range(4)]
        hand_in(mail(subject="meanwhile"))
        for task in (process_messages, drain_outbox, check_connections):
            worker.submit(apart, task).result(timeout=10)
        assert time.monotonic() - began < settings.SEND_DEADLINE_SECONDS
        assert sum(not each.done() for each in sends) == 2
        with in_workspace(acme.id):
            assert Email.objects.filter(subject="meanwhile").exists()
            assert not OutboxEvent.objects.filter(slug="email.received", published_at=None).exists()
        script.drips = ""
        for each in sends:
            each.result(timeout=10)
    assert states(acme) == [("sent", "sent")] * 4


def apart(task) -> None:
    """As a thread of the worker does it."""
    try:
        task()
    finally:
        connection.close()
