"""Webhooks: who is told about what."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminTextareaWidget

from kernel.admin import columns, marks
from kernel.admin.base import ServiceAdmin
from kernel.admin.deeds import deed
from kernel.admin.filters import Deleted, Views
from kernel.admin.forms import ServiceForm
from webhooks.models import Webhook
from webhooks.queries import catalogue
from webhooks.services import subscribing

CHANGED = ("label", "url", "slugs", "headers", "ordered", "rate_per_second")


class WebhookViews(Views):
    """By health."""

    views: ClassVar[dict[str, tuple[str, Q]]] = {
        "all": ("All", Q()),
        "failing": ("Failing", Q(failing_since__isnull=False) | ~Q(disabled_reason="")),
        "active": ("Active", Q(state="active")),
        "disabled": ("Disabled", Q(state="disabled")),
    }


class WebhookForm(ServiceForm):
    """Slugs one a line; the service knows which exist."""

    slugs = forms.CharField(
        label="Events",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 5}),
        help_text="One a line, such as email.received; email.* and * stand for sets.",
    )

    class Meta:
        model = Webhook
        fields = CHANGED

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance._state.adding:  # noqa: SLF001 - Django's own way to ask
            self.initial["slugs"] = "\n".join(self.instance.slugs)
        known = ", ".join(sorted(catalogue.public_events()))
        if "slugs" in self.fields:
            self.fields["slugs"].help_text += f" Known: {known}."

    def clean_slugs(self) -> list[str]:
        return str(self.cleaned_data["slugs"]).replace(",", " ").split()

    def clean_headers(self) -> dict[str, str]:
        return self.cleaned_data.get("headers") or {}


@admin.register(Webhook)
class WebhookAdmin(ServiceAdmin):
    """Endpoints and their health."""

    view_needs = "webhook.read"
    add_needs = change_needs = act_needs = "webhook.manage"
    form = WebhookForm
    fields = CHANGED
    list_display = (
        columns.two_lines("label", "url", "endpoint"),
        "health",
        "events",
        columns.text("disabled_reason", "why disabled", limit=50),
        columns.when("created_at", "made"),
    )
    list_filter = (WebhookViews, Deleted)
    search_fields = ("label", "url")
    ordering = ("-created_at", "-id")
    actions: ClassVar[Any] = ["enable", "disable", "remove", "restore"]
    empty_icon = "webhook"
    empty_title = "No webhooks here"
    empty_text = "A webhook tells a system of yours about events as they happen, signed, and tries again for days."

    @admin.display(description="health")
    def health(self, row: Webhook) -> SafeString:
        if row.state == "disabled":
            return marks.chip("disabled")
        return marks.chip("failing", tone="bad") if row.failing_since else marks.chip("healthy", tone="ok")

    @admin.display(description="events")
    def events(self, row: Webhook) -> str:
        return ", ".join(row.slugs[:3]) + (f" and {len(row.slugs) - 3} more" if len(row.slugs) > 3 else "")

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> Webhook:
        if obj is not None:
            return subscribing.update(workspace_id=workspace_id, webhook_id=obj.pk, changes=values)
        webhook, secret = subscribing.create(workspace_id=workspace_id, **values)
        request._webhook_secret = secret  # type: ignore[attr-defined]  # noqa: SLF001 - for this answer only
        return webhook

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
        return self.show_once(
            request,
            title=f"The secret of {obj}",
            secret=getattr(request, "_webhook_secret", ""),
            hint="Your endpoint checks the signature of each request with it (Standard Webhooks).",
            target=reverse("admin:webhooks_webhook_change", args=[obj.pk]),
        )

    @deed("Enable, and replay what they missed")
    def enable(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.serve(request, lambda r=row: subscribing.enable(workspace_id=r.workspace_id, webhook_id=r.id))

    @deed("Disable")
    def disable(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.serve(request, lambda r=row: subscribing.disable(workspace_id=r.workspace_id, webhook_id=r.id))

    @deed("Delete")
    def remove(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.serve(request, lambda r=row: subscribing.delete(workspace_id=r.workspace_id, webhook_id=r.id))

    @deed("Restore")
    def restore(self, request: HttpRequest, queryset: Any) -> None:
        """For rows of the filter "Deleted only". What comes back is disabled until somebody enables it."""
        for row in queryset:
            self.serve(request, lambda r=row: subscribing.restore(workspace_id=r.workspace_id, webhook_id=r.id))
