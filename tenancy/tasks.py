"""Letters to people, and the housekeeping of credentials, sessions and sign-ins."""

from datetime import timedelta
from typing import Any

from celery import shared_task
from django.conf import settings

from kernel import clock, shifts
from kernel.transactions import in_all_workspaces
from tenancy.models import RevokedToken
from tenancy.services import mailing, notices, resetting, sessions, signing_in, throttling


@shared_task(name="tenancy.tasks.prune_tokens")
def prune_tokens(**_: Any) -> None:
    """Forget revocations of tokens that have ended by themselves."""
    with in_all_workspaces("housekeeping of every workspace's revocations"):
        # A token passes for the leeway after its end; its revocation must last as long.
        ended = clock.now() - timedelta(seconds=settings.JWT_LEEWAY_SECONDS)
        RevokedToken.objects.filter(expires_at__lt=ended).delete()


@shared_task(name="tenancy.tasks.send_letters")
def send_letters(**_: Any) -> None:
    """Mail invitations and links to new passwords that are due."""
    with shifts.shift(mailing.TASK, outside=True) as keep_going:
        mailing.send_due(keep_going=keep_going)


@shared_task(name="tenancy.tasks.prune_people")
def prune_people(**_: Any) -> None:
    """Forget sessions that ended, links and counters that are over, and sign-ins past their time."""
    sessions.prune()
    resetting.prune()
    notices.prune()
    throttling.prune()
    signing_in.forget(days=settings.LOGIN_EVENT_KEEP_DAYS)
