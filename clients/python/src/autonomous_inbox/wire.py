"""Requests and answers as plain values, and the rules of trying again; nothing here touches the network."""

import json
import random
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any, Final, Generic, Literal, TypeVar

from autonomous_inbox import errors

T = TypeVar("T")


class Unset(Enum):
    """Stands for an argument that was not given, where None means null."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


def given(**fields: Any) -> dict[str, Any]:
    """The fields that were given. A trailing underscore, for words that Python keeps for itself, is not part of a name."""
    return {name.rstrip("_"): value for name, value in fields.items() if value is not UNSET}


@dataclass(frozen=True)
class Call:
    """One request. A POST without a key of the caller's gets its own, so that it can be tried again safely."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = UNSET
    raw: bytes = b""
    content_type: str = "application/json"
    accept: str = "application/json"
    key: str | None = None
    if_match: str | None = None

    def __post_init__(self) -> None:
        if self.method == "POST" and self.key is None:
            object.__setattr__(self, "key", str(uuid.uuid4()))

    @property
    def parameters(self) -> dict[str, str]:
        """The query, without what was not given. Several words are one value, with commas between."""
        return {name: _joined(value) for name, value in self.query.items() if value is not None and value is not UNSET}

    @property
    def content(self) -> bytes:
        """The body's bytes: the same at each try."""
        if self.raw or self.body is UNSET:
            return self.raw
        return json.dumps(self.body, ensure_ascii=False, separators=(",", ":"), default=_text).encode()

    @property
    def headers(self) -> dict[str, str]:
        """Of the request, beside those that the client always sends."""
        is_json = self.accept == "application/json"
        # A refusal is JSON also where a file was asked for.
        found = {"Accept": f"{self.accept}, {'application/problem+json' if is_json else '*/*;q=0.1'}"}
        if self.content:
            found["Content-Type"] = self.content_type
        if self.key is not None:
            found["Idempotency-Key"] = self.key
        if self.if_match is not None:
            found["If-Match"] = self.if_match
        return found

    @property
    def is_repeatable(self) -> bool:
        """Whether a second arrival does no harm: reads, what has a key, and what names the version it replaces."""
        return self.method in ("GET", "PUT", "DELETE") or self.key is not None or self.if_match is not None


def _joined(value: Any) -> str:
    return _text(value) if isinstance(value, str) or not isinstance(value, Sequence) else ",".join(map(_text, value))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime) else str(value)


@dataclass(frozen=True)
class Reply:
    """An answer of the API."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def etag(self) -> str | None:
        """The version of what was read, for `if_match`."""
        return self.headers.get("etag")

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def json(self) -> Any:
        """The body; None when there is none."""
        return json.loads(self.content) if self.content else None

    def problem(self) -> dict[str, Any]:
        """The problem document, or what can be said without one."""
        try:
            found = json.loads(self.content)
        except ValueError:
            found = None
        return found if isinstance(found, dict) else {"detail": "The answer was no problem document. Is the URL right?"}

    def error(self) -> errors.ApiError:
        """The exception that this answer stands for."""
        error = errors.of_answer(self.status, self.problem(), request_id=self.headers.get("x-request-id", ""))
        if isinstance(error, errors.RateLimited):
            error.retry_after = self.retry_after()
        return error

    def retry_after(self) -> float | None:
        """Seconds that the server asks to wait: it may say a number or a date."""
        text = self.headers.get("retry-after", "").strip()
        if text.isascii() and text.isdigit():
            return float(text[:9])
        try:
            when = parsedate_to_datetime(text)
        except ValueError:
            return None
        aware = when if when.tzinfo else when.replace(tzinfo=UTC)
        return max(0.0, (aware - datetime.now(UTC)).total_seconds())


@dataclass(frozen=True)
class Retries:
    """When a request is tried again, and how long after.

    Waits double and are random in their upper half, so that many clients do not come back together. What the server asks for by Retry-After
    is kept to; if that is longer than `patience`, the refusal is raised instead.
    """

    times: int = 4
    first: float = 0.5
    longest: float = 8.0
    patience: float = 60.0

    def waits(self, call: Call) -> "Waits":
        """The waits of one request."""
        return Waits(self, call)


class Waits:
    """The tries of one request."""

    def __init__(self, rules: Retries, call: Call) -> None:
        self._rules, self._call, self.tries = rules, call, 0

    def after(self, reply: Reply | None) -> float | None:
        """Seconds until the next try after an answer (None: after no answer); None when there is none."""
        self.tries += 1
        if self.tries > self._rules.times or not self._is_worth_it(reply):
            return None
        wait = min(self._rules.longest, self._rules.first * 2.0 ** (self.tries - 1))
        wait *= random.uniform(0.5, 1.0)  # noqa: S311 - not for secrets
        asked = reply.retry_after() if reply else None
        if asked is None:
            return wait
        return None if asked > self._rules.patience else max(asked, wait)

    def _is_worth_it(self, reply: Reply | None) -> bool:
        if reply is None:
            return self._call.is_repeatable
        if reply.status == 429:
            return True  # refused before anything was done
        if reply.status == 409:
            return reply.problem().get("code") == "idempotency_key_in_use"
        return reply.status in (502, 503, 504) and self._call.is_repeatable

    def is_done(self, reply: Reply) -> bool:
        """Success; also that what an earlier try deleted is not there any more."""
        return reply.is_success or (self.tries > 0 and self._call.method == "DELETE" and reply.status == 404)


@dataclass(frozen=True)
class Versioned(Generic[T]):
    """A resource and its version: pass `etag` as `if_match`, and a change is refused if somebody else was faster."""

    value: T
    etag: str | None


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list."""

    data: list[T]
    next: str | None
    previous: str | None

    def __iter__(self) -> Iterator[T]:
        return iter(self.data)

    @classmethod
    def of(cls, body: Any) -> "Page[T]":
        return cls(data=body["data"], next=body.get("next"), previous=body.get("previous"))
