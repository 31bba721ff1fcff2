"""What an attempt's outcome means for its delivery: a pure rule, with the settings as its only outside."""

import random
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from django.conf import settings

from kernel import clock
from webhooks.types import DeliveryStatus, Outcome

_THROTTLES = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The next state of a delivery, and the seconds until its next attempt."""

    status: DeliveryStatus
    delay: float = 0.0
    error: str = ""

    @property
    def is_exhausted(self) -> bool:
        return self.status == DeliveryStatus.FAILED


def judge(*, outcome: Outcome, attempts_before: int, retries: bool = True) -> Verdict:
    """Delivered on 2xx, failed after the last attempt or on 410, else pending until the schedule's next moment.

    Without `retries` the first attempt is the last one.
    """
    if outcome.is_success:
        return Verdict(DeliveryStatus.DELIVERED)
    error = outcome.error or _explain(outcome.status_code or 0)
    if outcome.is_gone or not retries or attempts_before >= len(settings.WEBHOOK_RETRY_SECONDS):
        return Verdict(DeliveryStatus.FAILED, error=error)
    seconds = _jittered(settings.WEBHOOK_RETRY_SECONDS[attempts_before])
    return Verdict(DeliveryStatus.PENDING, max(seconds, asked_pause(outcome)), error)


def asked_pause(outcome: Outcome) -> float:
    """The seconds that the endpoint asked to be left alone (Retry-After with 429 or 5xx), capped; 0 when it did not."""
    if outcome.status_code not in _THROTTLES:
        return 0.0
    text = outcome.retry_after.strip()
    seconds = float(text[:12]) if text.isascii() and text.isdigit() else _until(text)
    most: float = settings.WEBHOOK_RETRY_AFTER_MAX_SECONDS
    return max(0.0, min(seconds, most))


def _until(date: str) -> float:
    try:
        then = parsedate_to_datetime(date)
        # A date without a zone is in UTC (RFC 9110, 5.6.7).
        return ((then if then.tzinfo else then.replace(tzinfo=UTC)) - clock.now()).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _jittered(seconds: float) -> float:
    """Spread retries, so that a thousand deliveries that failed together do not come back together."""
    spread = settings.WEBHOOK_RETRY_JITTER
    return seconds * random.uniform(1 - spread, 1 + spread)  # noqa: S311 - a spread, not a secret


def _explain(status: int) -> str:
    if status == 410:
        return "The endpoint answered 410 Gone, so it is not called any more."
    if 300 <= status < 400:
        return f"The endpoint answered {status}. Redirects are not followed; give the final URL."
    return f"The endpoint answered {status}; only 2xx is a success."
