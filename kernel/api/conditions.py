"""Conditional requests (RFC 9110): entity tags of what is shown, 304 for what is known, 412 for what has changed."""

import hashlib
from collections.abc import Collection, Mapping
from typing import Any

from django.utils.http import parse_etags
from rest_framework.request import Request

from kernel.api.rendering import JSONRenderer
from kernel.errors import PreconditionFailed


def tag(body: Mapping[str, Any], *, without: Collection[str] = ()) -> str:
    """A strong tag of a resource, `without` what changes in it by itself."""
    return f'"{_digest({name: value for name, value in body.items() if name not in without})}"'


def with_extra(plain: str, extra: Any) -> str:
    """The tag of an answer that shows more than the resource's own; its first half is the resource's, for If-Match."""
    return f'{plain[:-1]}.{_digest(extra)}"'


def _digest(body: Any) -> str:
    return hashlib.blake2b(JSONRenderer().render(body), digest_size=12).hexdigest()


def is_known(request: Request, current: str) -> bool:
    """Whether If-None-Match names the tag, weakly compared."""
    given = parse_etags(request.headers.get("If-None-Match", ""))
    return "*" in given or current in {text.removeprefix("W/") for text in given}


def check(header: str, current: str) -> None:
    """If-Match, strongly compared; the tag of an answer that shows more counts for the resource itself."""
    given = {_plain(text) for text in parse_etags(header)}
    if "*" not in given and current not in given:
        raise PreconditionFailed(
            "The resource is no longer as it was when you read it. Read it again, look at what has changed, and send"
            " the request with the new ETag in If-Match.",
            etag=current,
        )


def _plain(text: str) -> str:
    return text.partition(".")[0] + '"' if "." in text else text
