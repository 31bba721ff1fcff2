"""Images of other people's servers, through the guarded client: no cookies, no referrer, no name of the reader."""

from time import monotonic
from urllib.parse import urljoin

from django.conf import settings

from kernel import http
from kernel.http import AddressRefused, NoAnswer

_REDIRECTS = 3
_HEADERS = {"Accept": "image/*", "User-Agent": "Mozilla/5.0 (compatible; image proxy)"}


class NotFetched(OSError):
    """There is no image to show; the text says why."""


def fetch(address: str) -> bytes:
    """The bytes behind an address. Each stop of a redirect passes the same guard; all of it within one deadline."""
    end = monotonic() + settings.IMAGE_TIMEOUT_SECONDS
    for _ in range(_REDIRECTS + 1):
        target = _secure(address)
        left = end - monotonic()
        if left <= 0:
            raise NotFetched("The other server took too long.")
        try:
            reply = http.fetch("GET", target, headers=_HEADERS, deadline=left, read_limit=settings.IMAGE_MAX_BYTES)
        except AddressRefused as error:
            raise NotFetched(error.detail) from error
        except TimeoutError as error:
            raise NotFetched("The other server took too long.") from error
        except NoAnswer as error:
            raise NotFetched(str(error)) from error
        if reply.status in (301, 302, 303, 307, 308):
            address = urljoin(target, reply.headers.get("location", ""))
            continue
        return _body(reply)
    raise NotFetched("The other server redirects in circles.")


def _body(reply: http.Reply) -> bytes:
    if reply.status != 200:
        raise NotFetched(f"The other server answered {reply.status}.")
    if reply.truncated:
        raise NotFetched("The image is too large.")
    return reply.body


def _secure(address: str) -> str:
    """Plain http is asked for over https, unless this installation may call it."""
    if not settings.OUTBOUND_ALLOW_HTTP and address.lower().startswith("http://"):
        return f"https://{address[7:]}"
    return address
