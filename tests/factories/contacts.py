"""Factories of contacts."""

from itertools import count
from typing import Any
from uuid import UUID

from contacts.models import Contact, ContactIdentifier, ContactProfile, IdentifierSighting, SuppressionEntry
from contacts.types import IdentifierKind, SuppressionReason
from tests.factories.registry import create, factory, unique

_labels = count(1_000_000)


def contact(**given: Any) -> Contact:
    """A person, of no workspace yet."""
    return Contact.objects.create(**given)


def identifier(**given: Any) -> ContactIdentifier:
    """An address of a person."""
    usual = {"kind": IdentifierKind.EMAIL, "value": f"{unique('person')}@customer.test"}
    return ContactIdentifier.objects.create(**usual | {"contact": given.pop("contact", None) or contact()} | given)


@factory(ContactProfile)
def _profile(workspace_id: UUID, **given: Any) -> ContactProfile:
    return create(ContactProfile, workspace_id, given, contact=contact, label_no=lambda: next(_labels))


@factory(IdentifierSighting)
def _sighting(workspace_id: UUID, **given: Any) -> IdentifierSighting:
    return create(IdentifierSighting, workspace_id, given, identifier=identifier)


@factory(SuppressionEntry)
def _suppression(workspace_id: UUID, **given: Any) -> SuppressionEntry:
    return create(
        SuppressionEntry,
        workspace_id,
        given,
        value=lambda: f"{unique('gone')}@customer.test",
        reason=SuppressionReason.BOUNCE,
    )
