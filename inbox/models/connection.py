from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from inbox.types import ConnectionState, Provider
from kernel.sealed import SealedField
from tenancy.scoping import WorkspaceOwned


class Connection(WorkspaceOwned):
    """An account at a provider that inboxes send through (S3-62). Its secret is in no column of this table.

    That `connected` and `degraded` have a live secret, and which states may follow which, are triggers
    (`inbox/sql/connections_v1.sql`).
    """

    provider = models.CharField(max_length=8, choices=Provider)
    kind = models.CharField(max_length=12, default="email", editable=False)
    name = models.CharField(max_length=200)
    external_account_id = models.CharField(max_length=400, help_text="The account's own name at its provider.")
    configuration = models.JSONField(default=dict, help_text="Host, port, user, region: what is no secret.")
    state = models.CharField(max_length=24, choices=ConnectionState, default=ConnectionState.UNCONFIGURED)
    capabilities = models.JSONField(default=dict, blank=True, help_text="What the provider said it can do.")
    # Who made it: plain values that outlive the person.
    owner_kind = models.CharField(max_length=20, blank=True)
    owner_id = models.CharField(max_length=80, blank=True)
    owner_label = models.CharField(max_length=200, blank=True)
    last_health_at = models.DateTimeField(null=True, help_text="When it was last tried.")
    error_code = models.CharField(max_length=60, blank=True)
    error_detail = models.CharField(max_length=300, blank=True)
    check_due_at = models.DateTimeField(null=True, help_text="Next try, or the end of the lease of one under way.")

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "provider", "external_account_id"], name="inbox_one_connection_per_account"
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="inbox_connection_list"),
            # The checker's claim.
            models.Index(fields=["check_due_at"], name="inbox_connection_due", condition=Q(check_due_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.name


class ConnectionCredential(WorkspaceOwned):
    """A secret of a connection, as an envelope that opens in this row only (S3-63). It is written and never shown."""

    connection = models.ForeignKey(Connection, models.PROTECT, related_name="credentials", db_constraint=False)
    purpose = models.CharField(max_length=20, default="sending")
    # Nonce and key version are in the envelope. Gone with its revocation: what is not needed is not kept.
    secret_sealed = SealedField(purpose="secret", null=True)
    scopes = ArrayField(models.CharField(max_length=80), default=list, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    rotated_from = models.ForeignKey("self", models.PROTECT, null=True, related_name="+", db_constraint=False)
    revoked_at = models.DateTimeField(null=True)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["connection", "purpose"],
                condition=Q(revoked_at=None),
                name="inbox_one_live_credential_per_purpose",
            ),
            models.CheckConstraint(
                condition=Q(revoked_at=None) ^ Q(secret_sealed=None), name="inbox_live_credential_has_its_secret"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} of {self.connection_id}"
