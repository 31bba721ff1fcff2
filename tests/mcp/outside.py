"""Agents of others: the official client of the protocol, over real HTTP or over a pipe to a real process."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Tool

from tenancy.models import MachineKey
from tenancy.services import keys

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Answer:
    """What a tool said: its structured content, or the problem."""

    content: dict[str, Any]
    is_error: bool
    text: str

    @property
    def code(self) -> str:
        return self.content["error"]["code"] if self.is_error else ""


class Agent:
    """A client with one credential. Each use connects anew, as stateless clients do."""

    def __init__(self, server: str, credential: str, *, mode: str = "auto") -> None:
        self.server, self.credential, self.mode = server, credential, mode

    def tools(self) -> dict[str, Tool]:
        async def ask(client: Client) -> list[Tool]:
            return (await client.list_tools()).tools

        return {tool.name: tool for tool in self.use(ask)}

    def call(self, name: str, /, **arguments: Any) -> Answer:
        async def ask(client: Client) -> Any:
            # The client fetches the schemas by itself, and checks each result against the one declared.
            return await client.call_tool(name, arguments)

        result = self.use(ask)
        (block,) = result.content
        content = json.loads(block.text)
        assert result.is_error or result.structured_content == content
        return Answer(content, result.is_error, block.text)

    def use(self, work: Callable[[Client], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            headers = {"Authorization": f"Bearer {self.credential}"}
            async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
                transport = streamable_http_client(f"{self.server}/mcp", http_client=http)
                async with Client(transport, mode=self.mode) as client:
                    return await work(client)

        return _alone(run)


class Piped(Agent):
    """The same over standard input and output of `manage.py mcp`."""

    def __init__(self, credential: str) -> None:
        super().__init__("", credential)

    def use(self, work: Callable[[Client], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            parameters = StdioServerParameters(
                command=sys.executable, args=["manage.py", "mcp"], cwd=ROOT, env=environment(self.credential)
            )
            async with Client(parameters) as client:
                return await work(client)

        return _alone(run)


def _alone(run: Callable[[], Awaitable[Any]]) -> Any:
    """Run it to its end. Of the groups that an error comes wrapped in, the error itself is of interest."""
    try:
        return asyncio.run(run())
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from group


def environment(credential: str) -> dict[str, str]:
    return dict(os.environ) | {"INBOX_KEY": credential, "DJANGO_SETTINGS_MODULE": "config.settings.test"}


def key(workspace_id: UUID, *scopes: str) -> tuple[MachineKey, str]:
    return keys.issue(workspace_id=workspace_id, name="Outside agent", scopes=scopes or ["*"])
