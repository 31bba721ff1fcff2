"""Workspace-owned rows: the base model, and managers that fail without a scope.

What this protects, and what it does not: `objects` refuses to run outside a scope and filters inside one. Related
access, the admin and raw SQL go through the plain default manager; beneath all of them the database's row-level
security shows only the rows of `app.workspace_id`, and paired keys keep references inside the workspace.
"""

import uuid
from typing import Any, ClassVar, Self, TypeVar

from django.db import models
from django.db.models.functions import Now

from kernel import context

M = TypeVar("M", bound=models.Model)


class NoWorkspaceScope(RuntimeError):
    """A workspace-owned model was queried outside a scope."""


class WorkspaceManager(models.Manager[M]):
    """Rows of the current scope; raises NoWorkspaceScope where there is none."""

    def get_queryset(self) -> models.QuerySet[M]:
        scope = context.scope.get()
        if scope is None:
            raise NoWorkspaceScope(
                f"{self.model.__name__} belongs to a workspace. Wrap the call in kernel.transactions.in_workspace(id)."
            )
        rows = super().get_queryset()
        if scope.is_all:
            return rows
        rows = rows.filter(workspace_id=scope.workspace_id)
        path = getattr(self.model, "inbox_path", "")
        return rows.filter(**{f"{path}__in": scope.inbox_ids}) if path and scope.inbox_ids is not None else rows


class LiveManager(WorkspaceManager[M]):
    """Rows of the current scope that are not soft-deleted (S0-27)."""

    def get_queryset(self) -> models.QuerySet[M]:
        return super().get_queryset().filter(deleted_at=None)


class WorkspaceOwned(models.Model):
    """A row of exactly one workspace. Its table is fenced by `kernel.db.fence` in the migration that makes it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey("tenancy.Workspace", models.PROTECT, related_name="+", db_index=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now(), editable=False)

    # The column that says which inbox a row belongs to, where it has one: members may be narrowed to some inboxes.
    inbox_path: ClassVar[str] = ""

    # Django's internals, the admin and related access need an unfiltered manager; row-level security is beneath it.
    unfenced: ClassVar[models.Manager[Any]] = models.Manager()
    objects: ClassVar[WorkspaceManager[Self]] = WorkspaceManager()

    class Meta:
        abstract = True
        default_manager_name = "unfenced"
        base_manager_name = "unfenced"


class SoftDeletable(WorkspaceOwned):
    """A resource that is deleted by a mark and can be restored. Unique rules cover marked rows too (S0-28)."""

    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects: ClassVar[LiveManager[Self]] = LiveManager()
    with_deleted: ClassVar[WorkspaceManager[Self]] = WorkspaceManager()

    class Meta(WorkspaceOwned.Meta):
        abstract = True


class SystemKept(models.Model):
    """The two free-form fields of the public resources (S0-24, S0-25)."""

    metadata = models.JSONField(default=dict, blank=True, help_text="Set by the system only.")
    custom_metadata = models.JSONField(default=dict, blank=True, help_text="Yours; the system never looks inside.")

    class Meta:
        abstract = True
