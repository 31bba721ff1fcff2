"""A worker that is stopped finishes what it has begun, and leaves the rest in the queue: nothing is in doubt."""

import os
import signal
import subprocess
import time
from collections import Counter

from config.celery import app
from config.processes import worker
from tests.factories.world import house
from tests.inbox.test_sending import one_mail, reply, states
from tests.world.smtp import Script, ScriptedServer

# Of the slow server, for one message.
_WAIT, _QUEUED = 2.0, 30


def test_a_worker_with_queued_mail_ends_within_a_message_and_nothing_is_uncertain(db, settings):
    acme = house()
    for number in range(_QUEUED):
        reply(acme, one_mail(acme, sender=f"p{number}@customer.test"), key=f"k{number}")
    script = Script(wait=_WAIT)
    with ScriptedServer(script) as server:
        told = {
            "MAIL_TRANSPORT": "smtp",
            "MAIL_SMTP_HOST": "127.0.0.1",
            "MAIL_SMTP_PORT": str(server.port),
            "MAIL_SMTP_TLS": "none",
        }
        environment = os.environ | told | {"DJANGO_SETTINGS_MODULE": "config.settings.test"}
        for _ in range(4):
            app.send_task("inbox.tasks.send_mail")
        process = subprocess.Popen(worker().argv, cwd=settings.BASE_DIR, env=environment)
        try:
            ends = time.monotonic() + 60
            while not script.accepted and time.monotonic() < ends:
                time.sleep(0.05)
            assert script.accepted, "the worker sends nothing"
            process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            process.wait(timeout=40)
            took = time.monotonic() - began
        finally:
            process.kill()
            process.wait()
    found = Counter(state for state, _ in states(acme))
    # One message's time, and what a process needs to end.
    assert took < _WAIT + 8
    assert set(found) == {"sent", "queued"}
    assert found["sent"] == len(script.accepted) < _QUEUED / 2
