"""The resource `/api/v1/knowledge-passages`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from autonomous_inbox.paging import Pages, Sender
from autonomous_inbox.types import Passage
from autonomous_inbox.wire import Call


class KnowledgePassagesResource:
    """`client.knowledge_passages`."""

    def __init__(self, client: Sender) -> None:
        self._client = client

    def list(self, *, query: str, limit: int | None = None) -> Pages[Passage]:
        """The passages of the workspace's knowledge that fit a query best, the nearest first. Needs the permission `agent.read`. `GET /api/v1/knowledge-passages`"""
        return Pages(self._client, Call("GET", "/api/v1/knowledge-passages", query={"limit": limit, "query": query}))
