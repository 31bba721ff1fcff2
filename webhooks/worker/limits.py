"""The dispatcher's settings, read once: they are asked for several times with every request."""

from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

# So many requests may be open in all, as a multiple of WEBHOOK_CONCURRENCY.
_OPEN_FACTOR = 8
# Between the end of a request's time and the end of its lease, for writing it back.
_LEASE_MARGIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one dispatcher takes on."""

    batch: int
    concurrency: int
    per_endpoint: int
    timeout: float
    # How long after its claim a delivery may still be sent.
    usable: float
    poll: float
    stop: float

    @property
    def open(self) -> int:
        """Requests that may be in flight at once, slow ones among them."""
        return self.concurrency * _OPEN_FACTOR

    @property
    def window(self) -> int:
        """What one endpoint may hold at most."""
        return max(self.batch // 2, self.per_endpoint)


def limits() -> Limits:
    """As configured; refuses a lease that could end before its request does."""
    usable = settings.WEBHOOK_LEASE_SECONDS - settings.WEBHOOK_TIMEOUT_SECONDS - _LEASE_MARGIN_SECONDS
    if usable < _LEASE_MARGIN_SECONDS:
        raise ImproperlyConfigured("WEBHOOK_LEASE_SECONDS must exceed WEBHOOK_TIMEOUT_SECONDS by 2 seconds or more.")
    return Limits(
        batch=settings.WEBHOOK_BATCH,
        concurrency=settings.WEBHOOK_CONCURRENCY,
        per_endpoint=settings.WEBHOOK_PER_ENDPOINT,
        timeout=settings.WEBHOOK_TIMEOUT_SECONDS,
        usable=usable,
        poll=settings.WEBHOOK_POLL_SECONDS,
        stop=settings.WEBHOOK_STOP_SECONDS,
    )
