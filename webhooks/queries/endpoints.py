"""Endpoints as the dispatcher needs them, with their secrets opened."""

from collections.abc import Iterable

from kernel import clock, crypto
from kernel.envelope import CannotDecrypt
from webhooks.models import Webhook
from webhooks.types import Endpoint

TABLE = "webhooks_webhook"
PURPOSE = "secret"


def find(ids: Iterable[str]) -> list[Endpoint]:
    """Snapshots of live webhooks. One whose secret no key opens says so in `fault` instead of stopping the others."""
    return [_snapshot(row) for row in Webhook.objects.filter(id__in=list(ids))]


def _snapshot(row: Webhook) -> Endpoint:
    overlaps = row.previous_secret_until is not None and row.previous_secret_until > clock.now()
    present = _opened(row, row.secret_sealed)
    # One that does not open any more signs nothing; it must not keep the new one from signing.
    previous = _opened(row, row.previous_secret_sealed) if overlaps else None
    fault = "" if present else "Not sent: the signing secret cannot be opened. Rotate it."
    secrets = tuple(secret for secret in (present, previous) if present and secret)
    return Endpoint(
        id=str(row.id),
        url=row.url,
        headers={str(name): str(value) for name, value in row.headers.items()},
        secrets=secrets,
        ordered=row.ordered,
        rate_per_second=row.rate_per_second,
        updated_at=row.updated_at,
        good_until=row.previous_secret_until if overlaps else None,
        fault=fault,
    )


def _opened(row: Webhook, frame: bytes | memoryview | None) -> bytes | None:
    if frame is None:
        return None
    try:
        return crypto.open_sealed(
            bytes(frame), workspace_id=row.workspace_id, table=TABLE, row_id=row.id, purpose=PURPOSE
        )
    except CannotDecrypt:
        return None
