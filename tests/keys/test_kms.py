"""Data keys wrapped by AWS KMS, against a server that speaks its protocol: made, opened, changed, lost (K5)."""

from uuid import uuid4

import boto3
import pytest
import urllib3
from django.core.management import CommandError, call_command

from kernel import crypto, envelope, rotation
from kernel.keys import kms, ring
from kernel.keys.refusals import KeyMismatch, KeyMissing, KeysRefused
from kernel.models import EncryptionKey
from kernel.transactions import in_workspace
from tests.factories.every import make, workspace
from tests.world.aws import CREDENTIALS, REGION, moto
from webhooks.models import Webhook
from webhooks.queries import endpoints

ENVIRONMENT_KEY = b"1" * 32


@pytest.fixture
def amazon(no_keys, settings, monkeypatch):
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    settings.ENCRYPTION_KEYS = {1: ENVIRONMENT_KEY}
    kms._client.cache_clear()
    with moto() as endpoint:
        settings.AWS_ENDPOINT_URL, settings.AWS_REGION = endpoint, REGION
        client = boto3.client("kms", region_name=REGION, endpoint_url=endpoint)
        settings.KMS_KEY_ID = client.create_key(Description="wraps ours")["KeyMetadata"]["KeyId"]
        yield client
    kms._client.cache_clear()


@pytest.fixture
def by_kms(amazon, settings):
    settings.KEY_PROVIDER, settings.ENCRYPTION_KEYS = "aws_kms", {}
    crypto.register_keys()
    return amazon


def hook(house) -> Webhook:
    return make(Webhook, house)


def secret_of(row: Webhook) -> bytes:
    with in_workspace(row.workspace_id):
        (endpoint,) = endpoints.find([str(row.id)])
    return endpoint.secrets[0] if endpoint.secrets else endpoint.fault.encode()


def test_the_first_start_makes_a_key_that_only_kms_can_open(by_kms, cases):
    (row,) = EncryptionKey.objects.all()
    assert (row.version, row.provider) == (1, "aws_kms")
    key = ring.keys()[1]
    assert len(key) == 32
    assert key not in bytes(row.wrapped)
    assert kms.unwrap(1, bytes(row.wrapped)) == key
    with pytest.raises(KeysRefused, match="AWS KMS refuses decrypt"):
        kms.unwrap(2, bytes(row.wrapped))  # it was wrapped for its own number
    crypto.register_keys()
    assert EncryptionKey.objects.count() == 1
    ring.forget()
    assert secret_of(hook(workspace().id)) == b"a secret"
    cases("K5", 2)


def test_a_process_that_began_before_opens_and_then_uses_a_newer_key(by_kms, settings):
    house = workspace().id
    before = hook(house)
    ring.keys()
    EncryptionKey.objects.bulk_create([_made(2)])  # as another process does
    key = kms.unwrap(2, bytes(EncryptionKey.objects.get(version=2).wrapped))
    place = {"workspace_id": house, "table": endpoints.TABLE, "row_id": before.id, "purpose": "secret"}
    assert ring.sealing()[0] == 1
    assert crypto.open_sealed(envelope.seal(b"new", version=2, key=key, **place), **place) == b"new"
    assert ring.sealing()[0] == 2
    assert secret_of(before) == b"a secret"


def _made(version: int) -> EncryptionKey:
    key, wrapped = kms.make(version)
    return EncryptionKey(version=version, check_value=envelope.check_value(key), provider="aws_kms", wrapped=wrapped)


def test_an_installation_moves_from_its_environment_to_kms(amazon, settings, capsys):
    """What the old key sealed opens all the while; afterwards the environment's key may go."""
    crypto.register_keys()
    row = hook(workspace().id)
    settings.KEY_PROVIDER = "aws_kms"
    call_command("rotate_keys", "--retire", "1")
    assert "version 2 (seals now): 1 secrets" in capsys.readouterr().out
    settings.ENCRYPTION_KEYS = {}
    ring.forget()
    crypto.register_keys()
    assert secret_of(row) == b"a secret"
    call_command("rotate_keys", "--new-key", "--retire", "2")
    assert (secret_of(row), list(rotation.uses())) == (b"a secret", [3])


def test_a_lost_or_wrong_key_is_refused_at_start_in_one_sentence_and_nothing_is_overwritten(by_kms, settings, cases):
    hook(workspace().id)
    kept = list(EncryptionKey.objects.values())

    def refused(kind: type[Exception], sentence: str) -> None:
        ring.forget()
        with pytest.raises(kind, match=sentence):
            crypto.register_keys()
        with pytest.raises(KeysRefused):
            crypto.seal(b"x", workspace_id=workspace().id, table=endpoints.TABLE, row_id=_ID, purpose="secret")
        assert list(EncryptionKey.objects.values()) == kept

    settings.KEY_PROVIDER, settings.ENCRYPTION_KEYS = "environment", {2: ENVIRONMENT_KEY}
    ring.forget()
    with pytest.raises(KeyMissing, match="kept by AWS KMS: set KEY_PROVIDER"):
        crypto.register_keys()
    settings.KEY_PROVIDER, settings.ENCRYPTION_KEYS = "aws_kms", {}
    # Somebody has deleted the wrapping key.
    urllib3.request("POST", f"{settings.AWS_ENDPOINT_URL}/moto-api/reset")
    refused(KeysRefused, "AWS KMS refuses decrypt")
    settings.AWS_ENDPOINT_URL = "http://127.0.0.1:9"
    kms._client.cache_clear()
    refused(KeysRefused, "AWS KMS cannot be asked")
    cases("K5", 3)


_ID = uuid4()


def test_a_wrapped_key_that_was_changed_in_the_database_is_noticed(by_kms):
    _, wrapped = kms.make(1)
    EncryptionKey.objects.filter(version=1).update(wrapped=wrapped)
    ring.forget()
    with pytest.raises(KeyMismatch, match="not the key that was used before"):
        crypto.register_keys()


def test_a_missing_key_id_and_a_new_key_of_the_environment_say_what_to_do(amazon, settings):
    with pytest.raises(CommandError, match="add a new one there under the next number"):
        call_command("rotate_keys", "--new-key")
    settings.KEY_PROVIDER, settings.KMS_KEY_ID = "aws_kms", ""
    with pytest.raises(KeysRefused, match="set KMS_KEY_ID"):
        crypto.register_keys()
