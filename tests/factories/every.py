"""All factories, by importing each app's: `from tests.factories.every import FACTORIES, make`."""

from tests.factories import agents, audit, contacts, files, inbox, kernel, tenancy, tickets, webhooks
from tests.factories.registry import FACTORIES, make, workspace

__all__ = [
    "FACTORIES",
    "agents",
    "audit",
    "contacts",
    "files",
    "inbox",
    "kernel",
    "make",
    "tenancy",
    "tickets",
    "webhooks",
    "workspace",
]
