"""Images in mail, for a reader's browser: by links of ours that end, drawn anew, and never from anybody else's server."""

import hashlib
import threading
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core import signing

from audit.services import record
from files.queries import open_file
from files.services import picturing
from files.services.picturing import NoPicture
from inbox.channels import pictures
from inbox.channels.pictures import NotFetched
from inbox.mime import clean_html
from inbox.models import Attachment, Entry, RemoteImage
from kernel import clock
from kernel.errors import Busy, NotFound
from kernel.redaction import LINK
from kernel.transactions import in_all_workspaces, in_workspace

_SALT = "inbox.images"
_MOST = 300
_PROBLEM_SECONDS = 300


@dataclass(frozen=True)
class Picture:
    """What a browser gets."""

    content: bytes
    content_type: str


@dataclass(frozen=True)
class Shown:
    """A mail's own formatting with its images as links of ours; `held` remote ones wait to be asked for."""

    html: str
    held: int


def show(entry: Entry, *, remote: bool, prefix: str) -> Shown:
    """The formatting of an entry of the current workspace. `remote`: a person has asked for images from outside."""
    inline = {
        row.content_id.strip("<>").lower(): row.id
        for row in Attachment.objects.filter(entry_id=entry.id).exclude(content_id="")
    }
    links: dict[str, str | None] = {}

    def image(address: str) -> str | None:
        if address not in links and len(links) < _MOST:
            links[address] = _link(entry.workspace_id, address, inline, remote=remote, prefix=prefix)
        return links.get(address)

    if remote:
        record(
            workspace_id=entry.workspace_id,
            action="images.show",
            resource_kind="entry",
            resource_id=entry.id,
            payload={},
        )
    return Shown(clean_html.present(entry.body_html, image), clean_html.remote_images(entry.body_html))


def _link(workspace_id: UUID, address: str, inline: dict[str, UUID], *, remote: bool, prefix: str) -> str | None:
    if address.startswith("cid:"):
        found = inline.get(address[4:].lower())
        return prefix + _sign({"w": str(workspace_id), "a": str(found)}) if found else None
    return prefix + _sign({"w": str(workspace_id), "u": address}) if remote else None


def _sign(what: dict[str, str]) -> str:
    return LINK + signing.dumps(what, salt=_SALT, compress=True)


def _signed(token: str) -> str:
    """The signed part. A link is good in one form only: the one that the logs know."""
    if not token.startswith(LINK):
        raise signing.BadSignature("it does not begin as our links do")
    return token.removeprefix(LINK)


def picture(token: str) -> Picture:
    """The image that a link of ours stands for. NotFound for what is no link, has ended, or cannot be shown."""
    try:
        what: dict[str, Any] = signing.loads(_signed(token), salt=_SALT, max_age=settings.IMAGE_LINK_SECONDS)
    except signing.BadSignature as error:
        raise NotFound("This link to an image has ended. Open the message again.") from error
    workspace_id = UUID(what["w"])
    if "a" in what:
        return _attached(workspace_id, UUID(what["a"]))
    return _kept(workspace_id, what["u"]) or _fetched(workspace_id, what["u"])


def _attached(workspace_id: UUID, attachment_id: UUID) -> Picture:
    with in_workspace(workspace_id):
        row = Attachment.objects.filter(id=attachment_id).first()
        if row is None:
            raise NotFound
        _, chunks = open_file(file_id=row.file_id)
        content = b"".join(chunks)
    try:
        return Picture(*picturing.redraw(content))
    except NoPicture as error:
        raise NotFound(str(error)) from error


def _kept(workspace_id: UUID, address: str) -> Picture | None:
    with in_workspace(workspace_id):
        row = RemoteImage.objects.filter(address_hash=_hash(address), expires_at__gt=clock.now()).first()
    if row is None:
        return None
    if row.problem:
        raise NotFound(row.problem)
    return Picture(bytes(row.content), row.content_type)


@cache
def _places() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(settings.IMAGE_FETCHES)


def _fetched(workspace_id: UUID, address: str) -> Picture:
    """Asked for outside of any transaction; a slow server of a stranger may not hold all of ours."""
    if not _places().acquire(blocking=False):
        raise Busy("Too many images are being fetched. Try again in a moment.")
    try:
        content, kind, problem = *picturing.redraw(pictures.fetch(address)), ""
    except (NotFetched, NoPicture) as error:
        content, kind, problem = b"", "", str(error)[:200] or "not fetched"
    finally:
        _places().release()
    keep = timedelta(seconds=_PROBLEM_SECONDS if problem else settings.IMAGE_KEEP_SECONDS)
    fields = {"content": content, "content_type": kind, "problem": problem, "expires_at": clock.now() + keep}
    with in_workspace(workspace_id):
        RemoteImage.objects.update_or_create(workspace_id=workspace_id, address_hash=_hash(address), defaults=fields)
    if problem:
        raise NotFound(problem)
    return Picture(content, kind)


def prune() -> int:
    """Forget images whose time has ended."""
    with in_all_workspaces("the cache of every workspace ends by itself"):
        return RemoteImage.objects.filter(expires_at__lt=clock.now()).delete()[0]


def _hash(address: str) -> bytes:
    return hashlib.sha256(address.encode()).digest()
