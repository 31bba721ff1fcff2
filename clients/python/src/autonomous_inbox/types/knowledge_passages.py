"""What `knowledge_passages` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from typing import TypedDict


class Passage(TypedDict):
    object: str
    id: str
    source_id: str
    title: str
    uri: str
    heading: str
    text: str
    similarity: float
