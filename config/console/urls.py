"""The console's own pages: those that cross apps, and what their buttons call."""

from typing import Any

from django.contrib.admin import AdminSite
from django.urls import URLPattern, path

from config.console.views import (
    approvals,
    audit,
    desk,
    emergency,
    originals,
    quarantine,
    rearranging,
    reparsing,
    runs,
    settings,
    threads,
    webhooks,
    workspaces,
)

# A page that replaces the admin's own keeps its name, so that every list leads to it.
_ROUTES: tuple[tuple[str, Any, str], ...] = (
    ("workspace/", workspaces.choose, "choose_workspace"),
    ("inbox/thread/", desk.threads, "inbox_thread_changelist"),
    ("stop/", emergency.stop, "emergency_stop"),
    ("release/", emergency.release, "emergency_release"),
    ("settings/", settings.shown, "workspace_settings"),
    ("settings/change/", settings.change, "workspace_settings_change"),
    ("inbox/thread/<uuid:thread_id>/change/", threads.conversation, "inbox_thread_change"),
    ("threads/<uuid:thread_id>/reply/", threads.reply, "thread_reply"),
    ("threads/<uuid:thread_id>/note/", threads.note, "thread_note"),
    ("threads/<uuid:thread_id>/rearrange/", rearranging.arrange, "thread_rearrange"),
    ("threads/<uuid:thread_id>/merge/", rearranging.merge, "thread_merge"),
    ("threads/<uuid:thread_id>/split/", rearranging.split, "thread_split"),
    ("threads/<uuid:thread_id>/move/", rearranging.move, "thread_move"),
    ("thread-changes/<uuid:change_id>/undo/", rearranging.undo, "thread_change_undo"),
    ("threads/<uuid:thread_id>/draft/", threads.draft, "thread_draft"),
    ("threads/<uuid:thread_id>/tend/", desk.tend, "thread_tend"),
    ("threads/views/", desk.save_view, "view_save"),
    ("threads/views/<uuid:view_id>/delete/", desk.delete_view, "view_delete"),
    ("outgoing/<uuid:outbound_id>/settle/", threads.settle, "outbound_settle"),
    ("entries/<uuid:entry_id>/html/", originals.html, "entry_html"),
    ("attachments/<uuid:attachment_id>/", originals.attachment, "attachment"),
    ("emails/<uuid:email_id>/source/", originals.source, "email_source"),
    ("emails/<uuid:email_id>/reparse/", reparsing.reparse, "email_reparse"),
    ("messages/<uuid:message_id>/raw/", originals.raw, "message_raw"),
    ("audit/verify/", audit.verify, "audit_verify"),
    ("audit/export/", audit.export, "audit_export"),
    ("audit/<uuid:event_id>/redact/", audit.redact, "audit_redact"),
    ("approvals/", approvals.queue, "approvals"),
    ("approvals/<uuid:approval_id>/approve/", approvals.approve, "approve"),
    ("approvals/<uuid:approval_id>/reject/", approvals.reject, "reject"),
    ("agents/agentrun/<uuid:run_id>/change/", runs.run, "agents_agentrun_change"),
    ("inbox/inboundmessage/<uuid:message_id>/change/", quarantine.message, "inbox_inboundmessage_change"),
    ("messages/<uuid:message_id>/replay/", quarantine.replay, "message_replay"),
    ("webhooks/webhook/<uuid:webhook_id>/change/", webhooks.endpoint, "webhooks_webhook_change"),
    ("webhooks/webhook/<uuid:webhook_id>/edit/", webhooks.edit, "webhook_edit"),
    ("webhooks/webhook/<uuid:webhook_id>/test/", webhooks.test, "webhook_test"),
    ("webhooks/webhook/<uuid:webhook_id>/switch/", webhooks.switch, "webhook_switch"),
    ("webhooks/webhookdelivery/<uuid:delivery_id>/change/", webhooks.delivery, "webhooks_webhookdelivery_change"),
    ("webhooks/webhookdelivery/<uuid:delivery_id>/replay/", webhooks.replay, "webhook_replay"),
    ("webhooks/systemevent/<uuid:event_id>/change/", webhooks.event, "webhooks_systemevent_change"),
)


def patterns(site: AdminSite) -> list[URLPattern]:
    """The routes, each behind the site's door."""
    return [path(route, site.admin_view(view), name=name) for route, view, name in _ROUTES]
