"""Housekeeping of credentials."""

from datetime import timedelta
from typing import Any

from celery import shared_task
from django.conf import settings

from kernel import clock
from kernel.transactions import in_all_workspaces
from tenancy.models import RevokedToken


@shared_task(name="tenancy.tasks.prune_tokens")
def prune_tokens(**_: Any) -> None:
    """Forget revocations of tokens that have ended by themselves."""
    with in_all_workspaces("housekeeping of every workspace's revocations"):
        # A token passes for the leeway after its end; its revocation must last as long.
        ended = clock.now() - timedelta(seconds=settings.JWT_LEEWAY_SECONDS)
        RevokedToken.objects.filter(expires_at__lt=ended).delete()
