"""The resource `/api/v1/members`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Sequence
from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import Change, Pages, Sender
from autonomous_inbox.types import Member
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


class MembersResource:
    """`client.members`."""

    def __init__(self, client: Sender) -> None:
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
        sort: Literal["-created_at", "-updated_at", "created_at", "updated_at"] | None = None,
        status: Literal["active", "suspended"] | None = None,
        updated_at__gte: str | None = None,
        updated_at__lt: str | None = None,
    ) -> Pages[Member]:
        """The members of the workspace, suspended ones included, newest first. Needs the permission `member.read`. `GET /api/v1/members`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/members",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "email": email,
                    "limit": limit,
                    "sort": sort,
                    "status": status,
                    "updated_at__gte": updated_at__gte,
                    "updated_at__lt": updated_at__lt,
                },
            ),
        )

    def get(self, member_id: str) -> Member:
        """One member. Needs the permission `member.read`. `GET /api/v1/members/{member_id}`"""
        return cast("Member", self._client.send(Call("GET", f"/api/v1/members/{quote(member_id, safe='')}")))

    def update(self, member_id: str, *, roles: Sequence[str] | Unset = UNSET, if_match: str | None = None) -> Member:
        """Give a member other roles: exactly these. Needs the permission `member.manage`. `PATCH /api/v1/members/{member_id}`"""
        return cast(
            "Member",
            self._client.send(
                Call(
                    "PATCH", f"/api/v1/members/{quote(member_id, safe='')}", body=given(roles=roles), if_match=if_match
                )
            ),
        )

    def delete(self, member_id: str, *, if_match: str | None = None) -> None:
        """Remove a member, and revoke what they issued. A new invitation lets them in again. `DELETE /api/v1/members/{member_id}`"""
        self._client.send(Call("DELETE", f"/api/v1/members/{quote(member_id, safe='')}", if_match=if_match))

    def reactivate(self, member_id: str, *, idempotency_key: str | None = None) -> Member:
        """Let a suspended member in again, with the roles that they had. Needs the permission `member.manage`. `POST /api/v1/members/{member_id}/reactivate`"""
        return cast(
            "Member",
            self._client.send(
                Call("POST", f"/api/v1/members/{quote(member_id, safe='')}/reactivate", key=idempotency_key)
            ),
        )

    def suspend(
        self, member_id: str, *, keep_credentials: bool | Unset = UNSET, idempotency_key: str | None = None
    ) -> Member:
        """Shut a member out, with effect at their next request, until they are reactivated; and revoke what they issued. Needs the permission `member.manage`. `POST /api/v1/members/{member_id}/suspend`"""
        return cast(
            "Member",
            self._client.send(
                Call(
                    "POST",
                    f"/api/v1/members/{quote(member_id, safe='')}/suspend",
                    body=given(keep_credentials=keep_credentials),
                    key=idempotency_key,
                )
            ),
        )

    def get_versioned(self, member_id: str) -> Versioned[Member]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return self._client.versioned(Call("GET", f"/api/v1/members/{quote(member_id, safe='')}"))

    def edit(self, member_id: str, change: Change[Member], *, tries: int = 5) -> Member:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = (
            Call("GET", f"/api/v1/members/{quote(member_id, safe='')}"),
            Call("PATCH", f"/api/v1/members/{quote(member_id, safe='')}"),
        )
        return cast("Member", self._client.edit(read, write, change, tries=tries))
