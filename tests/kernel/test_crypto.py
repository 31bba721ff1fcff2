"""Envelopes (K1, K2, K5): the vectors of NIST, and every way of bending a frame."""

import json
import os
from uuid import UUID, uuid4

import cryptography_vectors
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from kernel import crypto, envelope
from kernel.crypto import register_keys
from kernel.envelope import CannotDecrypt
from kernel.keys.refusals import KeyMismatch
from kernel.models import EncryptionKey
from tests.factories.every import workspace

PLACE = {"workspace_id": uuid4(), "table": "webhooks_webhook", "row_id": uuid4(), "purpose": "secret"}


KEYS = {1: b"1" * 32, 2: b"2" * 32}


def seal(plain: bytes, *, keys: dict[int, bytes] = KEYS, **place) -> bytes:
    """With the newest key, as kernel.crypto does."""
    return envelope.seal(plain, version=max(keys), key=keys[max(keys)], **place)


def open_sealed(frame: bytes, *, keys: dict[int, bytes] = KEYS, **place) -> bytes:
    return envelope.open_sealed(frame, keys=keys, **place)


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


def test_nist_vectors_open_through_our_frame(monkeypatch, cases):
    """Key, nonce, ciphertext and tag of each vector in a frame of ours; its associated data in the place of ours."""
    vectors = _vectors()
    assert len(vectors) > 700
    failed = 0
    for vector in vectors:
        keys = {7: vector["Key"]}
        monkeypatch.setattr(envelope, "_associated", lambda vector=vector, **_: vector["AAD"])
        frame = bytes([1]) + (7).to_bytes(4, "big") + vector["IV"] + vector["CT"] + vector["Tag"]
        if vector["fails"]:
            failed += 1
            with pytest.raises(CannotDecrypt):
                open_sealed(frame, keys=keys, **PLACE)
        else:
            assert open_sealed(frame, keys=keys, **PLACE) == vector["PT"]
            monkeypatch.setattr(os, "urandom", lambda _count, vector=vector: vector["IV"])
            assert seal(vector["PT"], keys=keys, **PLACE) == frame
            monkeypatch.undo()
    assert failed > 100
    cases("K1", len(vectors))


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 4096, 100_000])
def test_what_is_sealed_opens_and_hides(size):
    plain = os.urandom(size)
    frame = seal(plain, **PLACE)
    assert open_sealed(frame, **PLACE) == plain
    assert open_sealed(memoryview(frame), **PLACE) == plain
    assert len(frame) == 5 + 12 + size + 16
    assert size < 8 or plain not in frame


def test_every_bent_bit_and_every_cut_is_refused_with_the_same_error(cases):
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
    cases("K2", len(bent) + len(cut) + len(longer))


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
def test_a_frame_opens_in_its_own_place_only(other, cases):
    frame = seal(b"secret", **PLACE)
    with pytest.raises(CannotDecrypt):
        open_sealed(frame, **PLACE | other)
    assert open_sealed(frame, **PLACE) == b"secret"
    cases("K2", 1)


def test_the_newest_key_seals_and_older_ones_still_open():
    first, both, last = {1: b"1" * 32}, {1: b"1" * 32, 3: b"3" * 32}, {3: b"3" * 32}
    old, new = seal(b"old", keys=first, **PLACE), seal(b"new", keys=both, **PLACE)
    assert (envelope.key_version(old), envelope.key_version(new)) == (1, 3)
    assert (open_sealed(old, keys=both, **PLACE), open_sealed(new, keys=both, **PLACE)) == (b"old", b"new")
    with pytest.raises(CannotDecrypt):
        open_sealed(old, keys=last, **PLACE)


@pytest.mark.parametrize("version", [0, 1, 3, 2**32 - 1])
def test_a_frame_cannot_name_another_key_version(version, cases):
    """Even where both versions hold the same key, the version is part of what is authenticated."""
    keys = {1: b"k" * 32, 2: b"k" * 32}
    frame = seal(b"secret", keys=keys, **PLACE)
    with pytest.raises(CannotDecrypt):
        open_sealed(frame[:1] + version.to_bytes(4, "big") + frame[5:], keys=keys, **PLACE)
    cases("K2", 1)


def test_a_frame_of_plain_aes_gcm_without_our_associated_data_is_refused():
    nonce = os.urandom(12)
    body = AESGCM(b"2" * 32).encrypt(nonce, b"secret", None)
    with pytest.raises(CannotDecrypt):
        open_sealed(bytes([1, 0, 0, 0, 2]) + nonce + body, **PLACE)


def test_nonces_do_not_repeat(cases):
    """K6."""
    nonces = {seal(b"", **PLACE)[5:17] for _ in range(200_000)}
    assert len(nonces) == 200_000
    cases("K6", len(nonces))


def test_what_is_stored_opens_in_its_own_row_only(db, cases):
    """K2 at the door that the application uses: two webhooks in each of two workspaces, and two purposes."""
    houses = [workspace(name).id for name in ("Ours", "Theirs")]
    places = [
        {"workspace_id": house, "table": table, "row_id": uuid4(), "purpose": purpose}
        for house in houses
        for table, purpose in (
            ("webhooks_webhook", "secret"),
            ("webhooks_webhook", "secret"),
            ("kernel_idempotencyrecord", "answer"),
            ("inbox_connectioncredential", "secret"),
        )
    ]
    frames = [crypto.seal(b"secret", **place) for place in places]
    tried = 0
    for number, place in enumerate(places):
        for other, frame in enumerate(frames):
            if other == number:
                assert crypto.open_sealed(frame, **place) == b"secret"
                continue
            with pytest.raises(CannotDecrypt):
                crypto.open_sealed(frame, **place)
            tried += 1
    cases("K2", tried)


def test_nothing_is_sealed_where_rotation_would_not_find_it(db):
    for wrong in ({"table": "tenancy_machinekey"}, {"purpose": "other"}, {"table": "nowhere"}):
        with pytest.raises(LookupError, match="rotation would not find"):
            crypto.seal(b"secret", **PLACE | wrong)


def test_a_key_that_changed_under_its_number_is_refused_at_start(no_keys, settings):
    settings.ENCRYPTION_KEYS = KEYS
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
