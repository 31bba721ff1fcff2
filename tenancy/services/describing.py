"""What a workspace says about itself, and its end and return: for its members, and for operators."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError

from audit.services import record
from kernel import clock, outbox
from kernel.errors import Invalid, NotFound
from kernel.transactions import in_workspace
from tenancy import settings
from tenancy.events import WorkspaceChanged, WorkspaceDeleted, WorkspaceRestored, WorkspaceUpdated
from tenancy.models import Workspace

_CHANGEABLE = frozenset({"name", "timezone", "custom_metadata"})


def change(*, workspace_id: UUID, changes: Mapping[str, Any]) -> Workspace:
    """Change name, time zone or custom metadata; Invalid names what cannot be."""
    unknown = sorted(set(changes) - _CHANGEABLE)
    if unknown:
        raise Invalid(f"These cannot be changed: {', '.join(unknown)}.", pointer=f"/{unknown[0]}")
    with in_workspace(workspace_id):
        workspace = _locked(workspace_id, is_deleted=False)
        for name, value in changes.items():
            setattr(workspace, name, value)
        try:
            workspace.clean_fields(exclude={field.name for field in Workspace._meta.fields} - set(changes))
        except ValidationError as error:
            name, texts = next(iter(error.message_dict.items()))
            raise Invalid(" ".join(texts), pointer=f"/{name}") from error
        workspace.save(update_fields=sorted(changes))
        _tell(workspace, WorkspaceUpdated, "workspace.change", changed=sorted(changes))
    return workspace


def decide(*, workspace_id: UUID, changes: Mapping[str, bool]) -> Workspace:
    """Change settings of the workspace; they hold at everybody's next request."""
    unknown = sorted(set(changes) - set(settings.KNOWN))
    if unknown:
        raise Invalid(f"These are no settings: {', '.join(unknown)}.", pointer=f"/{unknown[0]}")
    with in_workspace(workspace_id):
        workspace = _locked(workspace_id, is_deleted=False)
        workspace.settings = {**workspace.settings, **changes}
        workspace.settings_version += 1
        workspace.save(update_fields=["settings", "settings_version"])
        _tell(workspace, WorkspaceUpdated, "workspace.decide", **changes)
    return workspace


def delete(*, workspace_id: UUID) -> None:
    """Put a tombstone on a workspace (X-8): its credentials end at the next request, and its mail is kept unread."""
    with in_workspace(workspace_id):
        workspace = _locked(workspace_id, is_deleted=False)
        workspace.deleted_at = clock.now()
        workspace.save(update_fields=["deleted_at"])
        _tell(workspace, WorkspaceDeleted, "workspace.delete")


def restore(*, workspace_id: UUID) -> Workspace:
    """Take the tombstone away (S0-28). Nothing else has to be there for a workspace to be."""
    with in_workspace(workspace_id):
        workspace = _locked(workspace_id, is_deleted=True)
        workspace.deleted_at = None
        workspace.save(update_fields=["deleted_at"])
        _tell(workspace, WorkspaceRestored, "workspace.restore")
    return workspace


def _locked(workspace_id: UUID, *, is_deleted: bool) -> Workspace:
    """Not against the key checks of the rows that are being added meanwhile."""
    rows = Workspace.objects.select_for_update(no_key=True).filter(deleted_at__isnull=not is_deleted)
    workspace = rows.filter(id=workspace_id).first()
    if workspace is None:
        raise NotFound
    return workspace


def _tell(workspace: Workspace, event: type[WorkspaceChanged], action: str, **payload: Any) -> None:
    workspace.refresh_from_db(fields=["updated_at"])
    # The event names the workspace beside its payload, like every other.
    outbox.emit(event(workspace_id=workspace.id, ref=workspace.ref))
    record(
        workspace_id=workspace.id,
        action=action,
        resource_kind="workspace",
        resource_id=workspace.id,
        payload=payload,
    )
