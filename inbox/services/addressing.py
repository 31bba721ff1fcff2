"""The further addresses of an inbox: aliases, and whatever its domain gets that nobody else takes."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, transaction

from inbox import normalise
from inbox.models import Inbox, InboxAddress
from kernel.errors import Conflict, Invalid
from tenancy.queries import workspaces

MAX_ALIASES = 100


@dataclass(frozen=True)
class Further:
    """What an inbox may have beside its own address: more of them, and an account of its own to send through."""

    aliases: tuple[str, ...] = ()
    catch_all: bool = False
    connection_id: UUID | None = None


NOTHING_FURTHER = Further()


class AliasTaken(Conflict):
    """Neutral on purpose, as for an inbox's own address (X-4)."""

    code = "address_not_available"


def set_addresses(*, inbox: Inbox, aliases: Iterable[str] | None, catch_all: bool | None) -> list[str]:
    """Give an inbox, which the caller has locked, exactly these further addresses; what has changed.

    None leaves a part as it is. Raises Invalid and AliasTaken.
    """
    rows = {row.address_normalized: row for row in InboxAddress.objects.filter(inbox_id=inbox.id)}
    changed = []
    if aliases is not None:
        wanted = {_canonical(alias, inbox.workspace_id): alias.strip() for alias in aliases}
        if len(wanted) > MAX_ALIASES:
            raise Invalid(f"An inbox has at most {MAX_ALIASES} aliases.", pointer="/aliases")
        present = {address: row for address, row in rows.items() if not address.startswith("*@")}
        if _replace(inbox, present, wanted, "/aliases"):
            changed.append("aliases")
    if catch_all is not None:
        everything = f"*@{inbox.address_normalized.rpartition('@')[2]}"
        present = {address: row for address, row in rows.items() if address.startswith("*@")}
        if _replace(inbox, present, {everything: everything} if catch_all else {}, "/catch_all"):
            changed.append("catch_all")
    return changed


def _canonical(alias: str, workspace_id: UUID) -> str:
    canonical = normalise.address(alias)
    if normalise.without_tag(canonical) != canonical:
        raise Invalid(
            "An alias has no plus-tag: every tag of an address leads to its inbox anyway.", pointer="/aliases"
        )
    if workspaces.owner_of_domain(canonical.rpartition("@")[2]) != workspace_id:
        raise Invalid(
            f"The domain of {canonical} is not verified for this workspace. Claim and verify it first.",
            pointer="/aliases",
        )
    return canonical


def _replace(inbox: Inbox, present: dict[str, InboxAddress], wanted: dict[str, str], pointer: str) -> bool:
    """Whether anything was to be done."""
    gone = [row.id for address, row in present.items() if address not in wanted]
    new = {address: shown for address, shown in wanted.items() if address not in present}
    InboxAddress.objects.filter(id__in=gone).delete()
    try:
        with transaction.atomic():
            for address in sorted(new):
                InboxAddress.objects.create(
                    workspace_id=inbox.workspace_id, inbox=inbox, address=new[address], address_normalized=address
                )
    except IntegrityError as error:
        raise AliasTaken("One of these addresses cannot be used. Choose another one.", pointer=pointer) from error
    return bool(gone or new)
