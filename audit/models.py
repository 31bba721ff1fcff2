"""The append-only record of who tried what, on what, with which outcome.

No foreign keys (decision X-8): the trail outlives everything that it names. The chain covers ids and the hash of the
readable payload; the payload itself is a separate row that privacy deletion may empty without breaking the chain (X-26).
"""

import uuid

from django.db import models
from django.db.models.functions import Now


class AuditChain(models.Model):
    """Head of one workspace's chain: a narrow row, locked late and once, so that nothing else waits for it (X-31)."""

    workspace_id = models.UUIDField(primary_key=True)
    sequence = models.BigIntegerField(default=0)
    head = models.BinaryField(max_length=32)

    def __str__(self) -> str:
        return f"chain of {self.workspace_id} at {self.sequence}"


class AuditEvent(models.Model):
    """One link of the chain. `body` is what was hashed; the columns repeat it for queries."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace_id = models.UUIDField()
    sequence = models.BigIntegerField()
    action = models.CharField(max_length=80)
    outcome = models.CharField(max_length=12)
    actor_kind = models.CharField(max_length=20)
    actor_id = models.CharField(max_length=80, blank=True)
    actor_label = models.CharField(max_length=200, blank=True)
    resource_kind = models.CharField(max_length=60)
    resource_id = models.CharField(max_length=80)
    request_id = models.CharField(max_length=64, blank=True)
    execution_id = models.UUIDField(null=True)
    payload_hash = models.BinaryField(max_length=32)
    # Of the resource as the event before it left it, and as this one did; where a person or a program changed one.
    before_hash = models.BinaryField(max_length=32, null=True)
    after_hash = models.BinaryField(max_length=32, null=True)
    occurred_at = models.DateTimeField()
    body = models.TextField()
    previous_hash = models.BinaryField(max_length=32)
    hash = models.BinaryField(max_length=32)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace_id", "sequence"], name="audit_gapless_sequence")]
        indexes = [
            # "What happened to this resource", newest first.
            models.Index(
                fields=["workspace_id", "resource_kind", "resource_id", "-sequence"], name="audit_by_resource"
            ),
            # "What did this person or key do", newest first.
            models.Index(fields=["workspace_id", "actor_kind", "actor_id", "-sequence"], name="audit_by_actor"),
        ]

    def __str__(self) -> str:
        return f"{self.sequence} {self.action} {self.outcome}"


class AuditPayload(models.Model):
    """The readable details of an event. May be emptied (redacted); the chain keeps its hash."""

    event_id = models.UUIDField(primary_key=True)
    workspace_id = models.UUIDField()
    payload = models.JSONField(default=dict)
    redacted_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"payload of {self.event_id}"


class AuditAnchor(models.Model):
    """A remembered head, also written outside the database: shows when a tail, or a whole chain, was cut away."""

    workspace_id = models.UUIDField()
    sequence = models.BigIntegerField()
    hash = models.BinaryField(max_length=32)
    at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace_id", "sequence"], name="audit_one_anchor_per_head")]

    def __str__(self) -> str:
        return f"anchor {self.sequence} of {self.workspace_id}"


class ApiRequest(models.Model):
    """An answered request of the API, for those who call it: never a body, a query, an address or a secret."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace_id = models.UUIDField()
    created_at = models.DateTimeField(help_text="When it came in.")
    request_id = models.CharField(max_length=64)
    method = models.CharField(max_length=10)
    path = models.CharField(max_length=200, help_text="The route, with names in place of ids.")
    status = models.PositiveSmallIntegerField()
    code = models.CharField(max_length=60, blank=True, help_text="Of the problem, if it was refused.")
    caller = models.CharField(max_length=200, blank=True, help_text="The label of the key, token or person.")
    duration_ms = models.PositiveIntegerField()

    class Meta:
        indexes = [
            # The log of a workspace, newest first.
            models.Index(fields=["workspace_id", "-created_at", "-id"], name="audit_api_request_list"),
            # Pruning.
            models.Index(fields=["created_at"], name="audit_api_request_age"),
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.status}"
