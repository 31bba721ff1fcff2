"""The resource `/api/v1/invitations`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Sequence
from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import AsyncPages, AsyncSender
from autonomous_inbox.types import Invitation, InvitationWithLink
from autonomous_inbox.wire import Call, given


class AsyncInvitationsResource:
    """`client.invitations`."""

    def __init__(self, client: AsyncSender) -> None:
        self._client = client

    def list(
        self,
        *,
        created_at__gt: str | None = None,
        created_at__gte: str | None = None,
        created_at__lt: str | None = None,
        created_at__lte: str | None = None,
        cursor: str | None = None,
        email: str | None = None,
        limit: int | None = None,
        sort: Literal["-created_at", "created_at"] | None = None,
        state: Literal["open", "accepted", "expired", "revoked"] | None = None,
        updated_at__gte: str | None = None,
        updated_at__lt: str | None = None,
    ) -> AsyncPages[Invitation]:
        """The invitations of the workspace, newest first. Needs the permission `member.read`. `GET /api/v1/invitations`"""
        return AsyncPages(
            self._client,
            Call(
                "GET",
                "/api/v1/invitations",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "email": email,
                    "limit": limit,
                    "sort": sort,
                    "state": state,
                    "updated_at__gte": updated_at__gte,
                    "updated_at__lt": updated_at__lt,
                },
            ),
        )

    async def create(
        self, *, email: str, roles: Sequence[str], idempotency_key: str | None = None
    ) -> InvitationWithLink:
        """Invite somebody. Nobody gives more than they have. `POST /api/v1/invitations`"""
        return cast(
            "InvitationWithLink",
            await self._client.send(
                Call("POST", "/api/v1/invitations", body=given(email=email, roles=roles), key=idempotency_key)
            ),
        )

    async def get(self, invitation_id: str) -> Invitation:
        """One invitation. Needs the permission `member.read`. `GET /api/v1/invitations/{invitation_id}`"""
        return cast(
            "Invitation", await self._client.send(Call("GET", f"/api/v1/invitations/{quote(invitation_id, safe='')}"))
        )

    async def resend(self, invitation_id: str, *, idempotency_key: str | None = None) -> InvitationWithLink:
        """Send a new link, good for as long as a new invitation; the one before is dead. Needs the permission `member.manage`. `POST /api/v1/invitations/{invitation_id}/resend`"""
        return cast(
            "InvitationWithLink",
            await self._client.send(
                Call("POST", f"/api/v1/invitations/{quote(invitation_id, safe='')}/resend", key=idempotency_key)
            ),
        )

    async def revoke(self, invitation_id: str, *, idempotency_key: str | None = None) -> Invitation:
        """Take an invitation back: its link is dead at once. Needs the permission `member.manage`. `POST /api/v1/invitations/{invitation_id}/revoke`"""
        return cast(
            "Invitation",
            await self._client.send(
                Call("POST", f"/api/v1/invitations/{quote(invitation_id, safe='')}/revoke", key=idempotency_key)
            ),
        )
