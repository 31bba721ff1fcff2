"""Kinds of identifiers."""

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
