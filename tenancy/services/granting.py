"""Nobody gives away more than they have: not more permissions, not for longer, not from more places."""

from collections.abc import Callable, Sequence
from datetime import datetime
from ipaddress import ip_network
from typing import Any, Final

from kernel import clock, context
from kernel.access import catalogue
from kernel.addresses import networks as parsed
from kernel.errors import Forbidden, Invalid
from tenancy import permissions
from tenancy.models import ClientCertificate, MachineKey, Membership, User
from tenancy.types import CredentialState, MembershipStatus

# What an operator at the machine may give: there is nothing above them.
EVERYTHING: Final = frozenset({"*"})
MOST_NETWORKS: Final = 50


def checked_scopes(scopes: Sequence[str], *, may: frozenset[str], pointer: str = "/scopes") -> list[str]:
    """The scopes, each once, when all are known and the giver has them."""
    unknown = [scope for scope in scopes if not permissions.is_known(scope)]
    if unknown:
        raise Invalid(
            f"Unknown permissions: {', '.join(unknown)}. Known are {', '.join(catalogue())}.", pointer=pointer
        )
    for scope in scopes:
        if not permissions.covers(may, scope):
            raise Forbidden(
                f"You do not have the permission {scope!r} yourself, so you cannot give it.", permission=scope
            )
    return sorted(set(scopes))


def checked_name(name: str) -> str:
    """What people call it."""
    if not 0 < len(name) <= 100:
        raise Invalid("A name has 1 to 100 characters.", pointer="/name")
    return name


def checked_networks(texts: Sequence[str]) -> list[str]:
    """Networks in their plain form; Invalid, naming the first that is none."""
    if len(texts) > MOST_NETWORKS:
        raise Invalid(f"At most {MOST_NETWORKS} networks.", pointer="/allowed_networks")
    found = []
    for text in texts:
        try:
            found.append(str(ip_network(text.strip())))
        except ValueError as error:
            raise Invalid(
                f"{text!r} is not a network such as 203.0.113.0/24 or 2001:db8::/32 (no host bits).",
                pointer="/allowed_networks",
            ) from error
    return sorted(set(found))


def checked_end(expires_at: datetime | None) -> datetime | None:
    """An end that lies ahead, or none."""
    if expires_at is not None and expires_at <= clock.now():
        raise Invalid("The end must lie in the future.", pointer="/expires_at")
    return expires_at


def bounds() -> MachineKey | None:
    """The machine key at work, whose own end and networks bind what it issues; None for every other actor."""
    who = context.actor.get()
    return MachineKey.objects.filter(id=who.id).first() if who.kind == "machine_key" else None


def check_within(giver: MachineKey | None, *, expires_at: datetime | None, allowed_networks: Sequence[str]) -> None:
    """Refuse what would last longer, or reach from further, than the key that gives it."""
    if giver is None:
        return
    if giver.expires_at is not None and (expires_at is None or expires_at > giver.expires_at):
        raise Forbidden("The key that you use ends before that, and what it gives must not outlive it.")
    if giver.allowed_networks and not _lies_within(allowed_networks, giver.allowed_networks):
        raise Forbidden("The key that you use is bound to networks, and what it gives must be bound to some of them.")


def lock_giver() -> None:
    """Lock who acts until the end of the transaction; Forbidden when they have gone.

    Whoever shuts them out locks the same row before looking for what they let in (`leaving`, `keys.revoke`). So either this
    is committed before that look, and ends with them, or it is refused here.
    """
    who = context.actor.get()
    if who.kind in _HELD and not _HELD[who.kind](who.id):
        raise Forbidden("You have been shut out of this workspace, so you can let nobody in.")


def _holds_member(user_id: str) -> bool:
    """The person is asked for after the lock: who is shut out of the installation has their memberships locked, too."""
    rows = Membership.objects.select_for_update(no_key=True).filter(user_id=user_id)
    member = rows.first()
    if member is None or member.status != MembershipStatus.ACTIVE:
        return False
    return User.objects.filter(id=user_id, is_active=True).exists()


def _holds_key(key_id: str) -> bool:
    row = MachineKey.objects.select_for_update(no_key=True).filter(id=key_id).first()
    return row is not None and row.state == CredentialState.ACTIVE


def _holds_certificate(certificate_id: str) -> bool:
    row = ClientCertificate.objects.select_for_update(no_key=True).filter(id=certificate_id).first()
    return row is not None and row.state == CredentialState.ACTIVE


# Of whom what they let in is ended with them. A token ends by itself, and who runs the installation leaves what they issued.
_HELD: Final[dict[str, Callable[[str], bool]]] = {
    "user": _holds_member,
    "machine_key": _holds_key,
    "certificate": _holds_certificate,
}


def _lies_within(inner: Sequence[str], outer: Sequence[str]) -> bool:
    around = parsed(tuple(outer))
    return bool(inner) and all(
        any(one.version == other.version and one.subnet_of(other) for other in around)  # type: ignore[arg-type]
        for one in parsed(tuple(inner))
    )


def issuer() -> dict[str, Any]:
    """Who issues, as the columns of a credential. They stay until it is committed: see `lock_giver`."""
    lock_giver()
    who = context.actor.get()
    return {"issued_by_kind": who.kind, "issued_by_id": who.id, "issued_by_label": who.label[:200]}
