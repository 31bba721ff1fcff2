"""States of webhooks and deliveries, and the values that travel between the dispatcher's parts."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import TextChoices


class WebhookState(TextChoices):
    ACTIVE = "active"
    DISABLED = "disabled"


class DeliveryStatus(TextChoices):
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"
    CANCELLED = "cancelled"


# The length of the column that keeps an error or a reason.
ERROR_LENGTH = 300
EXCERPT_LENGTH = 1_000


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and how to call one webhook: a snapshot, good while the row's `updated_at` stays the same."""

    id: str
    url: str
    headers: dict[str, str]
    secrets: tuple[bytes, ...]
    ordered: bool
    rate_per_second: int | None
    updated_at: datetime
    # When the previous secret stops signing, and with it this snapshot.
    good_until: datetime | None = None
    # Why nothing can be sent, in a sentence: a secret that no configured key opens.
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A webhook with a delivery that is due. `is_open` is false when nothing may be sent to it any more, `is_held` true
    while its workspace is stopped."""

    webhook_id: str
    is_open: bool
    is_failing: bool
    updated_at: datetime
    is_held: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """A delivery that this process may attempt until its lease ends. `attempts` are those made before.

    Ids are text here: thousands of them a second go from the database to headers and back.
    """

    delivery_id: str
    webhook_id: str
    workspace_id: str
    event_id: str
    attempts: int
    lease_token: int
    slug: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one request: a status, or the error that kept one from arriving."""

    status_code: int | None
    error: str = ""
    retry_after: str = ""
    excerpt: str = ""
    duration_ms: int = 0

    @property
    def is_success(self) -> bool:
        """Only a 2xx that arrived whole; a redirect is none, for it is never followed."""
        return not self.error and self.status_code is not None and 200 <= self.status_code < 300

    @property
    def is_gone(self) -> bool:
        """The endpoint asked never to be called again."""
        return self.status_code == 410


@dataclass(frozen=True, slots=True)
class Result:
    """An attempt to be written back."""

    claim: Claim
    outcome: Outcome


class ProviderEventStatus(TextChoices):
    """What became of a provider's callback."""

    RECEIVED = "received"
    APPLIED = "applied"
    UNMATCHED = "unmatched"
    IGNORED = "ignored"
