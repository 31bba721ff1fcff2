"""The inbox's workers. Tasks are wake-ups: rows are the record, so any number may run at once."""

from typing import Any, Final

from celery import shared_task

from inbox.services import delivery_news, images, ingesting, sending, tending, trying
from kernel import shifts

_READ: Final = "inbox.tasks.process_messages"
_SEND: Final = "inbox.tasks.send_mail"
_WAKE: Final = "inbox.tasks.wake_threads"
_CHECK: Final = "inbox.tasks.check_connections"


@shared_task(name=_READ)
def process_messages(**_: Any) -> None:
    """Read stored messages until none is due."""
    with shifts.shift(_READ) as keep_going:
        ingesting.process_all(keep_going=keep_going)


@shared_task(name=_SEND)
def send_mail(**_: Any) -> None:
    """Send queued messages until none is due, and settle those whose sender died."""
    with shifts.shift(_SEND, outside=True) as keep_going:
        while keep_going() and sending.send_due():
            pass


@shared_task(name="inbox.tasks.match_news")
def match_news(**_: Any) -> None:
    """Find the messages of news that came before their ids were written down."""
    delivery_news.match_late()


@shared_task(name=_WAKE)
def wake_threads(**_: Any) -> None:
    """Bring back conversations whose time has come."""
    with shifts.shift(_WAKE) as keep_going:
        while keep_going() and tending.wake_due():
            pass


@shared_task(name="inbox.tasks.prune_images")
def prune_images(**_: Any) -> None:
    """Forget images whose time has ended."""
    images.prune()


@shared_task(name=_CHECK)
def check_connections(**_: Any) -> None:
    """Try connections until none is due."""
    with shifts.shift(_CHECK, outside=True) as keep_going:
        while keep_going() and trying.check_due():
            pass
