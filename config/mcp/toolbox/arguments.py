"""What the arguments of several tools share."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

Key = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=255,
        pattern=r"^[!-~]+$",
        description="Names this one deed: the same key with the same arguments does nothing twice. Send a new UUID for a"
        " new deed and the same one when you try again.",
    ),
]


class Arguments(BaseModel):
    """Base of all: what is not known is refused, so that a misspelt argument is not silently left out."""

    model_config = ConfigDict(extra="forbid")


class Nothing(Arguments):
    """No arguments."""


class Paged(Arguments):
    """A page of a list."""

    limit: int = Field(default=10, ge=1, le=25, description="Rows on a page.")
    cursor: str | None = Field(default=None, max_length=500, description="`next` of the page before.")


class OneInbox(Arguments):
    inbox_id: UUID


class OneWebhook(Arguments):
    webhook_id: UUID
