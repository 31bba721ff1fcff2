"""Managing inboxes."""

from typing import Any
from uuid import UUID

from pydantic import Field

from config.mcp import shapes
from config.mcp.door import Api
from config.mcp.registry import Effect, tool
from config.mcp.toolbox.arguments import Arguments, Key, OneInbox, Paged


@tool(permission="inbox.read", effect=Effect.READ, result=shapes.Inboxes)
def list_inboxes(api: Api, given: Paged) -> Any:
    """The addresses at which the workspace receives mail, newest first."""
    return api.get("inboxes", **given.model_dump())


@tool(permission="inbox.read", effect=Effect.READ, result=shapes.Inbox)
def get_inbox(api: Api, given: OneInbox) -> Any:
    """One inbox with its policy and its agent."""
    return api.get("inboxes", given.inbox_id)


class CreateInbox(Arguments):
    address: str = Field(max_length=320, description="On a mail domain that the workspace has verified.")
    name: str = Field(default="", max_length=200, description="Shown to customers as the sender.")
    agent_id: UUID | None = Field(default=None, description="The agent that answers here; list_agents names them.")
    custom_metadata: dict[str, Any] = Field(default_factory=dict, description="Yours; never looked into.")
    idempotency_key: Key = None


@tool(permission="inbox.manage", effect=Effect.ADD, result=shapes.Inbox)
def create_inbox(api: Api, given: CreateInbox) -> Any:
    """Open an inbox. An address is taken for ever, also when its inbox is deactivated."""
    body = given.model_dump(mode="json", exclude_unset=True, exclude={"idempotency_key"})
    return api.post("inboxes", body=body, key=given.idempotency_key)


class ChangeInbox(OneInbox):
    name: str | None = Field(default=None, max_length=200)
    agent_id: UUID | None = Field(default=None, description="null takes the agent away: then people answer.")
    policy: dict[str, Any] | None = Field(
        default=None, description="The whole policy; get_inbox shows the present one."
    )
    active: bool | None = Field(default=None, description="false stops the inbox; it can be switched on again.")
    custom_metadata: dict[str, Any] | None = None


@tool(permission="inbox.manage", effect=Effect.CHANGE, result=shapes.Inbox)
def change_inbox(api: Api, given: ChangeInbox) -> Any:
    """Change an inbox, or stop it (`active`: false). What you do not name stays as it is."""
    body = given.model_dump(mode="json", exclude_unset=True, exclude={"inbox_id"})
    return api.patch("inboxes", given.inbox_id, body=body)
