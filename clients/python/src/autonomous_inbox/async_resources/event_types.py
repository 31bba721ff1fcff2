"""The resource `/api/v1/event-types`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from autonomous_inbox.paging import AsyncPages, AsyncSender
from autonomous_inbox.types import EventType
from autonomous_inbox.wire import Call


class AsyncEventTypesResource:
    """`client.event_types`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    def list(self) -> AsyncPages[EventType]:
        """Every type of event, with the JSON Schema of what then arrives. Needs the permission `event.read`. `GET /api/v1/event-types`"""
        return AsyncPages(self._client, Call("GET", "/api/v1/event-types"))
