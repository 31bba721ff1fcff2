"""Reading: workspace, conversations, mails, knowledge, agents and their runs."""

from typing import Any
from uuid import UUID

from pydantic import Field

from agents.types import ExecutionStatus
from config.mcp import shapes
from config.mcp.door import Api
from config.mcp.registry import Effect, tool
from config.mcp.toolbox.arguments import Arguments, Nothing, Paged
from inbox.types import EmailState, ThreadStatus

_TEXT_AT_ONCE = 12_000


@tool(permission="workspace.read", effect=Effect.READ, result=shapes.Workspace)
def get_workspace(api: Api, given: Nothing) -> Any:
    """The workspace that your credential belongs to. Everything else that you can see lies in it."""
    return api.get("workspace")


class ListThreads(Paged):
    status: ThreadStatus | None = None
    inbox_id: UUID | None = None


@tool(permission="thread.read", effect=Effect.READ, result=shapes.Threads)
def list_threads(api: Api, given: ListThreads) -> Any:
    """Conversations with customers, the one with the newest entry first. `first_unanswered_inbound_at` says which wait for
    an answer."""
    return api.get("threads", **given.model_dump())


class ReadThread(Paged):
    thread_id: UUID
    limit: int = Field(default=10, ge=1, le=20, description="Entries on a page.")


@tool(permission="thread.read", effect=Effect.READ, result=shapes.Conversation)
def read_thread(api: Api, given: ReadThread) -> Any:
    """One conversation, its newest entries first. Long texts are cut: read_email gives the whole of a received one."""
    thread = api.get("threads", given.thread_id)
    entries = api.get("threads", given.thread_id, "entries", limit=given.limit, cursor=given.cursor)
    return entries | {"thread": thread}


class ListEmails(Paged):
    state: EmailState | None = None
    inbox_id: UUID | None = None


@tool(permission="email.read", effect=Effect.READ, result=shapes.Emails)
def list_emails(api: Api, given: ListEmails) -> Any:
    """Received mails and how far each is, newest first. `state=threaded` lists those that rest with no agent at work."""
    return api.get("emails", **given.model_dump())


class ReadEmail(Arguments):
    email_id: UUID
    offset: int = Field(default=0, ge=0, le=100_000_000, description="Where in the text to begin: `next_offset`.")


@tool(permission="email.read", effect=Effect.READ, result=shapes.WholeEmail)
def read_email(api: Api, given: ReadEmail) -> Any:
    """One received mail with its text, without quoted parts, 12,000 characters at a time."""
    body: dict[str, Any] = api.get("emails", given.email_id)
    text, end = body["text"] or "", given.offset + _TEXT_AT_ONCE
    piece = shapes.bounded(_TEXT_AT_ONCE, text[given.offset : end])
    more = end if end < len(text) else None
    return body | {"text": piece, "next_offset": more}


class SearchKnowledge(Arguments):
    query: str = Field(min_length=1, max_length=2_000, description="A question, or words to look for.")
    limit: int = Field(default=6, ge=1, le=20)


@tool(permission="agent.read", effect=Effect.READ, result=shapes.Passages)
def search_knowledge(api: Api, given: SearchKnowledge) -> Any:
    """Passages of the company's own documents that fit a question, the nearest first. Answers that name what these do not
    hold are shown to a person before they are sent."""
    return api.get("knowledge-passages", **given.model_dump())


@tool(permission="agent.read", effect=Effect.READ, result=shapes.Agents)
def list_agents(api: Api, given: Paged) -> Any:
    """The agents of the workspace, newest first: their autonomy says how far replies go without a person."""
    return api.get("agents", **given.model_dump())


class ListRuns(Paged):
    status: ExecutionStatus | None = None
    agent_id: UUID | None = None
    email_id: UUID | None = None


@tool(permission="agent.read", effect=Effect.READ, result=shapes.Runs)
def list_agent_runs(api: Api, given: ListRuns) -> Any:
    """What agents did with mails, newest first, replies from outside among them (`provider` is `outside`)."""
    return api.get("agent-runs", **given.model_dump())


class GetRun(Arguments):
    agent_run_id: UUID


@tool(permission="agent.read", effect=Effect.READ, result=shapes.WholeRun)
def get_agent_run(api: Api, given: GetRun) -> Any:
    """One run with its steps, by title."""
    return api.get("agent-runs", given.agent_run_id)
