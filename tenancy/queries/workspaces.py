"""Finding workspaces."""

from uuid import UUID

from kernel.transactions import in_all_workspaces
from tenancy.models import VerifiedDomain, Workspace
from tenancy.types import DomainState


def owner_of_domain(domain: str) -> UUID | None:
    """The workspace that has proven a mail domain."""
    with in_all_workspaces("a recipient's domain picks the workspace"):
        return (
            VerifiedDomain.objects.filter(domain=domain, state=DomainState.VERIFIED)
            .values_list("workspace_id", flat=True)
            .first()
        )


def current(workspace_id: UUID) -> Workspace:
    """The workspace row itself."""
    with in_all_workspaces("read by id for display"):
        return Workspace.objects.get(id=workspace_id)
