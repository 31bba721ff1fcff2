"""The sidebar: groups of pages, each shown to those whose roles allow it, with what waits there."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from config.console import counts
from kernel.admin.place import Place

INSTALLATION = "installation"


@dataclass(frozen=True)
class Item:
    title: str
    icon: str
    page: str
    needs: str
    counted: str = ""


GROUPS: tuple[tuple[str, tuple[Item, ...]], ...] = (
    (
        "",
        (
            Item("Home", "home", "index", "workspace.read"),
            Item("Conversations", "forum", "inbox_thread_changelist", "thread.read", "unanswered"),
            Item("Approvals", "fact_check", "approvals", "approval.read", "approvals"),
        ),
    ),
    (
        "Desk",
        (
            Item("Labels", "label", "tickets_tag_changelist", "thread.read"),
            Item("Canned answers", "quickreply", "tickets_cannedanswer_changelist", "thread.read"),
            Item("Saved views", "bookmark", "tickets_savedview_changelist", "thread.read"),
        ),
    ),
    (
        "Agents",
        (
            Item("Runs", "neurology", "agents_agentrun_changelist", "agent.read"),
            Item("Agents", "smart_toy", "agents_agent_changelist", "agent.read"),
            Item("Knowledge", "menu_book", "agents_knowledgesource_changelist", "agent.read"),
        ),
    ),
    (
        "Mail",
        (
            Item("Inboxes", "inbox", "inbox_inbox_changelist", "inbox.read"),
            Item("Received", "mail", "inbox_email_changelist", "email.read", "failed"),
            Item("Attachments", "attach_file", "inbox_attachment_changelist", "thread.read"),
            Item("Outgoing", "outgoing_mail", "inbox_outboundmessage_changelist", "email.read", "unsent"),
            Item("Quarantine", "shield", "inbox_inboundmessage_changelist", "quarantine.manage", "quarantined"),
            Item("Loops", "sync_disabled", "inbox_circuitbreaker_changelist", "inbox.read", "loops"),
            Item("Contacts", "contacts", "contacts_contactprofile_changelist", "contact.read"),
            Item("Suppressed", "do_not_disturb_on", "contacts_suppressionentry_changelist", "contact.read"),
        ),
    ),
    (
        "Integrations",
        (
            Item("Webhooks", "webhook", "webhooks_webhook_changelist", "webhook.read", "webhooks"),
            Item("Deliveries", "local_shipping", "webhooks_webhookdelivery_changelist", "webhook.read"),
            Item("Events", "bolt", "webhooks_systemevent_changelist", "event.read"),
            Item("Callbacks", "call_received", "webhooks_providerevent_changelist", "event.read"),
            Item("Connections", "cable", "inbox_connection_changelist", "connection.read", "connections"),
            Item("API requests", "api", "audit_apirequest_changelist", "request.read"),
        ),
    ),
    (
        "Credentials",
        (
            Item("Machine keys", "key", "tenancy_machinekey_changelist", "workspace.manage"),
            Item("Client certificates", "badge", "tenancy_clientcertificate_changelist", "workspace.manage"),
            Item("Revoked tokens", "token", "tenancy_revokedtoken_changelist", "workspace.manage"),
            Item("Revoked certificates", "block", "tenancy_revokedclientcert_changelist", "workspace.manage"),
        ),
    ),
    (
        "Workspace",
        (
            Item("Members", "group", "tenancy_membership_changelist", "member.read"),
            Item("Roles", "admin_panel_settings", "tenancy_role_changelist", "role.read"),
            Item("Teams", "groups", "tenancy_team_changelist", "member.read"),
            Item("Settings", "tune", "workspace_settings", "workspace.manage"),
            Item("Invitations", "group_add", "tenancy_invitation_changelist", "member.read"),
            Item("Domains", "language", "tenancy_verifieddomain_changelist", "workspace.manage"),
            Item("Audit trail", "policy", "audit_auditevent_changelist", "audit.read"),
            Item("Outbox", "outbox", "kernel_outboxevent_changelist", "workspace.manage", "parked"),
        ),
    ),
    (
        "Installation",
        (
            Item("Workspaces", "domain", "tenancy_workspace_changelist", INSTALLATION),
            Item("People", "manage_accounts", "tenancy_user_changelist", INSTALLATION),
            Item("Sign-ins", "login", "tenancy_loginevent_changelist", INSTALLATION),
            Item("Revoked signing keys", "key_off", "tenancy_revokedsigningkey_changelist", INSTALLATION),
        ),
    ),
)


def visible(place: Place) -> list[tuple[str, list[Item]]]:
    """The pages that a person may open."""
    found = []
    for title, items in GROUPS:
        allowed = [item for item in items if _may_open(place, item)]
        if allowed:
            found.append((title, allowed))
    return found


def _may_open(place: Place, item: Item) -> bool:
    return place.acts_as_operator if item.needs == INSTALLATION else place.allows(item.needs)


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """Unfold's navigation, with counts of what waits."""
    place = getattr(request, "place", None)
    if not isinstance(place, Place):
        return []
    waiting = counts.waiting(request)
    return [
        {"title": title or None, "items": [_entry(request, item, waiting) for item in items]}
        for title, items in visible(place)
    ]


def _entry(request: HttpRequest, item: Item, waiting: dict[str, int]) -> dict[str, Any]:
    link = reverse(f"admin:{item.page}")
    active = request.path == link if item.page == "index" else request.path.startswith(link)
    count = waiting.get(item.counted, 0)
    entry: dict[str, Any] = {"title": item.title, "icon": item.icon, "link": link, "active": active}
    if count:
        entry["badge"] = _Badge(counts.shown(count))
        entry["badge_variant"] = "primary" if item.counted == "unanswered" else "warning"
    return entry


class _Badge:
    """A finished text. Unfold takes a `str` for the name of a callback and would import it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text
