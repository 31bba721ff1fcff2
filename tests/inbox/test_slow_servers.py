"""A server that never comes to an end costs the time of one conversation, and only the doubt that it has to."""

import time

import pytest

from inbox.channels.smtp import SmtpTransport
from inbox.channels.transport import NotAccepted
from inbox.models import OutboundMessage
from inbox.services import sending
from kernel.secrecy import Secret
from kernel.transactions import in_workspace
from tests.factories.world import house
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
