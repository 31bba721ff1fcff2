"""Client of the Autonomous Inbox API.

`Client` and `AsyncClient` are loaded when they are first asked for, so that `autonomous_inbox.webhooks`, which needs
nothing but the standard library, can be used where no HTTP library is installed.
"""

from typing import TYPE_CHECKING, Any

from autonomous_inbox.errors import (
    ApiError,
    AuthenticationFailed,
    BadRequest,
    Conflict,
    ConnectionFailed,
    Fault,
    InboxError,
    Invalid,
    NotFound,
    PermissionDenied,
    PreconditionFailed,
    RateLimited,
)

if TYPE_CHECKING:
    from autonomous_inbox.client import AsyncClient, Client

__version__ = "0.1.0"

__all__ = [
    "ApiError",
    "AsyncClient",
    "AuthenticationFailed",
    "BadRequest",
    "Client",
    "Conflict",
    "ConnectionFailed",
    "Fault",
    "InboxError",
    "Invalid",
    "NotFound",
    "PermissionDenied",
    "PreconditionFailed",
    "RateLimited",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name in ("Client", "AsyncClient"):
        from autonomous_inbox import client

        return getattr(client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
