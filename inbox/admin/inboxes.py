"""Inboxes: what they are called, which agent answers, what they do with mail."""

from typing import Any

from django.contrib import admin

from inbox.models import Inbox
from kernel.admin import columns
from kernel.admin.base import ReadOnlyAdmin
from kernel.admin.filters import Deleted


@admin.register(Inbox)
class InboxAdmin(ReadOnlyAdmin):
    """Routable addresses."""

    view_needs = "inbox.read"
    list_display: Any = (
        columns.two_lines("address", "name", "inbox"),
        "active",
        columns.when("created_at", "made"),
    )
    list_filter = ("active", Deleted)
    search_fields = ("address__icontains", "name__icontains")
    ordering = ("-created_at", "-id")
    empty_icon = "inbox"
    empty_title = "No inboxes"
    empty_text = "An inbox is an address that receives mail, with a policy and an agent."
