"""Rate limits of endpoints, in windows of one second that all dispatchers share."""

from dataclasses import dataclass

from kernel import rates


@dataclass(frozen=True, slots=True)
class Grant:
    """So many requests may go out, in the window that they were taken from."""

    window: rates.Window
    count: int


def take(*, key: str, rate: int, wanted: int) -> Grant:
    """At most `wanted` requests of this second; give back what is then not used."""
    window = rates.window(f"webhook:{key}")
    used = rates.add(window, wanted) - wanted
    granted = max(0, min(wanted, rate - used))
    if granted < wanted:
        rates.add(window, granted - wanted)
    return Grant(window, granted)


def give_back(*, grant: Grant, unused: int) -> None:
    """Return what nobody needed to the window that it came from, which may be over by now."""
    if unused:
        rates.add(grant.window, -unused)
