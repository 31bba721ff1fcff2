"""The console's sessions, each a DeviceSession: found by the hash of the cookie's value, sealed under that value.

Asked of the database at every request, so that an end holds at the next one, in every process. Named in settings as
SESSION_ENGINE; Django and django-allauth use it as they use any other.
"""

import hashlib
import os
from datetime import timedelta
from typing import Any
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase, UpdateError
from django.contrib.sessions.serializers import JSONSerializer
from django.middleware.csrf import CSRF_SESSION_KEY

from kernel import clock
from tenancy.credentials.devices import Origin
from tenancy.models import DeviceSession

NOTED_EVERY = timedelta(seconds=60)
_NONCE = 12


def digest(value: str) -> bytes:
    """What is kept of a cookie's value or a CSRF secret. Both have more than 128 random bits: no slow hash needed."""
    return hashlib.sha256(value.encode()).digest()


class SessionStore(SessionBase):
    """One session of one browser. The middleware says where its request comes from."""

    origin = Origin()
    _row: DeviceSession | None = None

    def load(self) -> dict[str, Any]:
        """What the session holds; nothing, and no key, when it is unknown, ended or over."""
        self._row = self._find()
        content = _open(bytes(self._row.data), self.session_key or "") if self._row else None
        if self._row is None or content is None:
            self._session_key = None
            return {}
        self._note_use(self._row)
        return content

    def exists(self, session_key: str) -> bool:
        return DeviceSession.objects.filter(session_hash=digest(session_key)).exists()

    def create(self) -> None:
        self._session_key = self._get_new_session_key()  # type: ignore[attr-defined]
        self._row = None
        self.save(must_create=True)
        self.modified = True

    def save(self, must_create: bool = False) -> None:
        """Write what the session holds. One that has ended meanwhile, in another process, stays ended."""
        if self.session_key is None:
            self.create()
            return
        content = self._get_session(no_load=must_create)  # type: ignore[attr-defined]
        if must_create:
            self._row = DeviceSession.objects.create(**self._columns(content), **self._beginning())
            return
        row = self._row or self._find()
        if row is None:
            raise UpdateError
        columns = self._columns(content)
        if columns["user_id"] != row.user_id:
            # Somebody signed in, or out: a new stretch of time begins.
            columns |= self._beginning() | {"signed_in_at": clock.now() if columns["user_id"] else None}
        if not DeviceSession.objects.filter(id=row.id, revoked_at=None).update(**columns):
            raise UpdateError
        for name, value in columns.items():
            setattr(row, name, value)

    def delete(self, session_key: str | None = None) -> None:
        """End a session for good. Its row stays until it is pruned, without what it held."""
        key = session_key or self.session_key
        if key:
            rows = DeviceSession.objects.filter(session_hash=digest(key), revoked_at=None)
            rows.update(revoked_at=clock.now(), data=b"")

    def cycle_key(self) -> None:
        """A new value for the same session, in one statement: whoever knew the old one is out (fixation)."""
        content = self._get_session()  # type: ignore[attr-defined]
        row = self._row or self._find()
        if row is None:
            self.create()
            self._session_cache = content
            return
        old, self._session_key = self.session_key, self._get_new_session_key()  # type: ignore[attr-defined]
        changed = DeviceSession.objects.filter(session_hash=digest(old or ""), revoked_at=None).update(
            session_hash=digest(self._session_key), data=_seal(content, self._session_key)
        )
        if not changed:
            raise UpdateError
        self._row = row
        self.modified = True

    @classmethod
    def clear_expired(cls) -> None:
        """`tenancy.services.sessions.prune` does."""

    @property
    def row_id(self) -> UUID | None:
        """Of its DeviceSession."""
        row = self._row or self._find()
        return row.id if row else None

    def _find(self) -> DeviceSession | None:
        if not self.session_key:
            return None
        now = clock.now()
        row = DeviceSession.objects.filter(
            session_hash=digest(self.session_key), revoked_at=None, expires_at__gt=now
        ).first()
        idle = timedelta(seconds=settings.SESSION_IDLE_SECONDS)
        return row if row is not None and row.last_seen_at > now - idle else None

    def _note_use(self, row: DeviceSession) -> None:
        now = clock.now()
        if row.last_seen_at > now - NOTED_EVERY:
            return
        rows = DeviceSession.objects.filter(id=row.id, last_seen_at=row.last_seen_at)
        # Of many requests at once one notes it.
        rows.update(last_seen_at=now, **self._whence())

    def _columns(self, content: dict[str, Any]) -> dict[str, Any]:
        user_id, secret = content.get(SESSION_KEY), content.get(CSRF_SESSION_KEY)
        return {
            "session_hash": digest(self.session_key or ""),
            "csrf_hash": digest(secret) if secret else None,
            "data": _seal(content, self.session_key or ""),
            "user_id": UUID(user_id) if user_id else None,
        } | self._whence()

    def _whence(self) -> dict[str, Any]:
        """Where the request comes from; a store outside of any request leaves it as it is."""
        origin = self.origin
        if origin == Origin():
            return {}
        return {"user_agent": origin.user_agent, "device": origin.device, "address": origin.address}

    def _beginning(self) -> dict[str, Any]:
        """The times of a session that begins now: short for nobody's, long for a person's."""
        is_somebody = bool(self._session_cache.get(SESSION_KEY))
        lasts = settings.SESSION_MAX_SECONDS if is_somebody else settings.SESSION_ANONYMOUS_SECONDS
        now = clock.now()
        started = {"signed_in_at": now} if is_somebody else {}
        return {"last_seen_at": now, "expires_at": now + timedelta(seconds=lasts)} | started


def _cipher(session_key: str) -> AESGCM:
    # Apart from the hash that finds the row: that is known to whoever reads the table.
    return AESGCM(hashlib.sha256(b"what the session holds\x00" + session_key.encode()).digest())


def _seal(content: dict[str, Any], session_key: str) -> bytes:
    nonce = os.urandom(_NONCE)
    return nonce + _cipher(session_key).encrypt(nonce, JSONSerializer().dumps(content), None)


def _open(frame: bytes, session_key: str) -> dict[str, Any] | None:
    try:
        plain = _cipher(session_key).decrypt(frame[:_NONCE], frame[_NONCE:], None)
    except (InvalidTag, ValueError):
        return None
    content: dict[str, Any] = JSONSerializer().loads(plain)
    return content
