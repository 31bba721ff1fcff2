"""The global permission names (S3-19): stable, `family.verb`, granted to roles, keys and tokens by name."""

from typing import Final

CATALOGUE: Final[dict[str, str]] = {
    "workspace.read": "See the workspace and its settings",
    "workspace.manage": "Change the workspace, its domains and keys",
    "inbox.read": "See inboxes",
    "inbox.manage": "Create, change and deactivate inboxes",
    "email.read": "See received mail and its processing state",
    "email.create": "Hand in mail through the API",
    "email.draft": "Draft replies, which a person then approves or rejects",
    "email.send": "Send replies, as far as the agent of the inbox may",
    "thread.read": "See conversations and attachments",
    "thread.manage": "Assign, close, snooze and label conversations, and write internal notes",
    "view.manage": "Change labels, shared views and canned answers",
    "agent.read": "See agents, their runs and executions",
    "agent.manage": "Create and change agents and their knowledge",
    "approval.read": "See what waits for a decision",
    "approval.decide": "Approve or reject what an agent wants to do",
    "webhook.read": "See webhooks and their deliveries",
    "webhook.manage": "Create, change, test and replay webhooks",
    "event.read": "See system events",
    "contact.read": "See contacts of the workspace",
    "contact.manage": "Allow mail to suppressed addresses again",
    "quarantine.manage": "Replay quarantined mail",
    "request.read": "See the log of requests to the API",
    "audit.read": "See and verify the audit trail",
}


def describe() -> dict[str, str]:
    """Name and meaning of every permission."""
    return CATALOGUE


def is_known(scope: str) -> bool:
    """Whether a scope grants something: a name of the catalogue, a family of it, or everything."""
    family, _, verb = scope.partition(".")
    is_family = verb == "*" and any(name.startswith(f"{family}.") for name in CATALOGUE)
    return scope == "*" or scope in CATALOGUE or is_family


def covers(held: frozenset[str], scope: str) -> bool:
    """Whether who holds `held` has all that `scope` grants."""
    return not held.isdisjoint((scope, scope.partition(".")[0] + ".*", "*"))
