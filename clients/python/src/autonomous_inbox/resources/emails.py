"""The resource `/api/v1/emails`.

Written by tools/write_client.py from the API's description. Change the API, then run it again.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast
from urllib.parse import quote

from autonomous_inbox.paging import Change, Pages, Sender
from autonomous_inbox.types import CorrespondentInput, Email, Reparsed
from autonomous_inbox.wire import UNSET, Call, Unset, Versioned, given


class EmailsResource:
    """`client.emails`."""

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
        expand: Sequence[Literal["inbox", "latest_run", "thread"]] | None = None,
        inbox_id: str | None = None,
        limit: int | None = None,
        mail_class: Literal["human", "auto_reply", "bounce", "list", "spam", "virus", "self"] | None = None,
        message_id: str | None = None,
        sort: Literal["-created_at", "created_at"] | None = None,
        state: Literal[
            "received",
            "stored",
            "parsed",
            "threaded",
            "queued",
            "running",
            "waiting_approval",
            "handled",
            "ignored",
            "quarantined",
            "failed",
        ]
        | None = None,
    ) -> Pages[Email]:
        """Received mail, newest first. Needs the permission `email.read`. `GET /api/v1/emails`"""
        return Pages(
            self._client,
            Call(
                "GET",
                "/api/v1/emails",
                query={
                    "created_at__gt": created_at__gt,
                    "created_at__gte": created_at__gte,
                    "created_at__lt": created_at__lt,
                    "created_at__lte": created_at__lte,
                    "cursor": cursor,
                    "expand": expand,
                    "inbox_id": inbox_id,
                    "limit": limit,
                    "mail_class": mail_class,
                    "message_id": message_id,
                    "sort": sort,
                    "state": state,
                },
            ),
        )

    def create(
        self,
        *,
        from_: CorrespondentInput,
        to: Sequence[CorrespondentInput],
        cc: Sequence[CorrespondentInput] | Unset = UNSET,
        subject: str | Unset = UNSET,
        text: str | Unset = UNSET,
        html: str | Unset = UNSET,
        message_id: str | Unset = UNSET,
        in_reply_to: str | Unset = UNSET,
        references: Sequence[str] | Unset = UNSET,
        headers: Mapping[str, str] | Unset = UNSET,
        custom_metadata: Mapping[str, Any] | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> Email:
        """Hand in a mail. It is stored before the answer (202) and read afterwards; the same Idempotency-Key is the same mail. `POST /api/v1/emails`"""
        return cast(
            "Email",
            self._client.send(
                Call(
                    "POST",
                    "/api/v1/emails",
                    body=given(
                        from_=from_,
                        to=to,
                        cc=cc,
                        subject=subject,
                        text=text,
                        html=html,
                        message_id=message_id,
                        in_reply_to=in_reply_to,
                        references=references,
                        headers=headers,
                        custom_metadata=custom_metadata,
                    ),
                    key=idempotency_key,
                )
            ),
        )

    def create_raw(self, raw: bytes, *, idempotency_key: str | None = None) -> Email:
        """Hand in a mail. It is stored before the answer (202) and read afterwards; the same Idempotency-Key is the same mail. `POST /api/v1/emails`"""
        return cast(
            "Email",
            self._client.send(
                Call("POST", "/api/v1/emails", raw=raw, content_type="message/rfc822", key=idempotency_key)
            ),
        )

    def get(self, email_id: str, *, expand: Sequence[Literal["inbox", "latest_run", "thread"]] | None = None) -> Email:
        """One received mail. Needs the permission `email.read`. `GET /api/v1/emails/{email_id}`"""
        return cast(
            "Email",
            self._client.send(Call("GET", f"/api/v1/emails/{quote(email_id, safe='')}", query={"expand": expand})),
        )

    def update(
        self, email_id: str, *, custom_metadata: Mapping[str, Any] | Unset = UNSET, if_match: str | None = None
    ) -> Email:
        """Note something of yours on a mail: its custom metadata is replaced. Needs the permission `email.create`. `PATCH /api/v1/emails/{email_id}`"""
        return cast(
            "Email",
            self._client.send(
                Call(
                    "PATCH",
                    f"/api/v1/emails/{quote(email_id, safe='')}",
                    body=given(custom_metadata=custom_metadata),
                    if_match=if_match,
                )
            ),
        )

    def raw(self, email_id: str) -> bytes:
        """The message as it came, byte for byte. Needs the permission `email.read`. `GET /api/v1/emails/{email_id}/raw`"""
        return (
            self._client.exchange(
                Call("GET", f"/api/v1/emails/{quote(email_id, safe='')}/raw", accept="message/rfc822")
            )
        ).content

    def reparse(self, email_id: str, *, dry_run: bool | Unset = UNSET, idempotency_key: str | None = None) -> Reparsed:
        """Read the stored message again with the present reader. The answer says what differs; `dry_run` only looks. `POST /api/v1/emails/{email_id}/reparse`"""
        return cast(
            "Reparsed",
            self._client.send(
                Call(
                    "POST",
                    f"/api/v1/emails/{quote(email_id, safe='')}/reparse",
                    body=given(dry_run=dry_run),
                    key=idempotency_key,
                )
            ),
        )

    def get_versioned(self, email_id: str) -> Versioned[Email]:
        """What `get` gives, with its version: pass `etag` as `if_match` to `update`."""
        return self._client.versioned(Call("GET", f"/api/v1/emails/{quote(email_id, safe='')}"))

    def edit(self, email_id: str, change: Change[Email], *, tries: int = 5) -> Email:
        """Read, change and write back: `change` gets what is there and gives the fields to change. If somebody
        else was faster, it is asked again about what is there then."""
        read, write = (
            Call("GET", f"/api/v1/emails/{quote(email_id, safe='')}"),
            Call("PATCH", f"/api/v1/emails/{quote(email_id, safe='')}"),
        )
        return cast("Email", self._client.edit(read, write, change, tries=tries))
