"""The registry of tools: what each may do, needs and risks. Trusted: a model names a tool and nothing else about it."""

import hashlib
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

import msgspec
import orjson

from agents.types import Access, Risk
from kernel.errors import Invalid

MAX_ANSWER = 20_000


class UnknownTool(Invalid):
    code = "unknown_tool"


class BadArguments(Invalid):
    code = "bad_tool_arguments"


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of the arguments of a tool."""


class ReadThread(Arguments, frozen=True):
    email_id: UUID


class SearchKnowledge(Arguments, frozen=True):
    query: Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]


class Reply(Arguments, frozen=True):
    """A reply names the mail that it answers and never a recipient: the thread decides who gets it."""

    email_id: UUID
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ANSWER)]


class AskPerson(Arguments, frozen=True):
    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]


@dataclass(frozen=True)
class Tool:
    """A thing that an agent can do. `version` is part of what an approval is bound to."""

    name: str
    permission: str
    risk: Risk
    access: Access
    description: str
    arguments: type[Arguments]
    version: int = 1


_tools: dict[str, Tool] = {}


def register(tool: Tool) -> Tool:
    """Make a tool known; apps above this one add theirs when they are ready."""
    _tools[tool.name] = tool
    return tool


def get(name: str) -> Tool:
    """The tool of that name; UnknownTool when nobody registered it."""
    try:
        return _tools[name]
    except KeyError:
        raise UnknownTool(f"There is no tool {name!r}. Known are {', '.join(sorted(_tools))}.") from None


def catalogue() -> list[Tool]:
    """All tools, by name."""
    return [_tools[name] for name in sorted(_tools)]


def permissions() -> list[str]:
    """Every permission that some tool needs: what an agent may be granted."""
    return sorted({tool.permission for tool in _tools.values()})


def check(tool: Tool, arguments: dict[str, Any]) -> Arguments:
    """The arguments in the tool's type; BadArguments names what is wrong with them."""
    try:
        return msgspec.convert(arguments, tool.arguments, strict=True)
    except msgspec.ValidationError as error:
        raise BadArguments(f"{tool.name}: {error}") from error


def content_hash(tool: Tool, arguments: dict[str, Any]) -> bytes:
    """SHA-256 of what an effect is and says, in one spelling. Nothing in it changes by itself: no times, no tries."""
    content = {"action": tool.name, "tool_version": tool.version, "arguments": arguments}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).digest()


READ_THREAD = register(
    Tool(
        name="inbox.read_thread",
        permission="thread.read",
        risk=Risk.LOW,
        access=Access.READ,
        description="Read the mail and the earlier messages of its thread.",
        arguments=ReadThread,
    )
)
SEARCH_KNOWLEDGE = register(
    Tool(
        name="knowledge.search",
        permission="agent.read",
        risk=Risk.LOW,
        access=Access.READ,
        description="Find passages in the workspace's knowledge.",
        arguments=SearchKnowledge,
    )
)
REPLY = register(
    Tool(
        name="inbox.reply",
        permission="email.send",
        risk=Risk.LOW,
        access=Access.EFFECT,
        description="Answer the sender of the mail.",
        arguments=Reply,
    )
)
ASK_PERSON = register(
    Tool(
        name="agents.ask_person",
        permission="thread.read",
        risk=Risk.LOW,
        access=Access.READ,
        description="Leave the mail to a person, with a reason.",
        arguments=AskPerson,
    )
)
