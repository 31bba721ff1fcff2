"""A conversation: read it, and act on it."""

from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from config.console import desk, timeline
from config.console.pages import action, needs, page
from config.console.views.desk import SNOOZES
from inbox.models import Email, OutboundMessage, Thread
from inbox.queries import conversations
from inbox.services import drafting, reading, sending, writing
from kernel import clock
from kernel.admin.place import place_of
from kernel.context import Actor
from kernel.errors import DomainError, Invalid, NotFound
from tenancy.queries import members
from tickets.queries import labels
from tickets.services import noting


@needs("thread.read")
def conversation(request: HttpRequest, thread_id: UUID) -> HttpResponse:
    """The whole story of a conversation on one page."""
    found = timeline.read(thread_id, now=clock.now(), everything=request.GET.get("all") == "1")
    if found is None:
        raise NotFound
    if found.thread.merged_into_id is not None and (end := conversations.end_of(thread_id)) is not None:
        # Old links lead to where its messages are.
        return redirect("admin:inbox_thread_change", end.id)
    place, member, thread = place_of(request), desk.me(request), found.thread
    if member:
        reading.mark_read(
            workspace_id=thread.workspace_id, thread_id=thread.id, membership_id=member, seq=thread.last_entry_seq
        )
    return page(
        request,
        "conversation",
        str(thread),
        conversation=found,
        thread=thread,
        tags=labels.of_threads([thread.id]).get(thread.id, []),
        all_tags=list(labels.tags()[:200]),
        answers=list(labels.answers()[:500]),
        members=members.active(),
        member=member,
        person=request.user,
        snoozes=SNOOZES,
        draft=drafting.current(thread_id=thread.id, author=place.actor, merged=found.merged),
        may_reparse=place.allows("quarantine.manage"),
        may_decide=place.allows("approval.decide"),
        may_send=place.allows("email.send"),
        may_manage=place.allows("thread.manage"),
        draft_key=uuid4(),
    )


@action("email.send")
def reply(request: HttpRequest, thread_id: UUID) -> str:
    """A person answers the customer. The form's key makes a second click the same reply."""
    email_id = _uuid(request.POST.get("email", ""))
    email = Email.objects.only("id", "workspace_id").filter(id=email_id, entry__thread_id=thread_id).first()
    if email is None:
        raise NotFound
    key, seen = _uuid(request.POST.get("key", "")), request.POST.get("seen", "")
    who, text = place_of(request).actor, request.POST.get("text", "")
    try:
        writing.reply(
            workspace_id=email.workspace_id,
            email_id=email.id,
            text=text,
            key=str(key),
            author=who,
            seen=int(seen) if seen.isdecimal() else None,
        )
    except DomainError:
        _keep(email.workspace_id, thread_id, text, who)
        raise
    return "Your reply is on its way."


def _keep(workspace_id: UUID, thread_id: UUID, text: str, author: Actor) -> None:
    """What was written is there again on the page that says why it was not sent."""
    if not text.strip():
        return
    kept = drafting.current(thread_id=thread_id, author=author)
    with suppress(DomainError):
        drafting.save(
            workspace_id=workspace_id,
            thread_id=thread_id,
            author=author,
            text=text,
            version=kept.version if kept else 0,
        )


@action("thread.manage")
def note(request: HttpRequest, thread_id: UUID) -> str:
    """Something for colleagues, beside the conversation."""
    thread = Thread.objects.only("id", "workspace_id").filter(id=thread_id).first()
    if thread is None:
        raise NotFound
    noting.write(
        workspace_id=thread.workspace_id,
        thread_id=thread.id,
        text=request.POST.get("note", ""),
        author=place_of(request).actor,
        # "Nobody" is an empty choice.
        mentions=[_uuid(text) for text in request.POST.getlist("mention") if text],
    )
    return "Your note is kept; the customer does not see it."


@needs("email.send")
@require_POST
def draft(request: HttpRequest, thread_id: UUID) -> HttpResponse:
    """Keep what is written so far. 409 with the other text where another device was first."""
    thread = Thread.objects.only("id", "workspace_id").filter(id=thread_id).first()
    if thread is None:
        raise NotFound
    where: dict[str, Any] = {
        "workspace_id": thread.workspace_id,
        "thread_id": thread.id,
        "author": place_of(request).actor,
    }
    text, version = request.POST.get("text", ""), request.POST.get("version", "0")
    try:
        if not text.strip() and version != "0":
            drafting.discard(**where)
            return JsonResponse({"version": 0})
        row = drafting.save(**where, text=text, version=int(version) if version.isdecimal() else 0)
    except NotFound:
        return JsonResponse({"version": 0})
    except DomainError as error:
        return JsonResponse({"detail": error.detail} | error.extra, status=error.status)
    return JsonResponse({"version": row.version})


@action("email.send")
def settle(request: HttpRequest, outbound_id: UUID) -> str:
    """A person knows what became of an uncertain message: it arrived, or it is sent again."""
    row = OutboundMessage.objects.only("id", "workspace_id").filter(id=outbound_id).first()
    if row is None:
        raise NotFound
    accepted = request.POST.get("arrived") == "yes"
    sending.settle(workspace_id=row.workspace_id, outbound_message_id=row.id, accepted=accepted)
    return "Noted: the message arrived." if accepted else "The same message is sent once more."


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise Invalid("The form is incomplete. Reload the page and try again.") from error
