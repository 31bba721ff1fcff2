"""What `agents` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

AgentStatus = Literal["active", "paused"]

Autonomy = Literal["draft", "supervised", "autonomous"]


class Agent(TypedDict):
    """An agent with its current version flattened into it."""

    object: str
    id: str
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: Mapping[str, Any]
    custom_metadata: Mapping[str, Any]
    workspace_id: str
    external_id: str
    name: str
    status: AgentStatus
    autonomy: Autonomy
    version: int
    max_steps: int
    max_cost_micros: int
    provider: str
    model: str
    system_prompt: str
    skills: Sequence[str]
    permissions: Sequence[str]
