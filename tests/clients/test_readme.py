"""The README of the Python client: its examples, run in order on the real API."""

import os
import re
import subprocess
import sys

import pytest

from inbox.models import Email
from inbox.services import ingesting
from kernel import clock
from kernel.transactions import in_workspace
from tenancy.services import keys
from tests.clients.signed import SECRET, headers
from tests.factories.world import deliver, house
from tests.world.serving import ROOT
from webhooks.models import Webhook
from webhooks.transport import signing

pytestmark = pytest.mark.xdist_group("clients")
README = ROOT / "clients/python/README.md"


def examples() -> str:
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL))


def test_the_examples_work(db, api, tmp_path):
    place = house()
    deliver(b"From: a@customer.test\r\nTo: support@acme.test\r\nSubject: Hello there\r\n\r\nHi\r\n")
    now = clock.now()
    body = '{"type": "email.received"}'
    sent = headers(SECRET, timestamp=int(now.timestamp()), body=body)
    program = (
        f"{examples()}\nassert receive({body!r}.encode(), {sent!r}) == 204\nassert receive(b'x', {sent!r}) == 400\n"
    )
    (tmp_path / "examples.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-W", "error", str(tmp_path / "examples.py")],
        env=dict(os.environ)
        | {
            "PYTHONPATH": str(ROOT / "clients/python/src"),
            "INBOX_URL": api,
            "INBOX_KEY": keys.issue(workspace_id=place.id, name="README", scopes=["*"])[1],
            "INBOX_ADDRESS": place.inbox.address,
            "WEBHOOK_SECRET": signing.secret_text(SECRET),
        },
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Hello there 1" in done.stdout
    assert "unknown_event_slug /slugs Unknown: no.such.event." in done.stdout
    ingesting.process_all()
    with in_workspace(place.id):
        assert Email.objects.filter(subject="Opening hours").count() == 1
        assert not Webhook.objects.exists()


def test_the_examples_are_typed(tmp_path):
    """As strictly as their reader may check their own code."""
    (tmp_path / "examples.py").write_text(examples())
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache"), "examples.py"],
        cwd=tmp_path, env=dict(os.environ) | {"MYPYPATH": str(ROOT / "clients/python/src")},
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
