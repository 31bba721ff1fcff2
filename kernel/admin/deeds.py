"""Buttons and bulk actions, with a type that Unfold's decorator does not have."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from unfold.decorators import action

F = TypeVar("F", bound=Callable[..., Any])


def deed(description: str, *, needs: str = "act", icon: str | None = None) -> Callable[[F], F]:
    """Something that a person does to rows; `needs` names the check of the admin class that allows it."""
    return cast("Callable[[F], F]", action(description=description, permissions=[needs], icon=icon))
