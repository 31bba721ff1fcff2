"""Contacts: people as this workspace knows them, and addresses that it does not write to."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest

from contacts.models import ContactIdentifier, ContactProfile, IdentifierSighting, SuppressionEntry
from contacts.services import suppressing
from kernel import clock
from kernel.admin import columns
from kernel.admin.base import ReadOnlyAdmin
from kernel.admin.deeds import deed
from kernel.admin.filters import Views


@admin.register(ContactProfile)
class ContactProfileAdmin(ReadOnlyAdmin):
    """One workspace's view of a person. Identifiers that only others have seen are not shown (X-3)."""

    view_needs = "contact.read"
    list_display = (
        columns.two_lines("display_name", "label", "person"),
        "addresses",
        columns.text("source", "came by"),
        columns.when("first_seen_at", "first seen"),
        columns.when("last_seen_at", "last seen"),
    )
    list_filter = ("source",)
    fields: Any = (
        "display_name", "label", "addresses", "source", "attributes", "first_seen_at", "last_seen_at", "unsubscribed_at",
    )  # fmt: skip
    readonly_fields = ("label", "addresses")
    search_fields = ("display_name",)
    search_help_text = "Name or address"
    ordering = ("-last_seen_at", "-id")
    empty_icon = "contacts"
    empty_title = "Nobody yet"
    empty_text = "Whoever writes to one of your inboxes becomes a contact."

    def get_queryset(self, request: HttpRequest) -> QuerySet[ContactProfile]:
        rows = super().get_queryset(request).select_related("contact")
        return rows.prefetch_related("contact__identifiers__sightings")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """By name, or by an address that this workspace itself has seen."""
        for word in search_term.split()[:5]:
            seen = IdentifierSighting.objects.filter(
                workspace_id=OuterRef("workspace_id"),
                identifier__contact=OuterRef("contact"),
                identifier__value__icontains=word,
            )
            queryset = queryset.filter(Q(display_name__icontains=word) | Exists(seen))
        return queryset, False

    @admin.display(description="label")
    def label(self, row: ContactProfile) -> str:
        return f"C-{row.label_no}"

    @admin.display(description="addresses")
    def addresses(self, row: ContactProfile) -> str:
        """Row-level security shows the sightings of this workspace only."""
        return ", ".join(i.value for i in row.contact.identifiers.all() if self._is_seen(row, i)) or "–"

    def _is_seen(self, row: ContactProfile, identifier: ContactIdentifier) -> bool:
        return any(sighting.workspace_id == row.workspace_id for sighting in identifier.sightings.all())


class SuppressionViews(Views):
    """By whether mail is held back now."""

    views: ClassVar[dict[str, tuple[str, Q]]] = {
        "now": ("Suppressed", Q(lifted_at=None)),
        "lifted": ("Allowed again", Q(lifted_at__isnull=False)),
        "all": ("All", Q()),
    }


@admin.register(SuppressionEntry)
class SuppressionEntryAdmin(ReadOnlyAdmin):
    """Addresses that mail came back from for good, or whose owner complained. The sender leaves them out."""

    view_needs = "contact.read"
    act_needs = "contact.manage"
    list_display = (
        columns.two_lines("value", "detail", "address"),
        columns.state("reason", "because of"),
        "times",
        "in_force",
        columns.when("last_at", "last time"),
        columns.when("expires_at", "until"),
        columns.text("lifted_by", "allowed by"),
    )
    list_filter = (SuppressionViews, "reason")
    search_fields = ("value__icontains",)
    search_help_text = "Address"
    ordering = ("-last_at", "-id")
    actions: ClassVar[Any] = ["lift"]
    empty_icon = "do_not_disturb_on"
    empty_title = "No address is suppressed"
    empty_text = (
        "An address that does not exist, or whose owner reports mail as spam, appears here and gets no more mail."
    )

    @admin.display(description="held back", boolean=True)
    def in_force(self, row: SuppressionEntry) -> bool:
        return row.lifted_at is None and (row.expires_at is None or row.expires_at > clock.now())

    @deed("Allow mail again", icon="mark_email_read")
    def lift(self, request: HttpRequest, queryset: QuerySet[SuppressionEntry]) -> None:
        """Each by itself: one that is refused does not hold back the others."""
        rows = list(queryset.values_list("id", "workspace_id"))
        for row_id, workspace_id in rows:
            self.serve(
                request,
                lambda r=row_id, w=workspace_id: suppressing.lift(workspace_id=w, suppression_id=r),
                done="" if len(rows) > 1 else "Mail to this address is sent again.",
            )
