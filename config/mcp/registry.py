"""The registry of tools: each a function from typed arguments to a typed result, with the permission that it needs."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, get_type_hints

from mcp import types
from pydantic import BaseModel

from config.mcp.door import Api


class Effect(Enum):
    """What calling a tool does, as clients are told to judge how careful to be."""

    READ = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    ADD = types.ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
    )
    # A draft is added once; the same call again is the same draft.
    ADD_ONCE = types.ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    CHANGE = types.ToolAnnotations(
        read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
    )
    # What has left the house cannot be called back; the same call again sends nothing more.
    SEND_ONCE = types.ToolAnnotations(
        read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=True
    )
    # A request to an address of somebody else, each time.
    CALL_OUT = types.ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True
    )


Run = Callable[[Api, Any], Any]


@dataclass(frozen=True)
class Tool:
    """A tool as clients see it, and the function behind it."""

    name: str
    permission: str
    effect: Effect
    description: str
    arguments: type[BaseModel]
    result: type[BaseModel]
    run: Run

    def shown(self) -> types.Tool:
        """As `tools/list` shows it."""
        return types.Tool(
            name=self.name,
            title=self.name.replace("_", " ").capitalize(),
            description=self.description,
            input_schema=self.arguments.model_json_schema(),
            output_schema=self.result.model_json_schema(mode="serialization"),
            annotations=self.effect.value,
        )


_tools: dict[str, Tool] = {}


def tool(*, permission: str, effect: Effect, result: type[BaseModel]) -> Callable[[Run], Run]:
    """Make a function a tool: its docstring is the description, and what it is `given` are the arguments."""

    def register(function: Run) -> Run:
        made = Tool(
            name=function.__name__,
            permission=permission,
            effect=effect,
            description=" ".join((function.__doc__ or "").split()),
            arguments=get_type_hints(function)["given"],
            result=result,
            run=function,
        )
        _tools[made.name] = made
        return function

    return register


def find(name: str) -> Tool | None:
    """The tool of that name."""
    return _tools.get(name)


def catalogue() -> list[Tool]:
    """All tools, by name."""
    return [_tools[name] for name in sorted(_tools)]
