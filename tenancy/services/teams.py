"""Teams: who looks after which inboxes."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from audit.services import record
from kernel import outbox
from kernel.errors import Conflict, Invalid, NotFound
from kernel.transactions import in_workspace, unit_of_work
from tenancy.events import TeamChanged, TeamCreated, TeamDeleted, TeamEvent
from tenancy.models import Membership, Team, TeamInbox, TeamMember
from tenancy.queries import roles as queries

_CHANGEABLE = frozenset({"name", "membership_ids", "inbox_ids"})
_MOST = 500


class TeamNameTaken(Conflict):
    code = "team_name_taken"


def create(
    *, workspace_id: UUID, name: str, membership_ids: Sequence[UUID] = (), inbox_ids: Sequence[UUID] = ()
) -> Team:
    """Make a team. Invalid names the member or the inbox that the workspace does not have."""
    with in_workspace(workspace_id):
        row = Team(workspace_id=workspace_id, name=_named(name))
        _save(row, is_new=True)
        _set_members(row, membership_ids)
        _set_inboxes(row, inbox_ids)
        _tell(row, TeamCreated, "team.create")
        return queries.team(row.id)


def change(*, workspace_id: UUID, team_id: UUID, changes: Mapping[str, Any]) -> Team:
    """Change the name; members and inboxes are replaced by those that are named."""
    unknown = sorted(set(changes) - _CHANGEABLE)
    if unknown:
        raise Invalid(f"These cannot be changed: {', '.join(unknown)}.", pointer=f"/{unknown[0]}")
    with in_workspace(workspace_id):
        row = _locked(team_id)
        if "name" in changes:
            row.name = _named(changes["name"])
            _save(row, is_new=False)
        if "membership_ids" in changes:
            _set_members(row, changes["membership_ids"])
        if "inbox_ids" in changes:
            _set_inboxes(row, changes["inbox_ids"])
        _tell(row, TeamChanged, "team.change", changed=sorted(changes))
        return queries.team(row.id)


def delete(*, workspace_id: UUID, team_id: UUID) -> None:
    """Delete a team. Its members stay, and so do its inboxes."""
    with in_workspace(workspace_id):
        row = _locked(team_id)
        _tell(row, TeamDeleted, "team.delete")
        row.delete()


def _named(name: str) -> str:
    words = " ".join(name.split())
    if not 0 < len(words) <= 60:
        raise Invalid("A name has 1 to 60 characters.", pointer="/name")
    return words


def _locked(team_id: UUID) -> Team:
    row = Team.objects.select_for_update().filter(id=team_id).first()
    if row is None:
        raise NotFound
    return row


def _save(row: Team, *, is_new: bool) -> None:
    try:
        with unit_of_work():
            if is_new:
                row.save(force_insert=True)
            else:
                row.save(update_fields=["name"])
    except IntegrityError as error:
        raise TeamNameTaken("Another team has this name. Choose another one.") from error


def _set_members(row: Team, wanted: Sequence[UUID]) -> None:
    ids = _few(wanted, "/membership_ids")
    if Membership.objects.filter(id__in=ids).count() != len(ids):
        raise Invalid("No member of this workspace has one of these ids.", pointer="/membership_ids")
    TeamMember.objects.filter(team=row).exclude(membership_id__in=ids).delete()
    TeamMember.objects.bulk_create(
        [TeamMember(workspace_id=row.workspace_id, team=row, membership_id=one) for one in ids], ignore_conflicts=True
    )


def _set_inboxes(row: Team, wanted: Sequence[UUID]) -> None:
    """The database knows the inboxes; this app lies below theirs."""
    ids = _few(wanted, "/inbox_ids")
    try:
        with unit_of_work():
            TeamInbox.objects.filter(team=row).exclude(inbox_id__in=ids).delete()
            TeamInbox.objects.bulk_create(
                [TeamInbox(workspace_id=row.workspace_id, team=row, inbox_id=one) for one in ids], ignore_conflicts=True
            )
    except IntegrityError as error:
        raise Invalid("No inbox of this workspace has one of these ids.", pointer="/inbox_ids") from error


def _few(wanted: Sequence[UUID], pointer: str) -> list[UUID]:
    ids = list(dict.fromkeys(wanted))
    if len(ids) > _MOST:
        raise Invalid(f"At most {_MOST}.", pointer=pointer)
    return ids


def _tell(row: Team, event: type[TeamEvent], action: str, **payload: Any) -> None:
    outbox.emit(event(workspace_id=row.workspace_id, team_id=row.id))
    record(
        workspace_id=row.workspace_id,
        action=action,
        resource_kind="team",
        resource_id=row.id,
        payload={"name": row.name, **payload},
    )
