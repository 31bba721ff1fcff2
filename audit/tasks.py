"""Anchors and housekeeping, at regular times."""

from datetime import timedelta
from typing import Any

from celery import shared_task
from django.conf import settings

from audit import services


@shared_task(name="audit.tasks.anchor")
def anchor(**_: Any) -> None:
    """Remember the head of every chain, also outside the database."""
    services.anchor_all(directory=settings.ANCHOR_DIRECTORY, bucket=settings.ANCHOR_S3)


@shared_task(name="audit.tasks.prune_requests")
def prune_requests(**_: Any) -> None:
    """Forget requests of the API past their time."""
    services.prune_requests(older_than=timedelta(days=settings.REQUEST_LOG_KEEP_DAYS))
