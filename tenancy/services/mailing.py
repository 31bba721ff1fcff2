"""Letters to staff: queued as a row, sent by a worker; a letter whose link is a secret has one of its own.

The worker takes a row with a lease, makes the secret, keeps its hash, and only then sends: the link works when it arrives.
A worker that dies leaves the row to the next one, whose letter has another link, and the earlier one is dead; so there can
be two letters, and never two links.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string

from kernel import clock, nudge
from kernel.transactions import after_commit, current_unit, in_all_workspaces
from tenancy.credentials import links
from tenancy.models import Invitation, Notice, ResetToken
from tenancy.queries import people
from tenancy.types import MailState, MembershipStatus

logger = logging.getLogger(__name__)

TASK = "tenancy.tasks.send_letters"
Letter = Invitation | ResetToken | Notice
_COLUMNS = ["mail_state", "mail_due_at", "mail_attempts", "mail_error"]


@dataclass(frozen=True)
class _Ready:
    """A letter that this worker sends now."""

    model: type[Letter]
    row_id: UUID
    attempts: int
    to: str
    template: str
    path: str
    facts: dict[str, Any]


def is_configured() -> bool:
    """Whether mail to staff leaves this installation."""
    return bool(settings.STAFF_MAIL_FROM)


def link_to(path: str) -> str:
    """The address of a page of ours, as somebody outside reaches it."""
    return f"{str(settings.PUBLIC_URL).rstrip('/')}{path}"


def queue(row: Invitation, *, path: Callable[[str], str]) -> str:
    """Have a saved row's link mailed after the commit; or, where no mail is configured, the link itself, this once."""
    if is_configured():
        mark(row)
        row.save(update_fields=["token_hash", *_COLUMNS])
        return ""
    token = links.new_token()
    row.token_hash, row.mail_state, row.mail_due_at = links.digest(token), MailState.NONE, None
    row.save(update_fields=["token_hash", "mail_state", "mail_due_at"])
    return link_to(path(token))


def mark(row: Letter) -> None:
    """Queue a letter; the caller saves the row, in its unit of work. A link from before is dead at once."""
    current_unit()
    if not isinstance(row, Notice):
        row.token_hash = None
    row.mail_error = ""
    row.mail_state, row.mail_due_at, row.mail_attempts = MailState.QUEUED, clock.now(), 0
    after_commit(lambda: nudge.wake(TASK))


def send_due(*, keep_going: Callable[[], bool] = lambda: True) -> int:
    """Send what is due, until `keep_going` says no; how many letters left."""
    sent = 0
    for model in (Invitation, ResetToken, Notice):
        while keep_going() and (ready := _take(model)) is not None:
            sent += _send(ready)
    return sent


def _take(model: type[Letter]) -> _Ready | None:
    """One due row, leased, with a new secret; rows that need no letter end on the way."""
    with in_all_workspaces("the worker mails for every workspace and every person"):
        for row in _due(model):
            row.mail_state = MailState.SENDING
            row.mail_due_at = clock.now() + timedelta(seconds=settings.STAFF_MAIL_LEASE_SECONDS)
            row.mail_attempts += 1
            ready, names = (_of_notice(row), _COLUMNS) if isinstance(row, Notice) else _with_secret(row)
            if ready is None:
                row.mail_state, row.mail_due_at = MailState.NONE, None
            row.save(update_fields=names)
            if ready is not None:
                return ready
    return None


def _with_secret(row: Invitation | ResetToken) -> tuple[_Ready | None, list[str]]:
    """The letter with a new link, and the columns that changed; without a letter, the link from before is dead, too."""
    token = links.new_token()
    ready = _of_invitation(row, token) if isinstance(row, Invitation) else _of_reset(row, token)
    row.token_hash = links.digest(token) if ready else None
    names = ["token_hash", *_COLUMNS]
    return ready, [*names, "user"] if isinstance(row, ResetToken) else names


def _due(model: type[Letter]) -> Iterator[Any]:
    rows: Any = model.objects.select_for_update(skip_locked=True, of=("self",), no_key=True)
    while True:
        row = (
            rows.filter(mail_state__in=[MailState.QUEUED, MailState.SENDING], mail_due_at__lte=clock.now())
            .order_by("mail_due_at")
            .first()
        )
        if row is None:
            return
        yield row


def _of_invitation(row: Invitation, token: str) -> _Ready | None:
    if row.accepted_at or row.revoked_at or row.expires_at <= clock.now():
        return None
    facts = {"workspace": row.workspace.name, "inviter": row.invited_by_label, "expires_at": row.expires_at}
    path = f"/console/join/{token}/"
    return _Ready(Invitation, row.id, row.mail_attempts, row.email, "invitation", path, facts)


def _of_reset(row: ResetToken, token: str) -> _Ready | None:
    user = people.by_email(row.email)
    if user is None or row.used_at or row.expires_at <= clock.now():
        return None
    row.user = user
    facts = {"name": str(user), "expires_at": row.expires_at, "address": row.address}
    path = f"/console/password/new/{token}/"
    return _Ready(ResetToken, row.id, row.mail_attempts, user.email, "password_reset", path, facts)


def _of_notice(row: Notice) -> _Ready | None:
    member = row.membership
    if member.status != MembershipStatus.ACTIVE or not member.user.is_active:
        return None
    facts = {"subject": row.subject, "text": row.text, "workspace": row.workspace.name}
    return _Ready(Notice, row.id, row.mail_attempts, member.user.email, "notice", row.path, facts)


def _send(ready: _Ready) -> int:
    """Outside of any transaction; then write down how it went, unless another worker has taken the row over."""
    try:
        _letter(ready).send()
    except Exception as error:  # noqa: BLE001 - whatever the transport raises: the letter did not leave
        logger.warning("a letter to staff did not leave", extra={"letter": ready.template, "error": str(error)})
        _settle(ready, error=f"{type(error).__name__}: {error}"[:300])
        return 0
    _settle(ready)
    return 1


def _letter(ready: _Ready) -> EmailMultiAlternatives:
    facts = ready.facts | {"link": link_to(ready.path), "site": settings.UNFOLD["SITE_TITLE"]}
    subject, _, text = render_to_string(f"email/{ready.template}.txt", facts).partition("\n")
    message = EmailMultiAlternatives(
        subject.removeprefix("Subject: ").strip(), text.strip() + "\n", settings.STAFF_MAIL_FROM, [ready.to]
    )
    message.attach_alternative(render_to_string(f"email/{ready.template}.html", facts), "text/html")
    # Answering machines leave it alone (RFC 3834).
    message.extra_headers["Auto-Submitted"] = "auto-generated"
    return message


def _settle(ready: _Ready, *, error: str = "") -> None:
    with in_all_workspaces("the worker mails for every workspace and every person"):
        rows: Any = ready.model.objects.filter(
            id=ready.row_id, mail_state=MailState.SENDING, mail_attempts=ready.attempts
        )
        delays = settings.STAFF_MAIL_RETRY_SECONDS
        if not error:
            rows.update(mail_state=MailState.SENT, mail_due_at=None, mail_error="")
        elif ready.attempts > len(delays):
            rows.update(mail_state=MailState.FAILED, mail_due_at=None, mail_error=error)
        else:
            later = clock.now() + timedelta(seconds=delays[ready.attempts - 1])
            rows.update(mail_state=MailState.QUEUED, mail_due_at=later, mail_error=error)
