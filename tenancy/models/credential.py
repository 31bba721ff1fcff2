from django.db import models

from tenancy.scoping import WorkspaceOwned
from tenancy.types import DomainState


class MachineKey(WorkspaceOwned):
    """An API credential. The secret is shown once; only its SHA-256 is kept (it has 256 bits: no slow hash needed)."""

    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16, unique=True, editable=False)
    secret_hash = models.BinaryField(max_length=32, editable=False)
    scopes = models.JSONField(default=list, help_text="Permission names; * and family.* stand for sets.")
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    def __str__(self) -> str:
        return f"{self.name} (mk_{self.prefix}…)"


class RevokedToken(WorkspaceOwned):
    """A JWT that was revoked before its end; pruned after it (S0-3)."""

    jti = models.CharField(max_length=128)
    expires_at = models.DateTimeField()

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["workspace", "jti"], name="tenancy_one_revocation_per_token")]

    def __str__(self) -> str:
        return self.jti


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
