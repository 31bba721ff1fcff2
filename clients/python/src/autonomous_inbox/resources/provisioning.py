"""The resource `/api/v1/provisioning`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Mapping
from typing import Any, cast

from autonomous_inbox.paging import Sender
from autonomous_inbox.types import Workspace
from autonomous_inbox.wire import UNSET, Call, Unset, given


class ProvisioningResource:
    """`client.provisioning`."""

    def __init__(self, client: Sender) -> None:
        self._client = client

    def workspaces(
        self,
        *,
        external_id: str,
        name: str,
        timezone: str | Unset = UNSET,
        custom_metadata: Mapping[str, Any] | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> Workspace:
        """Make the workspace of an account, or return the one that it has. Idempotent on `external_id`. `POST /api/v1/provisioning/workspaces`"""
        return cast(
            "Workspace",
            self._client.send(
                Call(
                    "POST",
                    "/api/v1/provisioning/workspaces",
                    body=given(external_id=external_id, name=name, timezone=timezone, custom_metadata=custom_metadata),
                    key=idempotency_key,
                )
            ),
        )
