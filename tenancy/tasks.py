"""Housekeeping of credentials."""

from typing import Any

from celery import shared_task

from kernel import clock
from kernel.transactions import in_all_workspaces
from tenancy.models import RevokedToken


@shared_task(name="tenancy.tasks.prune_tokens")
def prune_tokens(**_: Any) -> None:
    """Forget revocations of tokens that have ended by themselves."""
    with in_all_workspaces("housekeeping"):
        RevokedToken.objects.filter(expires_at__lt=clock.now()).delete()
