"""Disable and enable webhooks. What was not delivered meanwhile is kept as cancelled and comes with enabling."""

from uuid import UUID

from django.db.models.functions import Now

from kernel import clock, outbox
from kernel.transactions import after_commit, in_workspace
from webhooks.events import WebhookDisabled
from webhooks.models import Webhook
from webhooks.queries import webhooks
from webhooks.services import cancelling, journal, replaying
from webhooks.transport import wakeups
from webhooks.types import WebhookState


def disable(*, workspace_id: UUID, webhook_id: UUID, reason: str = "") -> Webhook:
    """Stop calling an endpoint at somebody's wish; doing it twice changes nothing."""
    with in_workspace(workspace_id):
        webhook = webhooks.locked(webhook_id)
        if webhook.state == WebhookState.ACTIVE:
            _switch_off(webhook, reason or "Disabled by request.")
    return webhook


def disable_failing(*, webhook_id: UUID, reason: str) -> None:
    """Stop calling an endpoint that does not work. Needs a unit of work that sees it; once, however many notice."""
    webhook = Webhook.objects.select_for_update(no_key=True).filter(id=webhook_id, state=WebhookState.ACTIVE).first()
    if webhook is not None:
        with in_workspace(webhook.workspace_id):
            _switch_off(webhook, reason)


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
            replayed = replaying.queue_gap(webhook_id=webhook_id, since=since) if replay_gap else 0
            _note(webhook, "enable", replayed=replayed)
            after_commit(wakeups.ring)
    return webhook, replayed


_SWITCHED = ("state", "disabled_reason", "disabled_at")


def _switch_off(webhook: Webhook, reason: str) -> None:
    webhook.state, webhook.disabled_reason = WebhookState.DISABLED, reason
    # The database's time: enabling compares it with the rows that are cancelled here.
    webhook.disabled_at = Now()
    webhook.save(update_fields=_SWITCHED)
    webhook.refresh_from_db(fields=["disabled_at", "updated_at"])
    cancelling.cancel_waiting(webhook_ids=[webhook.id])
    outbox.emit(WebhookDisabled(workspace_id=webhook.workspace_id, webhook_id=webhook.id, reason=reason))
    _note(webhook, "disable", reason=reason)


def _note(webhook: Webhook, verb: str, **details: object) -> None:
    journal.note(workspace_id=webhook.workspace_id, webhook_id=webhook.id, verb=verb, **details)
