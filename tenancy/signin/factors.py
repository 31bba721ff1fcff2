"""Secrets of second factors: sealed for the library that keeps them, and found again when keys rotate.

The library has one JSON object for each factor, with its secrets among other things; which of its texts are envelopes is
seen by their frame. They are of the installation's people, hence of the estate.
"""

import base64
import binascii
from collections import Counter
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from allauth.mfa.models import Authenticator

from kernel import crypto, envelope, sealed
from kernel.context import ESTATE

TABLE, PURPOSE = "mfa_authenticator", "second factor"
_PLACE: dict[str, Any] = {"workspace_id": ESTATE, "table": TABLE, "row_id": UUID(int=0), "purpose": PURPOSE}


def wrapped(text: str) -> str:
    """A secret as the library may keep it."""
    return base64.b64encode(crypto.seal(text.encode(), **_PLACE)).decode()


def unwrapped(text: str) -> str:
    """The secret again; CannotDecrypt."""
    return crypto.open_sealed(base64.b64decode(text), **_PLACE).decode()


def declare() -> None:
    """Tell rotation of them."""
    sealed.declare(sealed.Elsewhere(TABLE, "data", PURPOSE, versions=_versions, reseal=_reseal))


def _frames(value: Any) -> Iterator[bytes]:
    """Every envelope in a JSON value."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _frames(item)
    elif isinstance(value, str) and (frame := _frame(value)):
        yield frame


def _frame(text: str) -> bytes:
    """The envelope that a text is; empty when it is none."""
    try:
        frame = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
    return frame if envelope.is_frame(frame) else b""


def _versions() -> dict[int, int]:
    rows = Authenticator.objects.values_list("data", flat=True).iterator()
    return dict(Counter(envelope.key_version(frame) for data in rows for frame in _frames(data)))


def _reseal(version: int, size: int) -> int:
    done = 0
    for row in Authenticator.objects.select_for_update().order_by("id"):
        anew = _anew(row.data, version)
        if anew != row.data:
            Authenticator.objects.filter(pk=row.pk).update(data=anew)
            done += 1
            if done == size:
                break
    return done


def _anew(value: Any, version: int) -> Any:
    """The value with its envelopes sealed by the newest key; what no key opens stays as it is."""
    if isinstance(value, dict):
        return {name: _anew(item, version) for name, item in value.items()}
    if isinstance(value, list):
        return [_anew(item, version) for item in value]
    if isinstance(value, str) and (frame := _frame(value)) and envelope.key_version(frame) != version:
        try:
            return wrapped(unwrapped(value))
        except envelope.CannotDecrypt:
            return value
    return value
