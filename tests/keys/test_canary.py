"""A secret is to be found nowhere (K4): dump, write-ahead log, Redis, logs, API, console, errors, tasks, repr, pickles."""

import base64
import os
import pickle
import subprocess
import sys
import traceback
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from django.conf import settings as django_settings
from django.urls import reverse
from django.views.debug import ExceptionReporter

from inbox.models import Connection, ConnectionCredential
from inbox.queries import connections
from inbox.services import connecting, trying
from kernel import nudge
from kernel.envelope import CannotDecrypt
from kernel.secrecy import Secret
from kernel.transactions import in_workspace
from tests.api.conftest import Caller
from tests.console import seed
from tests.console.conftest import signed_in
from tests.isolation.routes import routes
from webhooks.models import Webhook

PASSWORD = f"Canary-{uuid4().hex}"


class Canary:
    """Secrets of three kinds, in every form in which they might turn up."""

    def __init__(self, *texts: str) -> None:
        self.forms = {
            form for text in texts for form in (text.encode(), base64.b64encode(text.encode()), text.encode().hex().encode())
        }  # fmt: skip

    def seen_in(self, content: bytes | str) -> bool:
        found = content if isinstance(content, bytes) else content.encode(errors="replace")
        return any(form in found for form in self.forms)


@pytest.fixture
def place(db, settings):
    settings.API_RATE_LIMIT = 0
    return seed.workspace("Acme", seed.person("owner@acme.example"), "acme.example")


@pytest.fixture
def planted(place, caplog, capfd) -> tuple[Canary, Caller, str]:
    """A connection with a password, a webhook with its secret, and an answer that is kept for its key."""
    caller = Caller(place.workspace.id)
    body = {"provider": "smtp", "configuration": {"host": "a.invalid", "user": "u"}, "secret": PASSWORD}
    made = caller("POST", "/connections", body, Idempotency_Key="one")
    caller("POST", "/connections", body, Idempotency_Key="two")
    hook = caller("POST", "/webhooks", {"url": "https://a.test/", "slugs": ["*"]}, Idempotency_Key="three").json()
    key = base64.b64decode(hook["secret"].removeprefix("whsec_"))
    canary = Canary(PASSWORD, hook["secret"], caller.secret.split("_", 2)[2])
    canary.forms |= {key, key.hex().encode()}
    while trying.check_due():
        pass
    return canary, caller, made.json()["id"]


def dump() -> bytes:
    """Every row of every table, as pg_dump writes them."""
    found = b""
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute("SET app.all_workspaces = 'on'")
        names = [row[0] for row in owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
        for name in names:
            # A table with columns that the database makes by itself is copied by a query.
            with owner.cursor().copy(f'COPY (SELECT * FROM "{name}") TO STDOUT') as copy:
                found += b"".join(bytes(block) for block in copy)
    return found


def test_the_dump_has_it_nowhere(planted, cases):
    canary, _, connection_id = planted
    found = dump()
    assert connection_id.encode() in found  # what is looked through is the real thing
    assert not canary.seen_in(found)
    # Bytes are written in hexadecimal there, which the canary's forms include.
    cases("K4", 1)


def test_the_write_ahead_log_has_it_nowhere(planted, cases):
    canary, *_ = planted
    folders = [Path(path) for path in Path("/").glob("var/lib/autonomous-inbox/*/data/pg_wal")]
    folders += [django_settings.BASE_DIR / "var" / "postgres" / "data" / "pg_wal"]
    segments = [path for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_file()]
    if not segments:
        pytest.skip("The database is not on this machine's disk.")
    contents = [path.read_bytes() for path in segments]
    assert any(b"a.invalid" in content for content in contents)
    assert not [content for content in contents if canary.seen_in(content)]
    cases("K4", 1)


def test_redis_and_with_it_every_task_has_it_nowhere(planted, cases):
    """Nudges and the messages of tasks, with their arguments, lie in Redis."""
    canary, caller, connection_id = planted
    caller("POST", f"/connections/{connection_id}/credentials", {"secret": PASSWORD})
    client = nudge.client()
    keys = list(client.scan_iter())
    assert keys
    for key in keys:
        kind = client.type(key)
        values = client.lrange(key, 0, -1) if kind == b"list" else [client.dump(key) or b""]
        assert not [value for value in values if canary.seen_in(value) or canary.seen_in(base64.b64encode(value))]
    assert client.lrange("celery", 0, -1)
    cases("K4", 2)


def test_no_log_line_has_it(planted, caplog, capfd, cases):
    canary, caller, connection_id = planted
    caplog.set_level("DEBUG")
    caller("POST", f"/connections/{connection_id}/credentials", {"secret": PASSWORD, "wrong": PASSWORD})
    caller("POST", "/connections", b'{"secret": "' + PASSWORD.encode() + b'"')
    import logging

    secret = Secret(PASSWORD)
    logging.getLogger("tests").warning("signing in", extra={"password": PASSWORD, "held": secret, "value": f"{secret}"})
    out, err = capfd.readouterr()
    assert "signing in" in err + out + caplog.text
    for text in (out, err, caplog.text):
        assert not canary.seen_in(text)
    cases("K4", 1)


def test_no_answer_of_the_api_has_it(planted, cases):
    canary, caller, connection_id = planted
    seen = 0
    for route in routes():
        answer = caller("GET", route.replace("{id}", connection_id))
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        assert not canary.seen_in(content), route
        seen += 1
    assert seen > 40
    cases("K4", 1)


def test_no_page_of_the_console_has_it(planted, place, cases):
    canary, _, connection_id = planted
    owner = signed_in(place.owner)
    with in_workspace(place.workspace.id):
        hook = Webhook.objects.get().id
    pages = [
        reverse("admin:inbox_connection_changelist"),
        reverse("admin:inbox_connection_change", args=[connection_id]),
        reverse("admin:webhooks_webhook_change", args=[hook]),
        reverse("admin:tenancy_machinekey_changelist"),
        reverse("admin:audit_auditevent_changelist"),
        reverse("admin:kernel_outboxevent_changelist"),
        reverse("admin:index"),
    ]
    for page in pages:
        answer = owner.get(page)
        assert answer.status_code == 200, page
        assert not canary.seen_in(answer.content), page
    # A form that was refused comes back without what was typed into the field of the secret.
    url = reverse("admin:inbox_connection_add")
    answer = owner.post(url, {"provider": "smtp", "name": "x", "host": "a b", "secret": PASSWORD})
    assert (answer.status_code, canary.seen_in(answer.content)) == (200, False)
    cases("K4", 1)


def test_no_error_has_it(planted, place, settings, monkeypatch, cases):
    """The answer to a fault, the report of it with every local variable, and a traceback."""
    canary, caller, connection_id = planted

    def broken(**_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(connecting, "_wait", broken)
    answer = caller("POST", f"/connections/{connection_id}/credentials", {"secret": PASSWORD})
    assert (answer.status_code, canary.seen_in(answer.content)) == (500, False)
    with in_workspace(place.workspace.id):
        row = Connection.objects.first()
        held = connections.opened(connections.credential(row.id))
        transport = connections.tried(row, connections.credential(row.id))
    assert held.reveal() == PASSWORD
    with pytest.raises(CannotDecrypt) as fault:
        _fails_with(transport, held)
    settings.DEBUG = True  # the page that shows every local variable
    html = ExceptionReporter(None, fault.type, fault.value, fault.tb).get_traceback_html()
    text = "".join(traceback.TracebackException(fault.type, fault.value, fault.tb, capture_locals=True).format())
    for page in (html, text):
        assert "transport" in page
        assert not canary.seen_in(page)
    cases("K4", 1)


def _fails_with(transport: object, held: Secret) -> None:
    assert transport
    assert held
    raise CannotDecrypt


def test_neither_repr_nor_pickle_has_it(planted, place, cases):
    canary, *_ = planted
    with in_workspace(place.workspace.id):
        row = Connection.objects.first()
        credential = connections.credential(row.id)
        transport = connections.tried(row, credential)
        rows = [row, credential, Webhook.objects.get()]
    for thing in (*rows, transport, transport.password):
        for text in (repr(thing), str(thing), f"{thing}", repr(getattr(thing, "__dict__", ""))):
            assert not canary.seen_in(text), thing
    assert not [row for row in rows if canary.seen_in(pickle.dumps(row))]
    for thing in (transport, transport.password):
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(thing)
    with in_workspace(place.workspace.id):
        assert ConnectionCredential.objects.count() == 1
    cases("K4", 2)


def test_a_command_does_not_say_it(planted, cases):
    """What an operator sees: the doctor, and the report of a rotation."""
    canary, *_ = planted
    for name in (["doctor", "--deep"], ["rotate_keys", "--json"]):
        done = subprocess.run(
            [sys.executable, "manage.py", *name], capture_output=True, cwd=django_settings.BASE_DIR, env=os.environ, timeout=120
        )  # fmt: skip
        assert not canary.seen_in(done.stdout + done.stderr)
    cases("K4", 1)
