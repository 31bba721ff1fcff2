"""Rotation (K3): 2,000 secrets in every table that holds any, twenty kills, readers and writers all the while."""

import json
import os
import threading
import time
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections

from audit.models import AuditEvent
from inbox.models import Connection, ConnectionCredential
from kernel import clock, crypto, rotation, sealed
from kernel.context import ESTATE
from kernel.crash import VARIABLE
from kernel.keys import ring
from kernel.models import EncryptionKey, IdempotencyRecord
from kernel.transactions import in_all_workspaces, in_workspace
from tests.agents import forking
from tests.factories.every import workspace
from webhooks.models import Webhook

ONE, TWO = b"1" * 32, b"2" * 32
EACH = 500  # times four columns


@pytest.fixture
def keys(settings, no_keys):
    settings.ENCRYPTION_KEYS = {1: ONE}
    crypto.register_keys()
    return settings


def fill(houses: list[UUID]) -> None:
    """Secrets in all four columns, each the text of its own row."""
    for number, house in enumerate(houses):
        mine = range(number, EACH, len(houses))
        with in_workspace(house):
            hooks = [_webhook(house) for _ in mine]
            Webhook.objects.bulk_create(hooks)
            accounts = [
                Connection(workspace_id=house, provider="smtp", name="x", external_account_id=f"a{n}") for n in mine
            ]
            Connection.objects.bulk_create(accounts)
            ConnectionCredential.objects.bulk_create([_credential(house, row.id) for row in accounts])
            IdempotencyRecord.objects.bulk_create(_kept_answer(house, n + 1) for n in mine)


def _kept_answer(house: UUID, number: int) -> IdempotencyRecord:
    frame = _frame("kernel_idempotencyrecord", house, number, "answer")
    return IdempotencyRecord(
        id=number, workspace_id=house, principal="p", operation="POST /x", key=f"k{number}", fingerprint=b"x" * 32,
        response_status=200, response_body=frame, expires_at=clock.now(),
    )  # fmt: skip


def _frame(table: str, house: UUID, key: object, purpose: str = "secret") -> bytes:
    place = {"workspace_id": house, "table": table, "row_id": sealed.row_id(key), "purpose": purpose}
    return crypto.seal(f"secret of {key}".encode(), **place)


def _webhook(house: UUID) -> Webhook:
    key = uuid4()
    frames = {name: _frame("webhooks_webhook", house, key) for name in ("secret_sealed", "previous_secret_sealed")}
    return Webhook(
        id=key, workspace_id=house, url="https://a.test/", slugs=["*"], previous_secret_until=clock.now(), **frames
    )


def _credential(house: UUID, connection_id: UUID) -> ConnectionCredential:
    key = uuid4()
    frame = _frame("inbox_connectioncredential", house, key)
    return ConnectionCredential(id=key, workspace_id=house, connection_id=connection_id, secret_sealed=frame)


def read_all() -> int:
    """Open every secret as it is now; the number of them. CannotDecrypt, or a wrong text, is a failure."""
    count = 0
    with in_all_workspaces("a test reads every secret"), connection.cursor() as cursor:
        for column in sealed.columns():
            cursor.execute(
                f"SELECT {column.key}, workspace_id, {column.column} FROM {column.table} WHERE {column.column} IS NOT NULL"
            )
            for key, house, frame in cursor.fetchall():
                place = {"table": column.table, "row_id": sealed.row_id(key), "purpose": column.purpose}
                text = crypto.open_sealed(bytes(frame), workspace_id=house, **place).decode()
                assert text == f"secret of {key}", column
                count += 1
    return count


class Others:
    """Readers and writers that go on until they are told to stop, and what went wrong for them."""

    def __init__(self, houses: list[UUID]) -> None:
        self.houses, self.stop, self.faults, self.turns = houses, threading.Event(), [], {"read": 0, "write": 0}
        self.threads = [threading.Thread(target=self._run, args=[name]) for name in ("read", "write")]

    def _run(self, name: str) -> None:
        try:
            while not self.stop.is_set():
                read_all() if name == "read" else self._write()
                self.turns[name] += 1
                time.sleep(0.02)
        except Exception as error:
            self.faults.append(error)
        finally:
            connections.close_all()

    def _write(self) -> None:
        house = self.houses[self.turns["write"] % len(self.houses)]
        with in_workspace(house):
            row = Webhook.objects.order_by("?").first()
            frame = _frame("webhooks_webhook", house, row.id)
            Webhook.objects.filter(id=row.id).update(secret_sealed=frame)

    def __enter__(self) -> "Others":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        for thread in self.threads:
            thread.join()


def test_rotation_that_is_killed_twenty_times_loses_nothing(keys, cases, capsys):
    houses = [workspace(name).id for name in ("Acme", "Globex")]
    fill(houses)
    assert read_all() == 4 * EACH
    keys.ENCRYPTION_KEYS = {1: ONE, 2: TWO}
    with pytest.raises(CommandError, match="still seals secrets"):
        _retire_early()
    with Others(houses) as others:
        for _ in range(20):
            # Each killed run has committed some batches, and died in the middle of one.
            forking.killed_at("rotation.batch", _one_batch_then_crash)
        assert 0 < rotation.uses()[1].get("webhooks_webhook.secret_sealed", 0) < EACH
        call_command("rotate_keys", "--json", batch=50)
    assert others.faults == []
    assert min(others.turns.values()) > 0
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (report["sealing"], report["broken"], set(report["uses"])) == (2, [], {"2"})
    assert sum(report["uses"]["2"].values()) == read_all() == 4 * EACH
    before = _frames()
    call_command("rotate_keys", "--json", "--retire", "1")
    assert json.loads(capsys.readouterr().out)["sealed_anew"] == {}
    assert _frames() == before
    assert EncryptionKey.objects.get(version=1).retired_at is not None
    keys.ENCRYPTION_KEYS = {2: TWO}
    ring.forget()
    crypto.register_keys()
    assert read_all() == 4 * EACH
    with in_workspace(ESTATE):
        found = list(AuditEvent.objects.values_list("action", flat=True))
    assert found.count("encryption_key.retire") == 1
    assert found.count("encryption_key.rotate") >= 20
    cases("K3", 4 * EACH)


def _retire_early() -> None:
    """Refused by the database while anything names the version, and nothing is retired."""
    try:
        rotation.retire(1)
    except rotation.KeyInUse as error:
        assert EncryptionKey.objects.get(version=1).retired_at is None
        raise CommandError(str(error)) from error


def _one_batch_then_crash() -> None:
    """As the command does, with a crash point that takes effect in the second batch."""
    crash, os.environ[VARIABLE] = os.environ[VARIABLE], ""
    from config import keys

    for _ in rotation.rotate(size=20, note=keys.note):
        os.environ[VARIABLE] = crash


def _frames() -> list[tuple]:
    with in_all_workspaces("a test compares every secret"), connection.cursor() as cursor:
        found = []
        for column in sealed.columns():
            cursor.execute(f"SELECT {column.key}::text, {column.column} FROM {column.table} ORDER BY 1")
            found += cursor.fetchall()
    return found


def test_a_version_that_seals_is_not_retired_and_an_unknown_one_is_named(keys):
    with pytest.raises(CommandError, match="This version seals"):
        call_command("rotate_keys", "--retire", "1")
    keys.ENCRYPTION_KEYS = {1: ONE, 2: TWO}
    with pytest.raises(CommandError, match="No live key has the version 7"):
        call_command("rotate_keys", "--retire", "7")


def test_a_dry_run_changes_nothing(keys, capsys):
    house = workspace().id
    with in_workspace(house):
        Webhook.objects.bulk_create([_webhook(house)])
    keys.ENCRYPTION_KEYS = {1: ONE, 2: TWO}
    before = _frames()
    call_command("rotate_keys", "--dry-run")
    assert "version 1: 2 secrets" in capsys.readouterr().out
    assert _frames() == before


def test_a_secret_that_no_key_opens_is_left_and_named(keys):
    """One broken row costs its own rotation, not that of the others."""
    house = workspace().id
    with in_workspace(house):
        Webhook.objects.bulk_create([_webhook(house) for _ in range(3)])
        broken = Webhook.objects.order_by("id")[1]
        other = _frame("webhooks_webhook", house, uuid4())
        Webhook.objects.filter(id=broken.id).update(secret_sealed=other)
    keys.ENCRYPTION_KEYS = {1: ONE, 2: TWO}
    with pytest.raises(CommandError, match=f"1 secrets open with none of the keys.*{broken.id}"):
        call_command("rotate_keys")
    assert rotation.uses() == {
        1: {"webhooks_webhook.secret_sealed": 1},
        2: {"webhooks_webhook.secret_sealed": 2, "webhooks_webhook.previous_secret_sealed": 3},
    }


def test_a_wrong_key_rotates_nothing(keys):
    """K5: neither the command nor a seal in any other process writes with a key that is not the database's."""
    house = workspace().id
    with in_workspace(house):
        Webhook.objects.bulk_create([_webhook(house)])
    before = _frames()
    for wrong in ({1: TWO}, {1: TWO, 2: ONE}):
        keys.ENCRYPTION_KEYS = wrong
        ring.forget()
        with pytest.raises(CommandError, match="version 1 is not the key"):
            call_command("rotate_keys")
    keys.ENCRYPTION_KEYS = {1: TWO}
    ring.forget()
    with pytest.raises(Exception, match="version 1 is not the key"), in_workspace(house):
        crypto.seal(b"x", workspace_id=house, table="webhooks_webhook", row_id=uuid4(), purpose="secret")
    assert _frames() == before
