"""The inbox's workers. Tasks are wake-ups: rows are the record, so any number may run at once."""

from typing import Any

from celery import shared_task

from inbox.services import delivery_news, images, ingesting, sending, tending, trying
from kernel import nudge


@shared_task(name="inbox.tasks.process_messages")
def process_messages(**_: Any) -> None:
    """Read stored messages until none is due."""
    nudge.taken("inbox.tasks.process_messages")
    ingesting.process_all()


@shared_task(name="inbox.tasks.send_mail")
def send_mail(**_: Any) -> None:
    """Send queued messages until none is due, and settle those whose sender died."""
    nudge.taken("inbox.tasks.send_mail")
    while sending.send_due():
        pass


@shared_task(name="inbox.tasks.match_news")
def match_news(**_: Any) -> None:
    """Find the messages of news that came before their ids were written down."""
    delivery_news.match_late()


@shared_task(name="inbox.tasks.wake_threads")
def wake_threads(**_: Any) -> None:
    """Bring back conversations whose time has come."""
    while tending.wake_due():
        pass


@shared_task(name="inbox.tasks.prune_images")
def prune_images(**_: Any) -> None:
    """Forget images whose time has ended."""
    images.prune()


@shared_task(name="inbox.tasks.check_connections")
def check_connections(**_: Any) -> None:
    """Try connections until none is due."""
    nudge.taken("inbox.tasks.check_connections")
    while trying.check_due():
        pass
