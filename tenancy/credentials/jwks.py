"""The key set that an identity provider publishes under a URL: fetched, kept, renewed, and used for a while without it.

A known key costs no request: what is old is renewed in the background. An unknown `kid` fetches at once, but no
sooner than JWT_JWKS_COOLDOWN_SECONDS after the last attempt, so that made-up names cannot turn us against the provider.
"""

import logging
import threading
import time
from functools import cache
from typing import Any

import orjson
from django.conf import settings

from kernel import http
from kernel.errors import DomainError
from tenancy.credentials.keys import Key, KeyRefused, from_jwk

logger = logging.getLogger(__name__)

MOST_BYTES = 64 * 1024
MOST_KEYS = 50
PATIENCE = 1.0


class Unavailable(Exception):
    """The key set could not be had; the text says why."""


class KeySet:
    """What one URL last gave."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._keys: dict[str, Key] = {}
        self._fetched = -float("inf")
        self._tried = -float("inf")
        self._lock = threading.Lock()

    def find(self, kid: str) -> Key | None:
        """The key of this name. May wait for one fetch, when the name is new or everything here is too old."""
        age = time.monotonic() - self._fetched
        if kid in self._keys and age < settings.JWT_JWKS_STALE_SECONDS:
            if age >= settings.JWT_JWKS_SECONDS and self._may_try() and not self._lock.locked():
                threading.Thread(target=self._renew, name="jwks", daemon=True).start()
            return self._keys.get(kid)
        self._renew()
        if time.monotonic() - self._fetched >= settings.JWT_JWKS_STALE_SECONDS:
            return None
        return self._keys.get(kid)

    def _may_try(self) -> bool:
        cooldown: float = settings.JWT_JWKS_COOLDOWN_SECONDS
        return time.monotonic() - self._tried >= cooldown

    def _renew(self) -> None:
        """One fetch, whatever number of threads ask; who waited for it finds what it brought."""
        # A provider that hangs must not hold every thread of the server for as long as one fetch may take.
        patience = PATIENCE if self._keys else settings.JWT_JWKS_TIMEOUT_SECONDS
        if not self._lock.acquire(timeout=patience):
            return
        try:
            if self._may_try():
                self._tried = time.monotonic()
                self._keys = fetch(self.url)
                self._fetched = time.monotonic()
        except Unavailable as fault:
            logger.error("the key set of JWT_JWKS_URL could not be renewed", extra={"fault": str(fault)})  # noqa: TRY400 - the fault says it all
        finally:
            self._lock.release()


@cache
def of(url: str) -> KeySet:
    """The key set of a URL, one in each process."""
    return KeySet(url)


def fetch(url: str) -> dict[str, Key]:
    """Ask the provider, through the guarded client. Keys that we do not use are left out; Unavailable for all else."""
    try:
        reply = http.fetch(
            "GET",
            url,
            deadline=settings.JWT_JWKS_TIMEOUT_SECONDS,
            headers={"Accept": "application/jwk-set+json, application/json"},
            read_limit=MOST_BYTES,
        )
    except (http.NoAnswer, TimeoutError) as error:
        raise Unavailable(f"{url} does not answer ({type(error).__name__}).") from error
    except DomainError as error:
        raise Unavailable(f"{url} is not called: {error.detail}") from error
    if reply.status != 200:
        raise Unavailable(f"{url} answered {reply.status}; it must answer 200, without a redirect.")
    if reply.truncated:
        raise Unavailable(f"{url} gave more than {MOST_BYTES} bytes.")
    return read(reply.body, url)


def read(body: bytes, url: str) -> dict[str, Key]:
    """The usable keys of a JWKS document, by name."""
    try:
        entries = orjson.loads(body)["keys"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise Unavailable(f"{url} gave no JWKS document.") from error
    if not isinstance(entries, list) or len(entries) > MOST_KEYS:
        raise Unavailable(f"{url} must give a list of at most {MOST_KEYS} keys.")
    found: dict[str, Key] = {}
    twice: set[str] = set()
    for entry in entries:
        key = _usable(entry)
        if key is not None:
            twice |= {key.kid} & set(found)
            found[key.kid] = key
    # Which of two keys is meant by one name is not ours to guess.
    usable = {kid: key for kid, key in found.items() if kid not in twice}
    if not usable:
        raise Unavailable(f"{url} gave no key that is used here (RS256, ES256 or EdDSA, each with a kid).")
    return usable


def _usable(entry: Any) -> Key | None:
    try:
        return from_jwk(entry, allow_shared=False)
    except KeyRefused as refusal:
        logger.info("a key of JWT_JWKS_URL is not used", extra={"why": str(refusal)})
        return None
