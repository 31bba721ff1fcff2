"""What `workspace_settings` takes and gives. Times are text in ISO 8601.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from __future__ import annotations

from typing import TypedDict


class Settings(TypedDict):
    object: str
    members_see_team_inboxes_only: bool
    stop_spares_webhooks: bool
