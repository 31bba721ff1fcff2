"""What `knowledge_sources` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from typing import TypedDict


class Knowledge(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    title: str
    uri: str
    content_hash: str
    deleted_at: str | None


class KnowledgeDetail(TypedDict):
    object: str
    id: str
    created_at: str
    updated_at: str
    title: str
    uri: str
    content_hash: str
    deleted_at: str | None
    content: str
