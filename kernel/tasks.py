"""Periodic and nudged plumbing."""

from datetime import timedelta
from typing import Any, Final

from celery import shared_task
from django.conf import settings

from kernel import clock, idempotency, outbox, shifts
from kernel.models import Heartbeat

_DRAIN: Final = "kernel.tasks.drain_outbox"


@shared_task(name=_DRAIN)
def drain_outbox(**_: Any) -> None:
    """Deliver due events until none is left."""
    with shifts.shift(_DRAIN) as keep_going:
        while keep_going() and outbox.drain():
            pass


@shared_task(name="kernel.tasks.prune_plumbing")
def prune_plumbing(**_: Any) -> None:
    """Delete published events, their receipts and expired idempotency records."""
    outbox.prune(older_than=timedelta(days=settings.OUTBOX_KEEP_DAYS))
    idempotency.prune()


@shared_task(name="kernel.tasks.beat_heartbeat")
def beat_heartbeat(**_: Any) -> None:
    """Note that the scheduler schedules and a worker works."""
    Heartbeat.objects.update_or_create(name="beat", defaults={"at": clock.now()})
