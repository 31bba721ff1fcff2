"""Answering: as far as the agent of the inbox may, or through a person."""

import hashlib
from typing import Any
from uuid import UUID

from pydantic import Field

from config.mcp import shapes
from config.mcp.door import Api
from config.mcp.registry import Effect, tool
from config.mcp.toolbox.arguments import Arguments, Key


class Write(Arguments):
    email_id: UUID = Field(description="The received mail to answer. Its sender gets the reply, and nobody else can.")
    text: str = Field(min_length=1, max_length=20_000, description="The whole answer, in plain text.")
    idempotency_key: Key = None

    def key(self, verb: str) -> str:
        """The caller's key; without one, the content itself: the same words to the same mail are the same reply."""
        digest = hashlib.sha256(f"{verb}\n{self.email_id}\n{self.text}".encode()).hexdigest()
        return self.idempotency_key or f"mcp-{digest}"

    def body(self) -> dict[str, str]:
        return {"email_id": str(self.email_id), "text": self.text}


@tool(permission="email.draft", effect=Effect.ADD_ONCE, result=shapes.Reply)
def draft_reply(api: Api, given: Write) -> Any:
    """Write the answer to a mail for a person, who approves, edits or rejects it: the status is `waiting_approval`, or
    `refused` where nothing may be sent. A mail has one reply, drafted or sent; after that only a person can answer."""
    return api.post("replies", "draft", body=given.body(), key=given.key("draft"))


@tool(permission="email.send", effect=Effect.SEND_ONCE, result=shapes.Reply)
def send_reply(api: Api, given: Write) -> Any:
    """Answer a mail. The autonomy of the inbox's agent and its rules decide: the status is `sending`, `waiting_approval`
    (a person looks first) or `refused`, and get_reply says later what became of it. A mail has one reply, drafted or sent;
    after that only a person can answer."""
    return api.post("replies", body=given.body(), key=given.key("send"))


class GetReply(Arguments):
    reply_id: UUID


@tool(permission="email.read", effect=Effect.READ, result=shapes.Reply)
def get_reply(api: Api, given: GetReply) -> Any:
    """What became of a reply: sent, waiting for a person, rejected, and why."""
    return api.get("replies", given.reply_id)
