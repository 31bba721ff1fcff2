from django.db import models
from django.db.models.functions import Now

from kernel import clock
from tenancy.scoping import WorkspaceOwned
from tenancy.types import CredentialState, DomainState


class Credential(WorkspaceOwned):
    """What a machine key and a client certificate share. Who issued it is kept in plain values (X-7)."""

    name = models.CharField(max_length=100)
    scopes = models.JSONField(default=list, help_text="Permission names; * and family.* stand for sets.")
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False, help_text="To the minute.")
    issued_by_kind = models.CharField(max_length=20, blank=True, editable=False)
    issued_by_id = models.CharField(max_length=80, blank=True, editable=False)
    issued_by_label = models.CharField(max_length=200, blank=True, editable=False)

    class Meta(WorkspaceOwned.Meta):
        abstract = True


class MachineKey(Credential):
    """An API credential. The secret is shown once; only its SHA-256 is kept (it has 256 bits: no slow hash needed)."""

    prefix = models.CharField(max_length=16, unique=True, editable=False)
    secret_hash = models.BinaryField(max_length=32, editable=False)
    # After a rotation the secret before it stays good for a while: same key, same caller, two secrets.
    previous_hash = models.BinaryField(max_length=32, null=True, editable=False)
    previous_until = models.DateTimeField(null=True, editable=False)
    allowed_networks = models.JSONField(
        default=list, blank=True, help_text="Networks such as 203.0.113.0/24 that it may be used from; none: from all."
    )
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta(Credential.Meta):
        constraints = [
            models.CheckConstraint(
                condition=models.Q(previous_hash=None, previous_until=None)
                | models.Q(previous_hash__isnull=False, previous_until__isnull=False),
                name="tenancy_previous_secret_has_an_end",
            )
        ]
        indexes = [
            # Whoever revokes a key asks for the keys that it issued; lists are by age.
            models.Index(fields=["workspace", "issued_by_kind", "issued_by_id"], name="tenancy_keys_by_issuer"),
            models.Index(fields=["workspace", "-created_at", "-id"], name="tenancy_keys_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.name} (mk_{self.prefix}…)"

    @property
    def state(self) -> str:
        if self.revoked_at is not None:
            return CredentialState.REVOKED
        is_over = self.expires_at is not None and self.expires_at <= clock.now()
        return CredentialState.EXPIRED if is_over else CredentialState.ACTIVE


class ClientCertificate(Credential):
    """A client certificate that acts for the workspace: exactly this one, known by the SHA-256 of its DER bytes."""

    # Of one workspace for ever, revoked ones too: a certificate must never begin to act for somebody else.
    fingerprint = models.BinaryField(max_length=32, editable=False, unique=True)
    serial = models.CharField(max_length=64, editable=False, help_text="In lower-case hex.")
    issuer = models.CharField(max_length=600, editable=False)
    subject = models.CharField(max_length=600, editable=False)
    not_before = models.DateTimeField(editable=False)
    not_after = models.DateTimeField(editable=False)

    class Meta(Credential.Meta):
        indexes = [models.Index(fields=["workspace", "-created_at", "-id"], name="tenancy_certificates_by_age")]

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        if self.revoked_at is not None:
            return CredentialState.REVOKED
        return CredentialState.EXPIRED if self.not_after <= clock.now() else CredentialState.ACTIVE


class RevokedToken(WorkspaceOwned):
    """A JWT that was revoked before its end; pruned after it (S0-3)."""

    jti = models.CharField(max_length=128)
    expires_at = models.DateTimeField(editable=False)

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["workspace", "jti"], name="tenancy_one_revocation_per_token")]
        indexes = [
            # Pruning, over all workspaces.
            models.Index(fields=["expires_at"], name="tenancy_revocations_by_end"),
            # The list.
            models.Index(fields=["workspace", "-created_at", "-id"], name="tenancy_revocations_by_age"),
        ]

    def __str__(self) -> str:
        return self.jti


class RevokedClientCert(WorkspaceOwned):
    """A client certificate that is refused, by fingerprint or by issuer and serial number (S0-4).

    Stands for itself: it also refuses a certificate that is registered later. Rows of the estate's own workspace hold
    for every workspace.
    """

    fingerprint = models.BinaryField(max_length=32, null=True)
    serial = models.CharField(max_length=64, blank=True)
    issuer = models.CharField(max_length=600, blank=True)
    reason = models.CharField(max_length=200, blank=True)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["workspace", "fingerprint"], name="tenancy_one_denial_per_fingerprint"),
            models.UniqueConstraint(
                fields=["workspace", "serial", "issuer"],
                condition=~models.Q(serial=""),
                name="tenancy_one_denial_per_serial",
            ),
            models.CheckConstraint(
                condition=models.Q(fingerprint__isnull=False, serial="", issuer="")
                | (models.Q(fingerprint=None) & ~models.Q(serial="") & ~models.Q(issuer="")),
                name="tenancy_denial_names_a_certificate",
            ),
        ]
        # The list.
        indexes = [models.Index(fields=["workspace", "-created_at", "-id"], name="tenancy_denials_by_age")]

    def __str__(self) -> str:
        return self.serial or bytes(self.fingerprint or b"").hex()


class RevokedSigningKey(models.Model):
    """A `kid` whose tokens are refused from now on, on every process, before its key leaves the configuration."""

    kid = models.CharField(primary_key=True, max_length=200)
    reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return self.kid


class VerifiedDomain(WorkspaceOwned):
    """A mail domain of the workspace. Inboxes lie on verified domains only, so 409 is no oracle (X-4)."""

    domain = models.CharField(max_length=253)
    state = models.CharField(max_length=10, choices=DomainState, default=DomainState.PENDING)
    challenge = models.CharField(max_length=64, editable=False, help_text="Value of the TXT record that proves it.")
    verified_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["workspace", "domain"], name="tenancy_domain_once_per_workspace"),
            # Many may claim a domain; one can prove it.
            models.UniqueConstraint(
                fields=["domain"], condition=models.Q(state="verified"), name="tenancy_domain_of_one_workspace"
            ),
        ]

    def __str__(self) -> str:
        return self.domain
