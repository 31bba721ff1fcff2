"""The global permission names (S3-19): stable, `family.verb`, granted to roles, keys and tokens by name."""

from typing import Final

CATALOGUE: Final[dict[str, str]] = {
    "workspace.read": "See the workspace and its settings",
    "workspace.manage": "Change the workspace, its domains and keys",
    "workspace.stop": "Stop everything that leaves the workspace, in an emergency",
    "workspace.resume": "Release the emergency stop",
    "member.read": "See members, invitations and teams",
    "member.manage": "Invite, suspend, reactivate and remove members, give them roles; make teams",
    "role.read": "See roles and what they grant",
    "role.manage": "Make and change roles, and give them to members",
    "inbox.read": "See inboxes",
    "inbox.manage": "Create, change and deactivate inboxes",
    "inbox.see_all": "See every inbox, also where members see those of their teams only",
    "connection.read": "See connected accounts and how they stand",
    "connection.manage": "Connect accounts, set their secrets, disconnect them",
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
    "audit.export": "Take the audit trail out as a file",
    "audit.redact": "Empty the details of an audit event, which stays in the chain",
}

# The roles that every workspace has, and all they grant. Kept in step at each migrate; nobody changes them in between.
SYSTEM_ROLES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "owner": ("May do everything, and make others owners", ("*",)),
    "admin": (
        "May do everything but make owners",
        (
            "workspace.*", "member.*", "role.*", "inbox.*", "connection.*", "email.*", "thread.*", "agent.*", "approval.*", "webhook.*",
            "event.*", "contact.*", "quarantine.*", "request.*", "audit.*",
        ),
    ),
    "manager": (
        "Runs the daily work: inboxes, agents, people's questions, the emergency stop",
        (
            "workspace.read", "workspace.stop", "workspace.resume", "member.read", "role.read", "inbox.read", "inbox.manage",
            "email.read", "email.draft", "email.send", "thread.read", "thread.manage", "agent.read", "agent.manage",
            "approval.read", "approval.decide", "contact.read", "contact.manage", "quarantine.manage", "webhook.read",
            "event.read",
        ),
    ),
    "agent": (
        "Answers customers and decides what agents ask",
        (
            "workspace.read", "workspace.stop", "inbox.read", "email.read", "email.draft", "email.send", "thread.read",
            "thread.manage", "agent.read", "approval.read", "approval.decide", "contact.read",
        ),
    ),
    "analyst": (
        "Reads conversations, runs and figures, and changes nothing",
        ("workspace.read", "inbox.read", "email.read", "thread.read", "agent.read", "approval.read", "contact.read"),
    ),
    "developer": (
        "Connects other systems: webhooks, events, mail through the API",
        (
            "workspace.read", "inbox.read", "email.read", "email.create", "thread.read", "agent.read", "webhook.read",
            "webhook.manage", "event.read", "request.read",
        ),
    ),
    "auditor": (
        "Sees who did what, and who may do what",
        ("workspace.read", "member.read", "role.read", "inbox.read", "agent.read", "approval.read", "webhook.read",
         "event.read", "request.read", "audit.read"),
    ),
}  # fmt: skip


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
