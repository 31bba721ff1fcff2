"""Open and change inboxes."""

from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, connection, transaction

from audit.services import record
from inbox import normalise
from inbox import policy as policies
from inbox.models import Inbox
from kernel.errors import Conflict, Invalid, NotFound
from kernel.transactions import in_workspace
from tenancy.queries import workspaces

_FREE = ("name", "custom_metadata")


class AddressTaken(Conflict):
    """Neutral on purpose: it does not say whether the address is ours, deleted, or another workspace's (X-4)."""

    code = "address_not_available"


def open_inbox(
    *,
    workspace_id: UUID,
    address: str,
    name: str = "",
    external_id: UUID | None = None,
    agent_id: UUID | None = None,
    policy: dict[str, Any] | None = None,
    custom_metadata: dict[str, Any] | None = None,
) -> Inbox:
    """A new inbox on a verified domain of the workspace. AddressTaken (409) also for a soft-deleted one."""
    canonical = normalise.address(address)
    if workspaces.owner_of_domain(canonical.rpartition("@")[2]) != workspace_id:
        raise Invalid(
            "The domain of this address is not verified for this workspace. Claim and verify it first.",
            pointer="/address",
        )
    policies.parse(policy or {})
    with in_workspace(workspace_id):
        try:
            with transaction.atomic():
                inbox = Inbox.objects.create(
                    workspace_id=workspace_id,
                    address=address.strip(),
                    address_normalized=canonical,
                    name=name,
                    external_id=external_id or uuid4(),
                    agent_id=agent_id,
                    policy=policy or {},
                    custom_metadata=custom_metadata or {},
                )
        except IntegrityError as error:
            raise _refusal(error) from error
        record(
            workspace_id=workspace_id,
            action="inbox.open",
            resource_kind="inbox",
            resource_id=inbox.id,
            payload={"address": canonical, "agent_id": agent_id},
        )
    return inbox


def _refusal(error: IntegrityError) -> Conflict | Invalid:
    if "inbox_inbox_agent_id_pair" in str(error):
        return Invalid("No agent of this workspace has that id.", pointer="/agent_id")
    return AddressTaken("This address or external id cannot be used. Choose another one.")


def change(*, workspace_id: UUID, inbox_id: UUID, changes: dict[str, Any]) -> Inbox:
    """Change name, agent, policy, custom metadata or `active` of an inbox; unknown keys are Invalid."""
    unknown = sorted(set(changes) - {"name", "agent_id", "policy", "active", "custom_metadata"})
    if unknown:
        raise Invalid(f"These cannot be changed: {', '.join(unknown)}.", pointer=f"/{unknown[0]}")
    with in_workspace(workspace_id):
        inbox = Inbox.objects.select_for_update().filter(id=inbox_id).first()
        if inbox is None:
            raise NotFound
        if "policy" in changes:
            policies.parse(changes["policy"])
            inbox.policy_version += 1
        for name, value in changes.items():
            setattr(inbox, name, value)
        try:
            with transaction.atomic():
                inbox.save(update_fields=[*changes, "policy_version"])
                with connection.cursor() as cursor:
                    cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        except IntegrityError as error:
            raise _refusal(error) from error
        inbox.refresh_from_db(fields=["updated_at"])
        record(
            workspace_id=workspace_id,
            action="inbox.change",
            resource_kind="inbox",
            resource_id=inbox.id,
            payload={"changed": sorted(changes)},
        )
    return inbox
