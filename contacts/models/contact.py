import uuid

from django.db import models
from django.db.models.functions import Lower, Now

from contacts.types import IdentifierKind, Source
from tenancy.scoping import WorkspaceOwned


class Contact(models.Model):
    """A person, estate-wide within a realm (S1-29, X-3). Workspaces reach it through their own profile only."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    realm_id = models.UUIDField(default=uuid.UUID(int=0), editable=False)
    merged_into = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="+")
    created_via = models.CharField(max_length=12, choices=Source, default=Source.INBOUND)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(merged_into=None) | ~models.Q(merged_into=models.F("id")),
                name="contacts_not_merged_into_itself",
            )
        ]

    def __str__(self) -> str:
        return str(self.id)


class ContactIdentifier(models.Model):
    """An address, phone or handle: one value is one person in a realm (S1-30). Matching is exact (S1-39)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    contact = models.ForeignKey(Contact, models.PROTECT, related_name="identifiers")
    realm_id = models.UUIDField(default=uuid.UUID(int=0), editable=False)
    kind = models.CharField(max_length=8, choices=IdentifierKind)
    value = models.CharField(max_length=320)
    raw = models.CharField(max_length=320, blank=True)
    provider_scope = models.CharField(max_length=60, blank=True, default="")
    verified_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["realm_id", "kind", "value"], name="contacts_one_person_per_identifier"),
            models.CheckConstraint(
                condition=~models.Q(kind="phone") | models.Q(value__regex=r"^\+[1-9][0-9]{6,14}$"),
                name="contacts_phone_is_e164",
            ),
            models.CheckConstraint(
                condition=~models.Q(kind="email") | models.Q(value=Lower("value")),
                name="contacts_email_is_lower_case",
            ),
        ]

    def __str__(self) -> str:
        return self.value


class IdentifierSighting(WorkspaceOwned):
    """This workspace has itself supplied or received this identifier, and so may see it (X-3)."""

    identifier = models.ForeignKey(ContactIdentifier, models.PROTECT, related_name="sightings")

    class Meta(WorkspaceOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["workspace", "identifier"], name="contacts_one_sighting_per_workspace")
        ]

    def __str__(self) -> str:
        return str(self.identifier_id)
