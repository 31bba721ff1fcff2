"""Every change of a webhook, in the audit trail."""

from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from audit.services import record


def note(*, workspace_id: UUID, webhook_id: UUID, verb: str, **details: Any) -> None:
    """Record who did what to a webhook. `details` never hold a secret, a header or a whole URL."""
    record(
        workspace_id=workspace_id,
        action=f"webhook.{verb}",
        resource_kind="webhook",
        resource_id=webhook_id,
        payload=details,
    )


def host_of(url: str) -> str:
    """The part of a URL that may be shown everywhere: paths and queries of hooks often hold a credential."""
    return urlsplit(url).hostname or ""
