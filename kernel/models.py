"""Plumbing tables. They grow fast and no API shows them, so their keys are identities, not UUIDs."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from kernel.sealed import SealedField


class OutboxEvent(models.Model):
    """A fact on its way to its consumers, written in the transaction of its cause (S3-45)."""

    event_id = models.UUIDField(default=uuid.uuid4, editable=False)
    workspace_id = models.UUIDField()
    slug = models.CharField(max_length=80)
    version = models.PositiveSmallIntegerField(default=1)
    aggregate_key = models.CharField(max_length=120)
    payload = models.JSONField(default=dict)
    context = models.JSONField(default=dict, help_text="Actor and request of the cause.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    available_at = models.DateTimeField(db_default=Now())
    attempts = models.PositiveSmallIntegerField(db_default=0, help_text="Deliveries that ended with an error.")
    claims = models.PositiveSmallIntegerField(db_default=0, help_text="Claims whose worker died.")
    published_at = models.DateTimeField(null=True)
    parked_at = models.DateTimeField(null=True, help_text="Given up after the last attempt; redeliver by hand.")
    last_error = models.TextField(blank=True, db_default="")

    class Meta:
        default_manager_name = "objects"
        indexes = [
            # The drain: heads of their aggregates that are due. Stays small however many events are done.
            models.Index(
                fields=["available_at", "id"],
                name="kernel_outbox_due",
                condition=models.Q(published_at=None, parked_at=None),
            ),
            # The drain's question "is an earlier fact of this aggregate still waiting?"
            models.Index(
                fields=["aggregate_key", "id"], name="kernel_outbox_order", condition=models.Q(published_at=None)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.slug} #{self.pk}"


class OutboxClaim(models.Model):
    """The ledger of batches that are being delivered: a row while a drain owns the events that it lists."""

    event_ids = ArrayField(models.BigIntegerField())
    until = models.DateTimeField(help_text="End of the lease: then the drain is taken for dead.")

    def __str__(self) -> str:
        return f"{len(self.event_ids)} events until {self.until}"


class ConsumerReceipt(models.Model):
    """Proof that a consumer has handled an event: its effect in the database happens once (S3-46)."""

    pk = models.CompositePrimaryKey("event_id", "consumer")
    workspace_id = models.UUIDField()
    event_id = models.UUIDField()
    consumer = models.CharField(max_length=80)
    at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return f"{self.consumer} ← {self.event_id}"


class IdempotencyRecord(models.Model):
    """A request that was done under a key: its fingerprint, and its answer."""

    workspace_id = models.UUIDField()
    principal = models.CharField(max_length=120, help_text="Kind and id of the caller.")
    operation = models.CharField(max_length=120, help_text="Method and route.")
    key = models.CharField(max_length=255)
    fingerprint = models.BinaryField(max_length=32)
    response_status = models.PositiveSmallIntegerField()
    response_body = SealedField(purpose="answer")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace_id", "principal", "key"], name="kernel_one_record_per_idempotency_key"
            ),
        ]
        indexes = [models.Index(fields=["expires_at"], name="kernel_idempotency_expiry")]

    def __str__(self) -> str:
        return f"{self.operation} {self.key}"


class EncryptionKey(models.Model):
    """A key version that ciphertexts may name. A wrong key is refused at start by its check value (K5).

    A key of the environment is kept nowhere; one that a provider wraps is kept as that provider alone can open it. A
    version that any envelope names cannot be retired: the envelopes refer to it (`kernel.db.sealed`).
    """

    version = models.PositiveIntegerField(primary_key=True)
    check_value = models.BinaryField(max_length=64)
    provider = models.CharField(max_length=20, default="environment", help_text="environment or aws_kms.")
    wrapped = models.BinaryField(null=True, editable=False, help_text="The key as its provider keeps it.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    retired_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"key version {self.version}"


class Heartbeat(models.Model):
    """When a periodic process last ran: a silent scheduler or worker is seen on the status page (FS-9)."""

    name = models.CharField(primary_key=True, max_length=60)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class PeriodicJob(models.Model):
    """The last slot of time for which a periodic job was sent: of several schedulers, one sends it (I2)."""

    name = models.CharField(primary_key=True, max_length=120)
    slot = models.BigIntegerField()
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} at {self.slot}"
