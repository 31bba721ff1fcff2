"""A process with missing, unreadable or wrong keys does not start, says why in one sentence, and changes nothing (K5)."""

import base64
import os
import subprocess
import sys

import pytest

from config import ports
from kernel import crypto
from kernel.keys.refusals import KeyMismatch, KeyMissing, KeysRefused
from kernel.models import EncryptionKey
from tests.architecture.code import ROOT


def encoded(*keys: bytes) -> str:
    return ",".join(f"{number}:{base64.b64encode(key).decode()}" for number, key in enumerate(keys, 1))


ONE, OTHER = b"1" * 32, b"2" * 32
PROCESSES = {
    "web": ["-m", "granian", "--interface", "wsgi", "config.wsgi:application", "--port", "{port}", "--log-level", "critical"],
    "worker": ["-m", "celery", "-A", "config", "worker", "--pool", "solo", "--loglevel", "CRITICAL", "--without-mingle"],
    "dispatcher": ["manage.py", "run_webhooks"],
}  # fmt: skip
PRODUCTION = {
    "DJANGO_SETTINGS_MODULE": "config.settings.production",
    "SECRET_KEY": "s" * 50,
    "REPLY_TOKEN_KEY": "r" * 50,
    "OUTBOUND_ALLOW_HTTP": "false",  # which the tests allow themselves
}


def start(process: str, **environment: str) -> tuple[int, str]:
    """Run until it ends by itself; its status and what it said."""
    argv = [part.format(port=ports.choose(0)) for part in PROCESSES[process]]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("ENCRYPTION", "JWT_"))}
    given = {"DJANGO_SETTINGS_MODULE": "config.settings.test", "LOG_LEVEL": "CRITICAL"} | environment
    done = subprocess.run(
        [sys.executable, *argv], env=clean | given, cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout + done.stderr


def refused(process: str, sentence: str, **environment: str) -> None:
    status, said = start(process, **environment)
    assert status != 0, said
    assert sentence in said, said
    assert "Traceback" not in said


@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_with_wrong_keys_does_not_start(no_keys, settings, process):
    settings.ENCRYPTION_KEYS = {1: ONE, 2: OTHER}
    crypto.register_keys()
    before = list(EncryptionKey.objects.order_by("version").values())
    refused(
        process, "version 2 is not the key that was used before: restore the old key", ENCRYPTION_KEYS=encoded(ONE, ONE)
    )
    refused(process, "lacks version 2, with which secrets", ENCRYPTION_KEYS=encoded(ONE))
    assert list(EncryptionKey.objects.order_by("version").values()) == before


def test_missing_and_unreadable_keys_are_named(db, tmp_path):
    """The sentence comes from the settings, which every process reads; one process is enough to see it."""
    refused("dispatcher", "Set the ENCRYPTION_KEYS environment variable", **PRODUCTION)
    for text in ("nonsense", "1:eA==", "", "1:" + "x" * 44, "one:" + encoded(ONE)[2:]):
        refused("dispatcher", "ENCRYPTION_KEYS", ENCRYPTION_KEYS=text)
    gone = tmp_path / "gone.pem"
    refused(
        "dispatcher", f"the key 'main' cannot be read from {gone} (No such file", JWT_SIGNING_KEYS=f"main:EdDSA:{gone}"
    )
    gone.write_text("no key")
    refused(
        "dispatcher",
        "the key 'main' cannot be used: the file must hold a public key",
        JWT_PUBLIC_KEYS=f"main:RS256:{gone}",
    )
    refused("dispatcher", "JWT_KEYS must be a JWKS document", JWT_KEYS="{")
    refused("web", "JWT_KEYS must be a JWKS document", JWT_KEYS="{")
    refused("worker", "JWT_KEYS must be a JWKS document", JWT_KEYS="{")


def test_without_tables_or_without_a_database_nobody_can_tell(db, settings, monkeypatch):
    refused("dispatcher", "has no tables yet: run manage.py migrate", DATABASE_URL=_empty_database())
    from django.db import OperationalError

    def silent() -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(crypto, "register_keys", silent)
    with pytest.raises(KeysRefused, match="The database does not answer"):
        crypto.require_keys(patience=0)


def _empty_database() -> str:
    """The maintenance database of the server, in which nobody has made a table."""
    from urllib.parse import urlsplit, urlunsplit

    return urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path="/postgres"))


def test_a_retired_version_may_go(no_keys, settings):
    settings.ENCRYPTION_KEYS = {1: ONE, 2: OTHER}
    crypto.register_keys()
    settings.ENCRYPTION_KEYS = {2: OTHER}
    with pytest.raises(KeyMissing):
        crypto.require_keys()
    from kernel import clock

    EncryptionKey.objects.filter(version=1).update(retired_at=clock.now())
    crypto.require_keys()
    settings.ENCRYPTION_KEYS = {1: OTHER, 2: OTHER}
    with pytest.raises(KeyMismatch):
        crypto.require_keys()
