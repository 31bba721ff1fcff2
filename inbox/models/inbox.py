import uuid

from django.db import models

from inbox.types import Channel
from tenancy.scoping import SoftDeletable, SystemKept


class Inbox(SoftDeletable, SystemKept):
    """A routable address with its processing policy and at most one bound agent (S0-7)."""

    inbox_path = "id"

    external_id = models.UUIDField(default=uuid.uuid4, unique=True)
    kind = models.CharField(max_length=12, choices=Channel, default=Channel.EMAIL)
    name = models.CharField(max_length=200, blank=True, help_text="Shown to customers as the sender.")
    address = models.CharField(max_length=320)
    # Global and without a condition: covers soft-deleted rows and other workspaces (S0-28, S0-31).
    address_normalized = models.CharField(max_length=320, unique=True, editable=False)
    # agents lies above this app: the column is plain here, and the agents app's migration pairs it with its table.
    agent_id = models.UUIDField(null=True, blank=True)
    connection = models.ForeignKey(
        "inbox.Connection",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="inboxes",
        db_constraint=False,
        help_text="What it sends through. None: what the installation is set up with.",
    )
    policy = models.JSONField(default=dict, blank=True, help_text="See inbox.policy for its keys.")
    policy_version = models.PositiveIntegerField(default=1, editable=False)
    active = models.BooleanField(default=True)

    class Meta(SoftDeletable.Meta):
        verbose_name_plural = "inboxes"
        indexes = [models.Index(fields=["workspace", "-created_at", "-id"], name="inbox_inbox_list")]

    def __str__(self) -> str:
        return self.address
