"""The audit trail: read, filter, verify."""

from datetime import timedelta
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import OuterRef, Subquery, Sum
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from audit import queries
from audit.models import ApiRequest, AuditAnchor, AuditChain, AuditEvent, AuditPayload
from kernel import clock
from kernel.admin import columns, marks
from kernel.admin.base import ReadOnlyAdmin
from kernel.admin.place import place_of


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    """Who tried what, on what, with which outcome. Nothing here can be changed, by anybody."""

    view_needs = act_needs = "audit.read"
    list_display = (
        columns.text("sequence", "#"),
        columns.two_lines("actor_label", "actor_kind", "who"),
        columns.text("action", "did what", mono=True),
        columns.two_lines("resource_kind", "resource_id", "on what"),
        columns.state("outcome"),
        columns.when("occurred_at", "when"),
    )
    list_filter = ("outcome", "actor_kind", "resource_kind")
    search_fields = ("action__startswith", "resource_id__exact", "actor_id__exact", "actor_label", "request_id__exact")
    search_help_text = "Action, actor, resource id or request id"
    ordering = ("-sequence",)
    list_before_template = "console/parts/audit.html"
    change_form_outer_after_template = "console/parts/redact.html"
    fields = (
        "sequence", "action", "outcome", "actor", "resource", "payload", "request_id", "execution_id", "occurred_at",
        "states", "chain_hash",
    )  # fmt: skip
    readonly_fields = fields
    empty_icon = "policy"
    empty_title = "Nothing is recorded here"
    empty_text = "Each change is recorded with who made it, and each thing that an agent was not allowed to do."

    def get_list_filter(self, request: HttpRequest) -> Any:
        """Distinct values of a long table are not listed; the words are few and known."""
        return (_Known("outcome", ("done", "denied", "failed")), _Known("actor_kind", _ACTORS), _Kind, _Since)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """With how the chain stands, for the panel above the list."""
        return super().changelist_view(request, (extra_context or {}) | {"chain": self._chain(request)})

    def _chain(self, request: HttpRequest) -> dict[str, Any]:
        place = place_of(request)
        mine = {"workspace_id": place.workspace_id} if place.workspace_id else {}
        links = AuditChain.objects.filter(**mine).aggregate(found=Sum("sequence"))["found"] or 0
        newest = AuditAnchor.objects.filter(workspace_id=OuterRef("workspace_id")).order_by("-sequence")
        anchored = AuditChain.objects.filter(**mine).annotate(to=Subquery(newest.values("sequence")[:1]))
        known = anchored.aggregate(found=Sum("to"))["found"] or 0
        return {
            "links": links,
            "anchor": AuditAnchor.objects.filter(**mine).order_by("-at").first(),
            "behind": links - known,
            "may_export": place.workspace_id is not None and place.allows("audit.export"),
        }

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """With the form that empties the details, for those who may and while there are any."""
        details = AuditPayload.objects.filter(event_id=object_id, redacted_at=None).exclude(payload={})
        may = place_of(request).allows("audit.redact") and details.exists()
        return super().change_view(request, object_id, form_url, (extra_context or {}) | {"may_redact": may})

    @admin.display(description="who")
    def actor(self, row: AuditEvent) -> str:
        return f"{row.actor_label or '–'} ({row.actor_kind} {row.actor_id})".replace(" )", ")")

    @admin.display(description="on what")
    def resource(self, row: AuditEvent) -> str:
        return f"{row.resource_kind} {row.resource_id}"

    @admin.display(description="details")
    def payload(self, row: AuditEvent) -> SafeString:
        details = AuditPayload.objects.filter(event_id=row.id, workspace_id=row.workspace_id).first()
        if details is None or details.redacted_at:
            return marks.chip("redacted", tone="mute")
        pairs = [format_html("<dt>{}</dt><dd>{}</dd>", key, value) for key, value in details.payload.items()]
        return format_html('<dl class="c-kv">{}</dl>', SafeString("".join(pairs))) if pairs else SafeString("–")

    @admin.display(description="state before → after")
    def states(self, row: AuditEvent) -> SafeString:
        shown = [bytes(found).hex()[:16] if found else "–" for found in (row.before_hash, row.after_hash)]
        return format_html("<code>{}</code> → <code>{}</code>", *shown)

    @admin.display(description="hash")
    def chain_hash(self, row: AuditEvent) -> SafeString:
        head = AuditChain.objects.filter(workspace_id=row.workspace_id).values_list("sequence", flat=True).first()
        return format_html("<code>{}</code> · link {} of {}", bytes(row.hash).hex(), row.sequence, head or 0)


@admin.register(ApiRequest)
class ApiRequestAdmin(ReadOnlyAdmin):
    """What programs have asked of the API, and how it was answered."""

    view_needs = "request.read"
    list_display = (
        columns.two_lines("caller", "request_id", "who"),
        columns.text("method"),
        columns.text("path", "route", mono=True),
        columns.text("status"),
        columns.text("code", mono=True),
        columns.text("duration_ms", "ms"),
        columns.when("created_at", "when"),
    )
    search_fields = ("request_id__exact", "path__startswith", "code__exact", "caller")
    search_help_text = "Request id, route, code of a problem, or caller"
    ordering = ("-created_at", "-id")
    fields = ("request_id", "caller", "method", "path", "status", "code", "duration_ms", "created_at")
    readonly_fields = fields
    empty_icon = "api"
    empty_title = "Nobody has called the API yet"
    empty_text = "Make a machine key under Integrations; each request of a program then has a line here."

    def get_list_filter(self, request: HttpRequest) -> Any:
        """By method and by kind of answer, without asking the table what there is."""
        return (_Known("method", ("GET", "POST", "PATCH", "DELETE")), _Answered)


class _Answered(admin.SimpleListFilter):
    """Done, refused, or failed by us."""

    title = "answer"
    parameter_name = "answer"
    _RANGES: ClassVar[dict[str, tuple[int, int]]] = {"done": (100, 399), "refused": (400, 499), "failed": (500, 599)}

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(word, word) for word in self._RANGES]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        found = self._RANGES.get(self.value() or "")
        return queryset.filter(status__range=found) if found else queryset


class _Kind(admin.SimpleListFilter):
    """On what; the kinds that the trail follows, by their names."""

    title = "on what"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind, marks.words(kind)) for kind in queries.kinds()]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return queryset.filter(resource_kind=self.value()) if self.value() in queries.kinds() else queryset


class _Since(admin.SimpleListFilter):
    """Of the last day, week or month."""

    title = "when"
    parameter_name = "since"
    _DAYS: ClassVar[dict[str, int]] = {"day": 1, "week": 7, "month": 30}

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(word, f"last {word}") for word in self._DAYS]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        days = self._DAYS.get(self.value() or "")
        return queryset.filter(occurred_at__gte=clock.now() - timedelta(days=days)) if days else queryset


_ACTORS = ("user", "agent", "machine_key", "token", "operator", "system")


def _Known(name: str, words: tuple[str, ...]) -> type[admin.SimpleListFilter]:  # noqa: N802 - it makes a class
    """A filter over words that are known beforehand."""

    class Known(admin.SimpleListFilter):
        title = name.replace("_", " ")
        parameter_name = name

        def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
            return [(word, marks.words(word)) for word in words]

        def queryset(self, request: HttpRequest, queryset: Any) -> Any:
            return queryset.filter(**{name: self.value()}) if self.value() in words else queryset

    return Known
