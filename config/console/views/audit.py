"""The audit trail: verify it now, take it out as a file, empty the details of an event."""

from typing import cast
from uuid import UUID

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from audit import exporting, queries, services
from audit.models import AuditEvent
from audit.types import Format
from config.console.pages import action, needs
from kernel.admin.place import place_of
from kernel.api.downloads import download
from kernel.errors import Conflict, NotFound


@action("audit.read")
def verify(request: HttpRequest) -> str:
    """Recompute the chain, or with all workspaces in sight every chain, and compare it with its anchors."""
    place = place_of(request)
    outside = queries.outside_anchors(settings.ANCHOR_DIRECTORY, bucket=settings.ANCHOR_S3)
    owners = [place.workspace_id] if place.workspace_id else queries.chain_owners(outside=outside)
    verdicts = [queries.verify(owner, outside=outside) for owner in owners]
    broken = [verdict for verdict in verdicts if not verdict.holds]
    if broken:
        told = "; ".join(
            f"{verdict.workspace_id} at link {verdict.first_bad}: {verdict.fault}" for verdict in broken[:5]
        )
        raise Conflict(f"The chain is broken. {told}.")
    chains = f"{len(verdicts)} chains hold" if len(verdicts) != 1 else "The chain holds"
    return f"{chains}: {sum(verdict.checked for verdict in verdicts)} links were recomputed and compared with their anchors."


@needs("audit.export")
def export(request: HttpRequest) -> HttpResponse:
    """The rows of the list as it is narrowed, as a file. That they were taken out is recorded."""
    workspace_id, query = place_of(request).workspace_id, request.GET.copy()
    form = (query.pop("form", None) or [""])[0]
    request.GET = query  # type: ignore[assignment] # the list reads its filters there
    if workspace_id is None or form not in set(Format):
        raise NotFound("Choose one workspace: each has a trail of its own.")
    listed = admin.site.get_model_admin(AuditEvent).get_changelist_instance(request)
    narrowed = sorted(set(request.GET) - {"p", "o", "e"})
    chosen = Format(form)
    chunks = exporting.export(
        workspace_id=workspace_id, rows=listed.get_queryset(request), form=chosen, narrowed=narrowed
    )
    return cast("HttpResponse", download(chunks, f"audit.{chosen}", chosen.media_type))


@action("audit.redact")
def redact(request: HttpRequest, event_id: UUID) -> str:
    """Empty the details of one event."""
    event = AuditEvent.objects.filter(id=event_id).first()
    if event is None:
        raise NotFound
    services.redact(workspace_id=event.workspace_id, event_id=event.id, reason=request.POST.get("reason", ""))
    return "The details are gone. The chain keeps their hash, and says who emptied them and why."
