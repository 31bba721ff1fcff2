"""Envelopes (K1, K2, K5): the vectors of NIST, and every way of bending a frame."""

import json
import os
from uuid import UUID, uuid4

import cryptography_vectors
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from kernel import crypto
from kernel.crypto import CannotDecrypt, KeyMismatch, open_sealed, register_keys, seal
from kernel.models import EncryptionKey

PLACE = {"workspace_id": uuid4(), "table": "webhooks_webhook", "row_id": uuid4(), "purpose": "secret"}


@pytest.fixture(autouse=True)
def _keys(settings):
    settings.ENCRYPTION_KEYS = {1: b"1" * 32, 2: b"2" * 32}


def _vectors() -> list[dict[str, bytes | bool]]:
    """The 256-bit vectors of SP 800-38D in the form that our frames use: 96-bit nonce, 128-bit tag."""
    found = []
    base = "ciphers/AES/GCM"
    for name in ("gcmDecrypt256.rsp", "gcmEncryptExtIV256.rsp"):
        vector: dict[str, bytes | bool] = {}
        with cryptography_vectors.open_vector_file(f"{base}/{name}", "r") as file:
            for line in file:
                text = line.strip()
                word, _, value = (part.strip() for part in text.partition("="))
                if word == "Count":
                    vector = {"fails": False}
                    found.append(vector)
                elif text == "FAIL":
                    vector["fails"] = True
                elif word in ("Key", "IV", "CT", "AAD", "Tag", "PT") and found:
                    vector[word] = bytes.fromhex(value)
    return [v for v in found if len(v["IV"]) == 12 and len(v["Tag"]) == 16]


def test_nist_vectors_open_through_our_frame(settings, monkeypatch):
    """Key, nonce, ciphertext and tag of each vector in a frame of ours; its associated data in the place of ours."""
    vectors = _vectors()
    assert len(vectors) > 700
    failed = 0
    for vector in vectors:
        settings.ENCRYPTION_KEYS = {7: vector["Key"]}
        monkeypatch.setattr(crypto, "_associated", lambda vector=vector, **_: vector["AAD"])
        frame = bytes([1]) + (7).to_bytes(4, "big") + vector["IV"] + vector["CT"] + vector["Tag"]
        if vector["fails"]:
            failed += 1
            with pytest.raises(CannotDecrypt):
                open_sealed(frame, **PLACE)
        else:
            assert open_sealed(frame, **PLACE) == vector["PT"]
            monkeypatch.setattr(os, "urandom", lambda _count, vector=vector: vector["IV"])
            assert seal(vector["PT"], **PLACE) == frame
            monkeypatch.undo()
            settings.ENCRYPTION_KEYS = {7: vector["Key"]}
    assert failed > 100


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 4096, 100_000])
def test_what_is_sealed_opens_and_hides(size):
    plain = os.urandom(size)
    frame = seal(plain, **PLACE)
    assert open_sealed(frame, **PLACE) == plain
    assert open_sealed(memoryview(frame), **PLACE) == plain
    assert len(frame) == 5 + 12 + size + 16
    assert size < 8 or plain not in frame


def test_every_bent_bit_and_every_cut_is_refused_with_the_same_error():
    frame = seal(b"a secret of some length", **PLACE)
    bent = [bytes([*frame[:i], frame[i] ^ 1 << bit, *frame[i + 1 :]]) for i in range(len(frame)) for bit in range(8)]
    cut = [frame[:length] for length in range(len(frame))]
    longer = [frame + b"\x00", b"\x00" + frame, frame + frame, b"", b"\x01"]
    assert len(bent) + len(cut) + len(longer) >= 300
    texts = set()
    for wrong in (*bent, *cut, *longer):
        with pytest.raises(CannotDecrypt) as refusal:
            open_sealed(wrong, **PLACE)
        texts.add(str(refusal.value))
    assert len(texts) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"workspace_id": uuid4()},
        {"row_id": uuid4()},
        {"row_id": PLACE["workspace_id"]},
        {"table": "agents_profile"},
        {"purpose": "previous"},
        {"purpose": ""},
        {"table": "webhooks_webhoo", "purpose": "ksecret"},
        {"workspace_id": PLACE["row_id"], "row_id": PLACE["workspace_id"]},
        {"workspace_id": UUID(int=0)},
    ],
)
def test_a_frame_opens_in_its_own_place_only(other):
    frame = seal(b"secret", **PLACE)
    with pytest.raises(CannotDecrypt):
        open_sealed(frame, **PLACE | other)
    assert open_sealed(frame, **PLACE) == b"secret"


def test_the_newest_key_seals_and_older_ones_still_open(settings):
    settings.ENCRYPTION_KEYS = {1: b"1" * 32}
    old = seal(b"old", **PLACE)
    settings.ENCRYPTION_KEYS = {1: b"1" * 32, 3: b"3" * 32}
    new = seal(b"new", **PLACE)
    assert (crypto.key_version(old), crypto.key_version(new)) == (1, 3)
    assert (open_sealed(old, **PLACE), open_sealed(new, **PLACE)) == (b"old", b"new")
    settings.ENCRYPTION_KEYS = {3: b"3" * 32}
    with pytest.raises(CannotDecrypt):
        open_sealed(old, **PLACE)


@pytest.mark.parametrize("version", [0, 1, 3, 2**32 - 1])
def test_a_frame_cannot_name_another_key_version(settings, version):
    """Even where both versions hold the same key, the version is part of what is authenticated."""
    settings.ENCRYPTION_KEYS = {1: b"k" * 32, 2: b"k" * 32}
    frame = seal(b"secret", **PLACE)
    with pytest.raises(CannotDecrypt):
        open_sealed(frame[:1] + version.to_bytes(4, "big") + frame[5:], **PLACE)


def test_a_frame_of_plain_aes_gcm_without_our_associated_data_is_refused():
    nonce = os.urandom(12)
    body = AESGCM(b"2" * 32).encrypt(nonce, b"secret", None)
    with pytest.raises(CannotDecrypt):
        open_sealed(bytes([1, 0, 0, 0, 2]) + nonce + body, **PLACE)


def test_nonces_do_not_repeat():
    nonces = {seal(b"", **PLACE)[5:17] for _ in range(20_000)}
    assert len(nonces) == 20_000


def test_a_key_that_changed_under_its_number_is_refused_at_start(db, settings):
    register_keys()
    register_keys()
    settings.ENCRYPTION_KEYS = {1: b"1" * 32, 2: b"x" * 32}
    with pytest.raises(KeyMismatch, match="version 2"):
        register_keys()
    settings.ENCRYPTION_KEYS = {1: b"1" * 32, 2: b"2" * 32, 3: b"3" * 32}
    register_keys()
    kept = {row.version: bytes(row.check_value) for row in EncryptionKey.objects.all()}
    assert sorted(kept) == [1, 2, 3]
    assert not any(key in json.dumps({k: v.hex() for k, v in kept.items()}) for key in ("31" * 32, "32" * 32))
