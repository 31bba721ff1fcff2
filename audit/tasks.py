"""Anchors, at regular times."""

from typing import Any

from celery import shared_task
from django.conf import settings

from audit import services


@shared_task(name="audit.tasks.anchor")
def anchor(**_: Any) -> None:
    """Remember the head of every chain, also outside the database."""
    services.anchor_all(directory=settings.ANCHOR_DIRECTORY)
