import uuid
from functools import cache
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Now

from tenancy.scoping import SystemKept
from tenancy.types import WorkspaceStatus


@cache
def zones() -> frozenset[str]:
    """All IANA names. Finding them walks through files, so once for a process."""
    return frozenset(available_timezones())


def check_timezone(name: str) -> None:
    """Only IANA names (S3-7)."""
    if name not in zones():
        raise ValidationError(f"{name!r} is not an IANA time zone such as 'Europe/Berlin'.")


class Workspace(SystemKept):
    """The tenant. Tombstoned, never deleted, while audit of it is kept (X-8)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    external_id = models.UUIDField(default=uuid.uuid4, unique=True, help_text="Id of the account at its origin.")
    ref = models.CharField(max_length=32, unique=True, editable=False, help_text="Public short form, ws_….")
    name = models.CharField(max_length=200)
    timezone = models.CharField(max_length=64, default="UTC", validators=[check_timezone])
    status = models.CharField(max_length=12, choices=WorkspaceStatus, default=WorkspaceStatus.ACTIVE)
    default_country = models.CharField(max_length=2, blank=True, validators=[RegexValidator(r"^[A-Z]{2}$")])
    ticket_prefix = models.CharField(max_length=6, null=True, blank=True, unique=True)
    ticket_seq = models.BigIntegerField(default=0, editable=False)
    contact_seq = models.BigIntegerField(default=0, editable=False)
    realm_id = models.UUIDField(
        default=uuid.UUID(int=0), editable=False, help_text="Workspaces of one realm share contact identities (X-3)."
    )
    # Set when every token so far is revoked at once; compared with `iat` on each request.
    tokens_valid_from = models.DateTimeField(null=True, blank=True, editable=False)
    settings = models.JSONField(default=dict, blank=True, help_text="See tenancy.settings for the known keys.")
    settings_version = models.PositiveIntegerField(default=1, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(ticket_prefix=None) | models.Q(ticket_prefix__regex=r"^[A-Z]{2,6}$"),
                name="tenancy_ticket_prefix_format",
            ),
            models.CheckConstraint(
                condition=models.Q(default_country="") | models.Q(default_country__regex=r"^[A-Z]{2}$"),
                name="tenancy_country_format",
            ),
            models.CheckConstraint(
                condition=models.Q(ticket_seq__gte=0, contact_seq__gte=0), name="tenancy_counters_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return self.name
