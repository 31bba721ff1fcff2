"""How much a caller may ask for: RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers), and 429."""

from dataclasses import dataclass

from django.conf import settings

from kernel import rates
from kernel.errors import Busy

_POLICY = '"default"'


@dataclass(frozen=True, slots=True)
class Usage:
    """What a caller has asked for in the present window."""

    limit: int
    window: rates.Window
    used: int

    def headers(self) -> dict[str, str]:
        """Two structured fields: the policy, and what is left of it until the window ends."""
        left = max(0, self.limit - self.used)
        return {
            "RateLimit-Policy": f"{_POLICY};q={self.limit};w={self.window.seconds}",
            "RateLimit": f"{_POLICY};r={left};t={self.window.seconds_left}",
        }


def count(caller: str) -> Usage | None:
    """Count one request of a caller; None when nothing is limited."""
    limit: int = settings.API_RATE_LIMIT
    if not limit:
        return None
    window = rates.window(f"api:{caller}", seconds=settings.API_RATE_WINDOW_SECONDS)
    return Usage(limit, window, rates.add(window, 1))


def check(usage: Usage | None) -> None:
    """Raise Busy (429) when it is too much."""
    if usage is not None and usage.used > usage.limit:
        wait = usage.window.seconds_left
        raise Busy(
            f"More than {usage.limit} requests in {usage.window.seconds} seconds. Wait {wait} seconds, and watch the"
            " RateLimit header.",
            retry_after=wait,
        )
