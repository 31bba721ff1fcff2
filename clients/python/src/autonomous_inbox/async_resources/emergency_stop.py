"""The resource `/api/v1/emergency-stop`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import cast

from autonomous_inbox.paging import AsyncSender
from autonomous_inbox.types import Stop
from autonomous_inbox.wire import Call, given


class AsyncEmergencyStopResource:
    """`client.emergency_stop`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    async def get(self) -> Stop:
        """Whether the workspace is stopped, since when, and why. Needs the permission `workspace.read`. `GET /api/v1/emergency-stop`"""
        return cast("Stop", await self._client.send(Call("GET", "/api/v1/emergency-stop")))

    async def create(self, *, reason: str, idempotency_key: str | None = None) -> Stop:
        """Stop the workspace, at once. Stopping it again changes nothing. `POST /api/v1/emergency-stop`"""
        return cast(
            "Stop",
            await self._client.send(
                Call("POST", "/api/v1/emergency-stop", body=given(reason=reason), key=idempotency_key)
            ),
        )

    async def delete(self, *, if_match: str | None = None) -> Stop:
        """Release the stop. What waited goes on, in a new generation. `DELETE /api/v1/emergency-stop`"""
        return cast("Stop", await self._client.send(Call("DELETE", "/api/v1/emergency-stop", if_match=if_match)))
