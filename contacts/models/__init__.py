from contacts.models.contact import Contact, ContactIdentifier, IdentifierSighting
from contacts.models.profile import ContactProfile
from contacts.models.suppression import SuppressionEntry

__all__ = ["Contact", "ContactIdentifier", "ContactProfile", "IdentifierSighting", "SuppressionEntry"]
