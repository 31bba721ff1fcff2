"""Create, change, re-key, switch and delete webhooks.

While a webhook is disabled its deliveries are kept as cancelled; enabling sends them.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now

from kernel import clock, crypto, outbox
from kernel.errors import Invalid, NotFound
from kernel.transactions import after_commit, in_workspace
from tenancy.services import notices
from webhooks.events import (
    WebhookCreated,
    WebhookDeleted,
    WebhookDisabled,
    WebhookEnabled,
    WebhookRestored,
    WebhookSecretRotated,
    WebhookUpdated,
)
from webhooks.models import Webhook
from webhooks.queries import catalogue, endpoints, webhooks
from webhooks.services import cancelling, checking, journal, replaying
from webhooks.transport import signing, wakeups
from webhooks.types import WebhookState

_CHECKS: dict[str, Callable[[Any], Any]] = {
    "url": checking.url,
    "slugs": catalogue.check_slugs,
    "headers": checking.headers,
    "rate_per_second": checking.rate,
}
_CHANGEABLE = frozenset({"label", "url", "slugs", "headers", "ordered", "rate_per_second", "custom_metadata"})
_SWITCHED = ("state", "disabled_reason", "disabled_at")


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
            url=checking.url(url),
            slugs=catalogue.check_slugs(slugs),
            headers=checking.headers(headers or {}),
            ordered=ordered,
            rate_per_second=checking.rate(rate_per_second),
            custom_metadata=custom_metadata or {},
            secret_sealed=_seal(key, workspace_id, webhook_id),
        )
        webhook.refresh_from_db(fields=["created_at", "updated_at"])
        outbox.emit(WebhookCreated(workspace_id=workspace_id, webhook_id=webhook.id))
        _note(webhook, "create", host=journal.host_of(webhook.url), slugs=webhook.slugs)
    return webhook, signing.secret_text(key)


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
        outbox.emit(WebhookUpdated(workspace_id=workspace_id, webhook_id=webhook.id))
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
        outbox.emit(WebhookSecretRotated(workspace_id=workspace_id, webhook_id=webhook.id))
        _note(webhook, "rotate_secret", previous_until=webhook.previous_secret_until)
    return webhook, signing.secret_text(key)


def disable(*, workspace_id: UUID, webhook_id: UUID, reason: str = "") -> Webhook:
    """Stop calling an endpoint at somebody's wish; doing it twice changes nothing."""
    with in_workspace(workspace_id):
        webhook = webhooks.locked(webhook_id)
        if webhook.state == WebhookState.ACTIVE:
            _switch_off(webhook, reason or "Disabled by request.")
    return webhook


def disable_failing(*, webhook_id: UUID, reason: str) -> None:
    """Stop calling an endpoint that does not work. Needs a unit of work that sees it; once, however many notice.

    One that somebody is at work on is left alone: its next failure comes by again.
    """
    rows = Webhook.objects.select_for_update(no_key=True, skip_locked=True)
    webhook = rows.filter(id=webhook_id, state=WebhookState.ACTIVE).first()
    if webhook is not None:
        with in_workspace(webhook.workspace_id):
            _switch_off(webhook, reason)
            # Its events have nowhere else to go, so nobody hears of it by webhook.
            notices.tell(
                workspace_id=webhook.workspace_id,
                permission="webhook.manage",
                subject=f"The webhook {webhook} was switched off",
                text=f"{webhook.url} gets no more events. {reason} Enabling it again sends what it has missed.",
                path=f"/console/webhooks/webhook/{webhook.id}/change/",
            )


def enable(*, workspace_id: UUID, webhook_id: UUID, replay_gap: bool = True) -> tuple[Webhook, int]:
    """Call the endpoint again, from the first failure of its gap on; the webhook and how many deliveries are replayed."""
    replayed = 0
    with in_workspace(workspace_id):
        webhook = webhooks.locked(webhook_id)
        if webhook.state == WebhookState.DISABLED:
            since = min(filter(None, (webhook.failing_since, webhook.disabled_at)), default=clock.now())
            webhook.state, webhook.disabled_reason, webhook.disabled_at = WebhookState.ACTIVE, "", None
            webhook.failing_since, webhook.failure_noted_at, webhook.failures_noted = None, None, 0
            webhook.save(update_fields=[*_SWITCHED, "failing_since", "failure_noted_at", "failures_noted"])
            webhook.refresh_from_db(fields=["updated_at"])
            replayed = replaying.queue_gap(webhook_id=webhook_id, since=since) if replay_gap else 0
            outbox.emit(WebhookEnabled(workspace_id=workspace_id, webhook_id=webhook.id, replayed=replayed))
            _note(webhook, "enable", replayed=replayed)
            after_commit(wakeups.ring)
    return webhook, replayed


def delete(*, workspace_id: UUID, webhook_id: UUID) -> None:
    """Mark a webhook as deleted; what waits for it is cancelled, here or by the dispatcher."""
    with in_workspace(workspace_id):
        webhook = webhooks.locked(webhook_id)
        webhook.deleted_at = clock.now()
        webhook.save(update_fields=["deleted_at"])
        cancelling.cancel_waiting(webhook_ids=[webhook.id])
        outbox.emit(WebhookDeleted(workspace_id=workspace_id, webhook_id=webhook.id))
        _note(webhook, "delete", host=journal.host_of(webhook.url))


def restore(*, workspace_id: UUID, webhook_id: UUID) -> Webhook:
    """Bring a deleted webhook back under its id, for operators (S0-28): disabled, until somebody enables it.

    What it subscribes to and where it sends are asked anew (S0-29); Invalid says what is no longer possible.
    """
    with in_workspace(workspace_id):
        rows = Webhook.with_deleted.select_for_update(no_key=True)
        webhook = rows.filter(id=webhook_id, deleted_at__isnull=False).first()
        if webhook is None:
            raise NotFound("No deleted webhook of this workspace has that id.")
        checking.url(webhook.url)
        catalogue.check_slugs(webhook.slugs)
        webhook.deleted_at, webhook.state = None, WebhookState.DISABLED
        webhook.disabled_reason, webhook.disabled_at = "Restored. Enable it when its endpoint is ready.", Now()
        webhook.save(update_fields=["deleted_at", *_SWITCHED])
        webhook.refresh_from_db(fields=["disabled_at", "updated_at"])
        outbox.emit(WebhookRestored(workspace_id=workspace_id, webhook_id=webhook.id))
        _note(webhook, "restore", host=journal.host_of(webhook.url))
    return webhook


def _switch_off(webhook: Webhook, reason: str) -> None:
    webhook.state, webhook.disabled_reason = WebhookState.DISABLED, reason
    # The database's time: enabling compares it with the rows that are cancelled here.
    webhook.disabled_at = Now()
    webhook.save(update_fields=_SWITCHED)
    webhook.refresh_from_db(fields=["disabled_at", "updated_at"])
    cancelling.cancel_waiting(webhook_ids=[webhook.id])
    outbox.emit(WebhookDisabled(workspace_id=webhook.workspace_id, webhook_id=webhook.id, reason=reason))
    _note(webhook, "disable", reason=reason)


def _seal(key: bytes, workspace_id: UUID, webhook_id: UUID) -> bytes:
    return crypto.seal(
        key, workspace_id=workspace_id, table=endpoints.TABLE, row_id=webhook_id, purpose=endpoints.PURPOSE
    )


def _reorder(webhook: Webhook) -> None:
    """Give waiting deliveries their place in the order, or take it from them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE webhooks_webhookdelivery d SET sequence = CASE WHEN %s THEN e.sequence END FROM webhooks_systemevent e"
            " WHERE e.id = d.system_event_id AND d.webhook_id = %s AND d.status = 'pending'",
            [webhook.ordered, webhook.id],
        )


def _note(webhook: Webhook, verb: str, **details: Any) -> None:
    journal.note(workspace_id=webhook.workspace_id, webhook_id=webhook.id, verb=verb, **details)
