"""Tell the people of a workspace by mail what needs one of them, when nobody may be looking at the console."""

from datetime import timedelta
from uuid import UUID

from kernel import clock
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy import permissions
from tenancy.models import Membership, Notice
from tenancy.services import mailing
from tenancy.types import MembershipStatus

_KEPT = timedelta(days=30)


def tell(*, workspace_id: UUID, permission: str, subject: str, text: str, path: str) -> int:
    """A letter to every active member who has `permission`, in the unit of work of its cause; how many.

    `path` is the page of the console where it is seen to. Where no mail to staff is configured, nobody is told.
    """
    if not mailing.is_configured():
        return 0
    with in_workspace(workspace_id):
        notices = [
            Notice(workspace_id=workspace_id, membership=member, subject=subject[:200], text=text, path=path)
            for member in _able(permission)
        ]
        for notice in notices:
            mailing.mark(notice)
        Notice.objects.bulk_create(notices)
    return len(notices)


def prune() -> int:
    """Delete what was told long ago."""
    with in_all_workspaces("retention of letters"):
        return Notice.objects.filter(created_at__lt=clock.now() - _KEPT).delete()[0]


def _able(permission: str) -> list[Membership]:
    rows = Membership.objects.filter(status=MembershipStatus.ACTIVE, user__is_active=True)
    rows = rows.prefetch_related("role_links__role__grants")
    return [row for row in rows if permissions.covers(frozenset(_held(row)), permission)]


def _held(member: Membership) -> set[str]:
    return {grant.permission for link in member.role_links.all() for grant in link.role.grants.all()}
