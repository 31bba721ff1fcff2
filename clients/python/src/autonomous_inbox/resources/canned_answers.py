"""The resource `/api/v1/canned-answers`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from typing import Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import Change, Pages, Sender
from autonomous_inbox.types import Answer
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


class CannedAnswersResource:
    """`client.canned_answers`."""

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
        limit: int | None = None,
        sort: Literal["-created_at", "-name", "-updated_at", "created_at", "name", "updated_at"] | None = None,
        updated_at__gte: str | None = None,
        updated_at__lt: str | None = None,
    ) -> Pages[Answer]:
        """The canned answers of the workspace. Needs the permission `thread.read`. `GET /api/v1/canned-answers`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/canned-answers",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "limit": limit,
                    "sort": sort,
                    "updated_at__gte": updated_at__gte,
                    "updated_at__lt": updated_at__lt,
                },
            ),
        )

    def create(self, *, name: str, text: str, idempotency_key: str | None = None) -> Answer:
        """Keep a text for all. Needs the permission `view.manage`. `POST /api/v1/canned-answers`"""
        return cast(
            "Answer",
            self._client.send(
                Call("POST", "/api/v1/canned-answers", body=given(name=name, text=text), key=idempotency_key)
            ),
        )

    def get(self, canned_answer_id: str) -> Answer:
        """One canned answer. Needs the permission `thread.read`. `GET /api/v1/canned-answers/{canned_answer_id}`"""
        return cast(
            "Answer", self._client.send(Call("GET", f"/api/v1/canned-answers/{quote(canned_answer_id, safe='')}"))
        )

    def update(
        self,
        canned_answer_id: str,
        *,
        name: str | Unset = UNSET,
        text: str | Unset = UNSET,
        if_match: str | None = None,
    ) -> Answer:
        """Change a canned answer. Needs the permission `view.manage`. `PATCH /api/v1/canned-answers/{canned_answer_id}`"""
        return cast(
            "Answer",
            self._client.send(
                Call(
                    "PATCH",
                    f"/api/v1/canned-answers/{quote(canned_answer_id, safe='')}",
                    body=given(name=name, text=text),
                    if_match=if_match,
                )
            ),
        )

    def delete(self, canned_answer_id: str, *, if_match: str | None = None) -> None:
        """Delete a canned answer. Needs the permission `view.manage`. `DELETE /api/v1/canned-answers/{canned_answer_id}`"""
        self._client.send(
            Call("DELETE", f"/api/v1/canned-answers/{quote(canned_answer_id, safe='')}", if_match=if_match)
        )

    def get_versioned(self, canned_answer_id: str) -> Versioned[Answer]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return self._client.versioned(Call("GET", f"/api/v1/canned-answers/{quote(canned_answer_id, safe='')}"))

    def edit(self, canned_answer_id: str, change: Change[Answer], *, tries: int = 5) -> Answer:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = (
            Call("GET", f"/api/v1/canned-answers/{quote(canned_answer_id, safe='')}"),
            Call("PATCH", f"/api/v1/canned-answers/{quote(canned_answer_id, safe='')}"),
        )
        return cast("Answer", self._client.edit(read, write, change, tries=tries))
