"""Saved views: made, changed and deleted. Their counts are the database's."""

from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from audit.services import record
from inbox.queries import desk
from kernel import outbox
from kernel.errors import Conflict, Invalid, NotFound
from kernel.transactions import in_all_workspaces, in_workspace
from tickets.events import ViewChanged
from tickets.models import SavedView, Tag
from tickets.normalise import BadFilter, view_filter
from tickets.services.tagging import NameTaken
from tickets.types import ViewOrder

MOST_VIEWS = 100


def create(
    *,
    workspace_id: UUID,
    name: str,
    filter: dict[str, Any],  # noqa: A002 - the word of the API
    sort: str = ViewOrder.NEWEST,
    owner_id: UUID | None = None,
) -> SavedView:
    """A new view, everybody's unless it has an owner."""
    with in_workspace(workspace_id):
        if SavedView.objects.count() >= MOST_VIEWS:
            raise Conflict(f"A workspace has {MOST_VIEWS} views at most. Delete one that nobody uses.")
        view = _saved(
            SavedView(workspace_id=workspace_id, name=_name(name), filter=_filter(filter), sort=sort, owner_id=owner_id)
        )
        _tell(view, "view.create")
    return view


def change(*, workspace_id: UUID, view_id: UUID, changes: dict[str, Any], owner_id: UUID | None = None) -> SavedView:
    """Another name, filter or order. `owner_id`: only one's own view (None: everybody's) is found."""
    with in_workspace(workspace_id):
        view = _locked(view_id, owner_id)
        if "name" in changes:
            view.name = _name(changes["name"])
        if "filter" in changes:
            view.filter = _filter(changes["filter"])
        view.sort = changes.get("sort", view.sort)
        _saved(view, fields=["name", "filter", "sort"])
        _tell(view, "view.change", changed=sorted(changes))
    return view


def delete(*, workspace_id: UUID, view_id: UUID, owner_id: UUID | None = None) -> None:
    """Away with a view; the conversations stay."""
    with in_workspace(workspace_id):
        view = _locked(view_id, owner_id)
        _tell(view, "view.delete", is_deleted=True, name=view.name)
        view.delete()


def fold_counts() -> int:
    """Put the counters' rows together; how many there were."""
    with in_all_workspaces("the counters of every workspace are folded"), connection.cursor() as cursor:
        cursor.execute("SELECT tickets_fold_counts_v1()")
        return int(cursor.fetchone()[0])


def _locked(view_id: UUID, owner_id: UUID | None) -> SavedView:
    view = SavedView.objects.select_for_update().filter(id=view_id, owner_id=owner_id).first()
    if view is None:
        raise NotFound
    return view


def _name(name: str) -> str:
    clean = " ".join(name.replace("\x00", "").split())
    if not clean or len(clean) > 60:
        raise Invalid("A view has a name of 1 to 60 letters.", pointer="/name")
    return clean


def _filter(given: dict[str, Any]) -> dict[str, Any]:
    try:
        clean = view_filter(given)
    except BadFilter as error:
        raise Invalid(str(error), pointer=f"/filter/{error.word}") from error
    if "tag_id" in clean and not Tag.objects.filter(id=clean["tag_id"]).exists():
        raise Invalid("No label of this workspace has that id.", pointer="/filter/tag_id")
    if "inbox_id" in clean and not desk.has_inbox(UUID(clean["inbox_id"])):
        raise Invalid("No inbox of this workspace has that id.", pointer="/filter/inbox_id")
    return clean


def _saved(view: SavedView, *, fields: list[str] | None = None) -> SavedView:
    try:
        with transaction.atomic():
            view.save(update_fields=fields)
    except IntegrityError as error:
        raise NameTaken("There is a view of that name.", pointer="/name") from error
    return view


def _tell(view: SavedView, action: str, *, is_deleted: bool = False, **payload: Any) -> None:
    outbox.emit(ViewChanged(workspace_id=view.workspace_id, view_id=view.id, is_deleted=is_deleted))
    record(workspace_id=view.workspace_id, action=action, resource_kind="view", resource_id=view.id, payload=payload)
