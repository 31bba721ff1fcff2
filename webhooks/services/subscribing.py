"""Create, change, re-key and delete webhooks."""

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection

from kernel import clock, crypto, http
from kernel.errors import Invalid
from kernel.transactions import in_workspace
from webhooks.models import Webhook
from webhooks.queries import catalogue, endpoints, webhooks
from webhooks.services import cancelling, journal
from webhooks.transport import signing

_MAX_URL = 2_000
_MAX_HEADERS = 20
_MAX_HEADER_VALUE = 2_000
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
# Ours to set, or the connection's (RFC 9110, 7.6.1).
_RESERVED = frozenset(
    {
        "connection", "content-encoding", "content-length", "content-type", "expect", "host", "keep-alive",
        "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
    }
)  # fmt: skip


def create(
    *,
    workspace_id: UUID,
    url: str,
    slugs: list[str],
    label: str = "",
    headers: Mapping[str, str] | None = None,
    ordered: bool = False,
    rate_per_second: int | None = None,
    custom_metadata: dict[str, Any] | None = None,
) -> tuple[Webhook, str]:
    """A new webhook, and the text of its secret, which is shown now and never again."""
    key, webhook_id = signing.new_secret(), uuid4()
    with in_workspace(workspace_id):
        webhook = Webhook.objects.create(
            id=webhook_id,
            workspace_id=workspace_id,
            label=label,
            url=_checked_url(url),
            slugs=catalogue.check_slugs(slugs),
            headers=_checked_headers(headers or {}),
            ordered=ordered,
            rate_per_second=_checked_rate(rate_per_second),
            custom_metadata=custom_metadata or {},
            secret_sealed=_seal(key, workspace_id, webhook_id),
        )
        webhook.refresh_from_db(fields=["created_at", "updated_at"])
        _note(webhook, "create", host=journal.host_of(webhook.url), slugs=webhook.slugs)
    return webhook, signing.secret_text(key)


_CHANGEABLE = frozenset({"label", "url", "slugs", "headers", "ordered", "rate_per_second", "custom_metadata"})


def update(*, workspace_id: UUID, webhook_id: UUID, changes: Mapping[str, Any]) -> Webhook:
    """Change the fields named in `changes`; deliveries that wait already follow the new URL, headers and order."""
    unknown = set(changes) - _CHANGEABLE
    if unknown:
        raise Invalid(f"These fields cannot be changed: {', '.join(sorted(unknown))}.")
    with in_workspace(workspace_id):
        webhook = webhooks.locked(webhook_id)
        for name, value in changes.items():
            setattr(webhook, name, _CHECKS[name](value) if name in _CHECKS else value)
        webhook.save(update_fields=sorted(changes))
        if "ordered" in changes:
            _reorder(webhook)
        webhook.refresh_from_db(fields=["updated_at"])
        _note(webhook, "update", fields=sorted(changes), host=journal.host_of(webhook.url), slugs=webhook.slugs)
    return webhook


def rotate_secret(*, workspace_id: UUID, webhook_id: UUID) -> tuple[Webhook, str]:
    """A new secret; for WEBHOOK_SECRET_OVERLAP_SECONDS the present one signs beside it, so that receivers can follow."""
    key = signing.new_secret()
    with in_workspace(workspace_id):
        webhook = webhooks.locked(webhook_id)
        webhook.previous_secret_sealed = webhook.secret_sealed
        webhook.previous_secret_until = clock.now() + timedelta(seconds=settings.WEBHOOK_SECRET_OVERLAP_SECONDS)
        webhook.secret_sealed = _seal(key, workspace_id, webhook_id)
        webhook.save(update_fields=["secret_sealed", "previous_secret_sealed", "previous_secret_until"])
        webhook.refresh_from_db(fields=["updated_at"])
        _note(webhook, "rotate_secret", previous_until=webhook.previous_secret_until)
    return webhook, signing.secret_text(key)


def delete(*, workspace_id: UUID, webhook_id: UUID) -> None:
    """Mark a webhook as deleted and cancel what waits for it."""
    with in_workspace(workspace_id):
        webhook = webhooks.locked(webhook_id)
        webhook.deleted_at = clock.now()
        webhook.save(update_fields=["deleted_at"])
        cancelling.cancel_waiting(webhook_ids=[webhook.id])
        _note(webhook, "delete", host=journal.host_of(webhook.url))


def _seal(key: bytes, workspace_id: UUID, webhook_id: UUID) -> bytes:
    return crypto.seal(
        key, workspace_id=workspace_id, table=endpoints.TABLE, row_id=webhook_id, purpose=endpoints.PURPOSE
    )


def _checked_url(url: str) -> str:
    if len(url) > _MAX_URL:
        raise Invalid(f"The URL may have at most {_MAX_URL} characters.", pointer="/url")
    try:
        http.check_url(url)
    except http.AddressRefused as error:
        raise http.AddressRefused(error.detail, pointer="/url") from error
    return url


def _checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers that a receiver may ask for, an Authorization among them; none that signatures or the connection need."""
    if len(headers) > _MAX_HEADERS:
        raise Invalid(f"At most {_MAX_HEADERS} headers can be added.", pointer="/headers")
    for name, value in headers.items():
        lower = name.lower()
        if not _HEADER_NAME.fullmatch(name) or lower in _RESERVED or lower.startswith("webhook-"):
            raise Invalid(f"The header {name[:100]!r} cannot be set here.", pointer="/headers")
        if len(value) > _MAX_HEADER_VALUE or not _HEADER_VALUE.fullmatch(value):
            raise Invalid(f"The value of {name} must be one line of visible ASCII.", pointer="/headers")
    return dict(headers)


def _checked_rate(rate: int | None) -> int | None:
    if rate is not None and not 1 <= rate <= 10_000:
        raise Invalid("The rate must be from 1 to 10,000 a second, or null for none.", pointer="/rate_per_second")
    return rate


def _reorder(webhook: Webhook) -> None:
    """Give waiting deliveries their place in the order, or take it from them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE webhooks_webhookdelivery d SET sequence = CASE WHEN %s THEN e.sequence END FROM webhooks_systemevent e"
            " WHERE e.id = d.system_event_id AND d.webhook_id = %s AND d.status IN ('pending', 'delivering')",
            [webhook.ordered, webhook.id],
        )


def _note(webhook: Webhook, verb: str, **details: Any) -> None:
    journal.note(workspace_id=webhook.workspace_id, webhook_id=webhook.id, verb=verb, **details)


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "url": _checked_url,
    "slugs": catalogue.check_slugs,
    "headers": _checked_headers,
    "rate_per_second": _checked_rate,
}
