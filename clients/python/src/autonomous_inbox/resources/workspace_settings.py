"""The resource `/api/v1/workspace-settings`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import cast

from autonomous_inbox.paging import Change, Sender
from autonomous_inbox.types import Settings
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


class WorkspaceSettingsResource:
    """`client.workspace_settings`."""

    def __init__(self, client: Sender) -> None:
        self._client = client

    def get(self) -> Settings:
        """What the workspace has decided for itself. Needs the permission `workspace.read`. `GET /api/v1/workspace-settings`"""
        return cast("Settings", self._client.send(Call("GET", "/api/v1/workspace-settings")))

    def update(
        self,
        *,
        members_see_team_inboxes_only: bool | Unset = UNSET,
        stop_spares_webhooks: bool | Unset = UNSET,
        if_match: str | None = None,
    ) -> Settings:
        """Change settings, with effect at everybody's next request. Needs the permission `workspace.manage`. `PATCH /api/v1/workspace-settings`"""
        return cast(
            "Settings",
            self._client.send(
                Call(
                    "PATCH",
                    "/api/v1/workspace-settings",
                    body=given(
                        members_see_team_inboxes_only=members_see_team_inboxes_only,
                        stop_spares_webhooks=stop_spares_webhooks,
                    ),
                    if_match=if_match,
                )
            ),
        )

    def get_versioned(self) -> Versioned[Settings]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return self._client.versioned(Call("GET", "/api/v1/workspace-settings"))

    def edit(self, change: Change[Settings], *, tries: int = 5) -> Settings:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = Call("GET", "/api/v1/workspace-settings"), Call("PATCH", "/api/v1/workspace-settings")
        return cast("Settings", self._client.edit(read, write, change, tries=tries))
