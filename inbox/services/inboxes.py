"""Open, change, delete and restore inboxes."""

from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, connection, transaction

from audit.services import record
from inbox import normalise
from inbox import policy as policies
from inbox.events import InboxChanged, InboxCreated, InboxDeleted, InboxRestored, InboxUpdated
from inbox.models import Inbox
from kernel import clock, context, outbox
from kernel.errors import Conflict, Forbidden, Invalid, NotFound
from kernel.transactions import current_unit, in_workspace
from tenancy.queries import workspaces

_CHANGEABLE = frozenset({"name", "agent_id", "connection_id", "policy", "active", "custom_metadata"})
# Kept by the agents' app, whose tables these constraints look at.
_OF_AGENT = frozenset({"inbox_inbox_agent_id_pair", "inbox_bound_agent_is_live"})


class AddressTaken(Conflict):
    """Neutral on purpose: it does not say whether the address is ours, deleted, or another workspace's (X-4)."""

    code = "address_not_available"


class CannotRestore(Conflict):
    """What the inbox depends on is not there any more (S0-29)."""

    code = "cannot_be_restored"


def check_policy(content: dict[str, Any]) -> None:
    """Invalid, with the reason, when this is no policy of an inbox."""
    policies.parse(content)


def open_inbox(
    *,
    workspace_id: UUID,
    address: str,
    name: str = "",
    external_id: UUID | None = None,
    agent_id: UUID | None = None,
    connection_id: UUID | None = None,
    policy: dict[str, Any] | None = None,
    custom_metadata: dict[str, Any] | None = None,
) -> Inbox:
    """A new inbox on a verified domain of the workspace. AddressTaken (409) also for a soft-deleted one."""
    if (scope := context.scope.get()) is not None and scope.inbox_ids is not None:
        raise Forbidden("You see the inboxes of your teams only. Who sees every inbox may open another one.")
    canonical = _canonical(address)
    if workspaces.owner_of_domain(canonical.rpartition("@")[2]) != workspace_id:
        raise Invalid(
            "The domain of this address is not verified for this workspace. Claim and verify it first.",
            pointer="/address",
        )
    kept = policies.stored(policies.parse(policy or {}))
    with in_workspace(workspace_id):
        try:
            with transaction.atomic():
                inbox = Inbox.objects.create(
                    workspace_id=workspace_id,
                    address=address,
                    address_normalized=canonical,
                    name=name,
                    external_id=external_id or uuid4(),
                    agent_id=agent_id,
                    connection_id=connection_id,
                    policy=kept,
                    custom_metadata=custom_metadata or {},
                )
        except IntegrityError as error:
            raise _refusal(error) from error
        _tell(inbox, InboxCreated, "inbox.open", address=canonical, agent_id=agent_id, policy=kept)
    return inbox


def change(*, workspace_id: UUID, inbox_id: UUID, changes: dict[str, Any]) -> Inbox:
    """Change name, agent, policy, custom metadata or `active` of an inbox; unknown keys are Invalid."""
    unknown = sorted(set(changes) - _CHANGEABLE)
    if unknown:
        raise Invalid(f"These cannot be changed: {', '.join(unknown)}.", pointer=f"/{unknown[0]}")
    with in_workspace(workspace_id):
        inbox = _locked(inbox_id)
        details: dict[str, Any] = {}
        if "policy" in changes:
            changes = changes | {"policy": policies.stored(policies.parse(changes["policy"]))}
            inbox.policy_version += 1
            # The trail keeps every policy that there was.
            details = {"policy": changes["policy"], "policy_version": inbox.policy_version}
        for name, value in changes.items():
            setattr(inbox, name, value)
        _save(inbox, [*changes, "policy_version"])
        _tell(inbox, InboxUpdated, "inbox.change", changed=sorted(changes), **details)
    return inbox


def delete(*, workspace_id: UUID, inbox_id: UUID) -> None:
    """Take an inbox out of sight, for operators (X-20). Its address stays taken; mail to it is quarantined."""
    with in_workspace(workspace_id):
        inbox = _locked(inbox_id)
        inbox.deleted_at = clock.now()
        _save(inbox, ["deleted_at"])
        _tell(inbox, InboxDeleted, "inbox.delete", address=inbox.address_normalized)


def restore(*, workspace_id: UUID, inbox_id: UUID) -> Inbox:
    """Bring a deleted inbox back under its id, for operators (S0-28). What it needs is asked anew (S0-29).

    Raises CannotRestore when its domain is not verified for the workspace any more. An agent that was deleted meanwhile
    has been unbound by its deletion.
    """
    with in_workspace(workspace_id):
        inbox = Inbox.with_deleted.select_for_update().filter(id=inbox_id, deleted_at__isnull=False).first()
        if inbox is None:
            raise NotFound("No deleted inbox of this workspace has that id.")
        if workspaces.owner_of_domain(inbox.address_normalized.rpartition("@")[2]) != workspace_id:
            raise CannotRestore("The domain of this inbox is no longer verified for the workspace. Verify it first.")
        inbox.deleted_at = None
        _save(inbox, ["deleted_at"])
        _tell(inbox, InboxRestored, "inbox.restore", address=inbox.address_normalized, agent_id=inbox.agent_id)
    return inbox


def unbind(*, agent_id: UUID) -> None:
    """Take an agent from every inbox of the scope that it is bound to, the deleted ones too. Needs a unit of work."""
    current_unit()
    for inbox in Inbox.with_deleted.select_for_update().filter(agent_id=agent_id).order_by("id"):
        inbox.agent_id = None
        _save(inbox, ["agent_id"])
        _tell(inbox, InboxUpdated, "inbox.change", changed=["agent_id"])


def _canonical(address: str) -> str:
    canonical = normalise.address(address)
    if address != address.strip():
        raise Invalid("There is white space around the address. Leave it out.", pointer="/address")
    return canonical


def _locked(inbox_id: UUID) -> Inbox:
    inbox = Inbox.objects.select_for_update().filter(id=inbox_id).first()
    if inbox is None:
        raise NotFound
    return inbox


def _save(inbox: Inbox, names: list[str]) -> None:
    try:
        with transaction.atomic():
            inbox.save(update_fields=names)
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    except IntegrityError as error:
        raise _refusal(error) from error
    # The database sets it; the answer shows it.
    inbox.refresh_from_db(fields=["updated_at"])


def _refusal(error: IntegrityError) -> Conflict | Invalid:
    diagnosis = getattr(error.__cause__, "diag", None)
    if getattr(diagnosis, "constraint_name", "") in _OF_AGENT:
        return Invalid("No agent of this workspace has that id.", pointer="/agent_id")
    if getattr(diagnosis, "constraint_name", "") == "inbox_inbox_connection_id_pair":
        return Invalid("No connection of this workspace has that id.", pointer="/connection_id")
    return AddressTaken("This address or external id cannot be used. Choose another one.")


def _tell(inbox: Inbox, event: type[InboxChanged], action: str, **payload: Any) -> None:
    """The record and the fact of a change, with it."""
    outbox.emit(event(workspace_id=inbox.workspace_id, inbox_id=inbox.id))
    record(
        workspace_id=inbox.workspace_id,
        action=action,
        resource_kind="inbox",
        resource_id=inbox.id,
        payload=payload,
    )
