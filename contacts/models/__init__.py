from contacts.models.contact import Contact, ContactIdentifier, IdentifierSighting
from contacts.models.profile import ContactProfile

__all__ = ["Contact", "ContactIdentifier", "ContactProfile", "IdentifierSighting"]
