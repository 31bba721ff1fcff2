"""Every column that holds an envelope is known to rotation and to the database; nothing else is sealed."""

import ast
from uuid import uuid4

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, connections, models, transaction

from kernel import crypto, sealed
from kernel.models import EncryptionKey
from kernel.sealed import SealedField
from kernel.transactions import in_workspace
from tests.architecture import fences
from tests.architecture.code import at, calls, sources
from tests.factories.every import make, workspace
from webhooks.models import Webhook

# Bytes that are no envelopes, each with what they are.
PLAIN = {
    "agents_execution.instruction_hash": "a digest", "agents_actionintent.content_hash": "a digest",
    "agents_approvalrequest.content_hash": "a digest", "agents_knowledgechunk.content_hash": "a digest",
    "agents_knowledgesource.content_hash": "a digest", "audit_auditanchor.hash": "a digest",
    "audit_auditchain.head": "a digest", "audit_auditevent.payload_hash": "a digest", "audit_auditevent.hash": "a digest",
    "audit_auditevent.previous_hash": "a digest", "audit_auditevent.before_hash": "a digest",
    "audit_auditevent.after_hash": "a digest", "files_file.sha256": "a digest", "inbox_inboundmessage.sha256": "a digest",
    "inbox_inboundmessage.raw": "mail as it came", "inbox_outboundmessage.raw": "mail as it leaves",
    "inbox_messagereference.message_id_hash": "a digest", "kernel_encryptionkey.check_value": "an HMAC",
    "kernel_encryptionkey.wrapped": "sealed by AWS KMS", "kernel_idempotencyrecord.fingerprint": "a digest",
    "tenancy_machinekey.secret_hash": "a digest", "tenancy_machinekey.previous_hash": "a digest",
    "tenancy_clientcertificate.fingerprint": "a digest", "tenancy_revokedclientcert.fingerprint": "a digest",
    "webhooks_providerevent.content_key": "a digest", "tenancy_devicesession.session_hash": "a digest",
    "tenancy_devicesession.csrf_hash": "a digest", "tenancy_devicesession.data": "sealed under the value of the cookie",
    "tenancy_invitation.token_hash": "a digest", "tenancy_resettoken.token_hash": "a digest",
    "tenancy_throttle.key": "a digest", "inbox_threadchange.fingerprint": "a digest",
    "inbox_remoteimage.address_hash": "a digest", "inbox_remoteimage.content": "a picture of the outside world, for a day",
}  # fmt: skip


def test_bytes_are_envelopes_or_named_with_a_reason():
    found = {
        f"{model._meta.db_table}.{field.column}"
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, models.BinaryField) and not isinstance(field, SealedField)
    }
    assert found - set(PLAIN) == set(), "declare it as a SealedField, or say here what it is"
    assert {name for name in set(PLAIN) - found if not name.startswith(("audit_", "agents_"))} == set()


def test_every_call_of_seal_names_a_declared_column():
    """By the source: whoever seals names table and purpose in words, or through a constant of the same app."""
    offenders = []
    for path, tree in sources().items():
        for name, call in calls(tree):
            inside = str(path).startswith("kernel/")
            if name == "seal" and not inside and "crypto" not in ast.unparse(call.func):
                offenders.append(at(path, call, "seal() is kernel.crypto's, which asks the registry"))
    assert offenders == []
    assert len(list(sealed.columns())) >= 4


def test_the_database_keeps_the_key_version_of_every_envelope(db):
    """The twin column and its reference, for each declared column and for no other."""
    rows = fences.query(
        connections["owner"],
        "SELECT conrelid::regclass::text, a.attname FROM pg_constraint k JOIN pg_attribute a"
        " ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1] WHERE k.confrelid = 'kernel_encryptionkey'::regclass"
        " AND k.contype = 'f' AND k.convalidated AND a.attgenerated = 's'",
    )
    assert sorted(rows) == sorted((column.table, column.version) for column in sealed.columns())


@pytest.mark.parametrize("frame", [b"plain text that is no envelope", b"\x01\x00\x00\x00", b"", b"\x01" + b"\xff" * 40])
def test_what_is_no_envelope_is_not_stored(db, frame):
    house = workspace().id
    with pytest.raises(DatabaseError), in_workspace(house):
        make(Webhook, house, secret_sealed=frame)


def test_an_envelope_of_an_unknown_or_retired_key_is_not_stored(no_keys, settings):
    house = workspace().id
    settings.ENCRYPTION_KEYS = {1: b"1" * 32, 2: b"2" * 32}
    crypto.register_keys()
    good = make(Webhook, house)
    unknown = bytes([1]) + (99).to_bytes(4, "big") + b"x" * 40
    with pytest.raises(DatabaseError, match="names_a_live_key"), in_workspace(house):
        Webhook.objects.filter(id=good.id).update(secret_sealed=unknown)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE kernel_encryptionkey SET retired_at = now() WHERE version = 1")
    retired = bytes([1]) + (1).to_bytes(4, "big") + b"x" * 40
    with pytest.raises(DatabaseError, match="names_a_live_key"), in_workspace(house):
        Webhook.objects.filter(id=good.id).update(secret_sealed=retired)


@pytest.mark.parametrize(
    "change",
    [
        "retired_at = NULL", "check_value = sha256('x')", "version = 77", "provider = 'other'", "retired_at = now()",
    ],
)  # fmt: skip
def test_a_key_version_means_one_key_for_ever(no_keys, settings, change):
    settings.ENCRYPTION_KEYS = {1: b"1" * 32, 2: b"2" * 32}
    crypto.register_keys()
    EncryptionKey.objects.filter(version=1).update(retired_at="2026-01-01T00:00:00Z")
    before = list(EncryptionKey.objects.order_by("version").values())
    with pytest.raises(DatabaseError, match="one key for ever"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE kernel_encryptionkey SET {change} WHERE version = 1")
    with pytest.raises(DatabaseError, match="never deleted"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM kernel_encryptionkey")
    assert list(EncryptionKey.objects.order_by("version").values()) == before


def test_seal_refuses_a_place_that_no_field_declares(db):
    with pytest.raises(LookupError):
        crypto.seal(b"x", workspace_id=uuid4(), table="tenancy_user", row_id=uuid4(), purpose="secret")
