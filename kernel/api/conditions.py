"""Conditional requests (RFC 9110): entity tags of what is shown, 304 for what is known, 412 for what has changed."""

import hashlib
from typing import Any

from django.utils.http import parse_etags
from rest_framework.request import Request

from kernel.api.rendering import JSONRenderer
from kernel.errors import PreconditionFailed


def tag(body: Any) -> str:
    """A strong tag of what is shown."""
    return f'"{_digest(body)}"'


def with_extra(plain: str, extra: Any) -> str:
    """The tag of an answer into which something is expanded; its first half is the resource's own."""
    return f'{plain[:-1]}.{_digest(extra)}"'


def _digest(body: Any) -> str:
    return hashlib.blake2b(JSONRenderer().render(body), digest_size=12).hexdigest()


def is_known(request: Request, current: str) -> bool:
    """Whether If-None-Match names the tag, weakly compared."""
    given = parse_etags(request.headers.get("If-None-Match", ""))
    return "*" in given or current in {text.removeprefix("W/") for text in given}


def check(header: str, current: str) -> None:
    """If-Match, strongly compared; a tag of an expanded answer counts for the resource itself."""
    given = {_plain(text) for text in parse_etags(header)}
    if "*" not in given and current not in given:
        raise PreconditionFailed(
            "The resource is no longer as it was when you read it. Read it again, look at what has changed, and send"
            " the request with the new ETag in If-Match.",
            etag=current,
        )


def _plain(text: str) -> str:
    return text.partition(".")[0] + '"' if "." in text else text
