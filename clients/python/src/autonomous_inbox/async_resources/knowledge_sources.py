"""The resource `/api/v1/knowledge-sources`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender, Change
from autonomous_inbox.types import Knowledge, KnowledgeDetail
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


class AsyncKnowledgeSourcesResource:
    """`client.knowledge_sources`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    def list(
        self,
        *,
        created_at__gt: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        created_at__lte: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        sort: Literal["-created_at", "-title", "-updated_at", "created_at", "title", "updated_at"] | None = None,
        updated_at__gte: str | None = None,
        updated_at__lt: str | None = None,
    ) -> AsyncPages[Knowledge]:
        """What agents may answer from, without the texts. Needs the permission `agent.read`. `GET /api/v1/knowledge-sources`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/knowledge-sources",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "limit": limit,
                    "sort": sort,
                    "updated_at__gte": updated_at__gte,
                    "updated_at__lt": updated_at__lt,
                },
            ),
        )

    async def create(
        self, *, title: str, content: str, uri: str | Unset = UNSET, idempotency_key: str | None = None
    ) -> KnowledgeDetail:
        """Give agents a document to answer from. Needs the permission `agent.manage`. `POST /api/v1/knowledge-sources`"""
        return cast(
            "KnowledgeDetail",
            await self._client.send(
                Call(
                    "POST",
                    "/api/v1/knowledge-sources",
                    body=given(title=title, content=content, uri=uri),
                    key=idempotency_key,
                )
            ),
        )

    async def get(self, knowledge_source_id: str) -> KnowledgeDetail:
        """One document with its text. Needs the permission `agent.read`. `GET /api/v1/knowledge-sources/{knowledge_source_id}`"""
        return cast(
            "KnowledgeDetail",
            await self._client.send(Call("GET", f"/api/v1/knowledge-sources/{quote(knowledge_source_id, safe='')}")),
        )

    async def update(
        self,
        knowledge_source_id: str,
        *,
        title: str | Unset = UNSET,
        content: str | Unset = UNSET,
        uri: str | Unset = UNSET,
        if_match: str | None = None,
    ) -> KnowledgeDetail:
        """Change a document. Its passages follow when the words change. `PATCH /api/v1/knowledge-sources/{knowledge_source_id}`"""
        return cast(
            "KnowledgeDetail",
            await self._client.send(
                Call(
                    "PATCH",
                    f"/api/v1/knowledge-sources/{quote(knowledge_source_id, safe='')}",
                    body=given(title=title, content=content, uri=uri),
                    if_match=if_match,
                )
            ),
        )

    async def delete(self, knowledge_source_id: str, *, if_match: str | None = None) -> None:
        """Delete a document. No run finds it from then on. `DELETE /api/v1/knowledge-sources/{knowledge_source_id}`"""
        await self._client.send(
            Call("DELETE", f"/api/v1/knowledge-sources/{quote(knowledge_source_id, safe='')}", if_match=if_match)
        )

    async def get_versioned(self, knowledge_source_id: str) -> Versioned[KnowledgeDetail]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return await self._client.versioned(
            Call("GET", f"/api/v1/knowledge-sources/{quote(knowledge_source_id, safe='')}")
        )

    async def edit(
        self, knowledge_source_id: str, change: Change[KnowledgeDetail], *, tries: int = 5
    ) -> KnowledgeDetail:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = (
            Call("GET", f"/api/v1/knowledge-sources/{quote(knowledge_source_id, safe='')}"),
            Call("PATCH", f"/api/v1/knowledge-sources/{quote(knowledge_source_id, safe='')}"),
        )
        return cast("KnowledgeDetail", await self._client.edit(read, write, change, tries=tries))
