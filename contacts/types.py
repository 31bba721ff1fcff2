"""Kinds of identifiers, and why an address is not written to."""

from django.db.models import TextChoices


class IdentifierKind(TextChoices):
    EMAIL = "email"
    PHONE = "phone"
    HANDLE = "handle"


class Source(TextChoices):
    """How a workspace came to know a person."""

    INBOUND = "inbound"
    MANUAL = "manual"
    IMPORT = "import"


class SuppressionReason(TextChoices):
    """Why a workspace does not write to an address; a later one takes the place of an earlier one."""

    SOFT_BOUNCE = "soft_bounce"
    MANUAL = "manual"
    BOUNCE = "bounce"
    COMPLAINT = "complaint"
