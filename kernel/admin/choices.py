"""Choices that an upper app offers to a form of a lower one: which agents an inbox may be given."""

from collections.abc import Callable

Offer = Callable[[], list[tuple[str, str]]]
_offers: dict[str, Offer] = {}


def offer(name: str) -> Callable[[Offer], Offer]:
    """Register what a name offers; the app above does so with its own pages."""

    def register(function: Offer) -> Offer:
        _offers[name] = function
        return function

    return register


def of(name: str) -> list[tuple[str, str]]:
    """The rows in sight, as value and label; nothing where nobody offers."""
    return _offers[name]() if name in _offers else []
