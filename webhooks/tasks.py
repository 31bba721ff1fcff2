"""Housekeeping of webhooks. Sending is no task: `manage.py run_webhooks` does it."""

from datetime import timedelta
from typing import Any

from celery import shared_task
from django.conf import settings

from webhooks.services import callbacks, pruning


@shared_task(name="webhooks.tasks.prune")
def prune(**_: Any) -> None:
    """Delete attempts older than WEBHOOK_ATTEMPT_KEEP_DAYS, and callbacks older than PROVIDER_EVENT_KEEP_DAYS."""
    pruning.prune_attempts(older_than=timedelta(days=settings.WEBHOOK_ATTEMPT_KEEP_DAYS))
    callbacks.prune(older_than=timedelta(days=settings.PROVIDER_EVENT_KEEP_DAYS))
