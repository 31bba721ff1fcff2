"""The processing policy of an inbox: typed, versioned, with a meaning for every key (S0-17)."""

from dataclasses import dataclass, fields
from typing import Any

from kernel.errors import Invalid


@dataclass(frozen=True)
class InboxPolicy:
    """What the inbox does with mail. Stored as JSON with only the keys that differ from these defaults."""

    run_agent: bool = True
    answer_blind_copies: bool = False
    quarantine_spam: bool = True
    quarantine_virus: bool = True
    # Mail that fails DMARC is shown and marked; an agent asks a person before it answers, unless this is on.
    answer_dmarc_fail: bool = False
    block_senders: tuple[str, ...] = ()
    when_inactive: str = "store"

    def __post_init__(self) -> None:
        if self.when_inactive not in ("store", "bounce"):
            raise Invalid("when_inactive must be store or bounce.", pointer="/policy/when_inactive")


def parse(content: dict[str, Any]) -> InboxPolicy:
    """Read a policy; Invalid names every unknown key."""
    known = {field.name: field.type for field in fields(InboxPolicy)}
    unknown = sorted(set(content) - set(known))
    if unknown:
        raise Invalid(f"Unknown policy keys: {', '.join(unknown)}. Known are {', '.join(known)}.", pointer="/policy")
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in content.items()
    }
    for name, value in values.items():
        if known[name] in (bool, "bool") and not isinstance(value, bool):
            raise Invalid(f"{name} must be true or false.", pointer=f"/policy/{name}")
    return InboxPolicy(**values)
