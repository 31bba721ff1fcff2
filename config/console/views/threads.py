"""A conversation: read it, and act on it."""

from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from config.console import desk, timeline
from config.console.pages import action, back, needs, page
from config.console.views.desk import SNOOZES
from inbox.models import Email, OutboundMessage, Thread
from inbox.queries import conversations
from inbox.services import drafting, reading, sending, writing
from kernel import clock, context
from kernel.admin.place import place_of
from kernel.context import Actor
from kernel.errors import DomainError, Forbidden, Invalid, NotFound
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
    return _shown(request, found)


def _shown(request: HttpRequest, found: timeline.Conversation, **more: Any) -> HttpResponse:
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
        **more,
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


@needs("thread.manage")
@require_http_methods(["GET", "POST"])
def note(request: HttpRequest, thread_id: UUID) -> HttpResponse:
    """Something for colleagues, beside the conversation. A refusal comes on the same page, with the words in their box."""
    thread = Thread.objects.only("id", "workspace_id").filter(id=thread_id).first()
    if thread is None:
        raise NotFound
    if request.method != "POST":
        # The address of the page that a refusal came on: where its other forms, and a reload, come back to.
        return redirect("admin:inbox_thread_change", thread.id)
    try:
        noting.write(
            workspace_id=thread.workspace_id,
            thread_id=thread.id,
            text=request.POST.get("note", ""),
            author=place_of(request).actor,
            # "Nobody" is an empty choice.
            mentions=[_uuid(text) for text in request.POST.getlist("mention") if text],
        )
    except NotFound:
        raise
    except DomainError as error:
        return _note_again(request, thread.id, error)
    messages.success(request, "Your note is kept; the customer does not see it.")
    return redirect(back(request))


def _note_again(request: HttpRequest, thread_id: UUID, error: DomainError) -> HttpResponse:
    """Not a draft, as of a reply: those stand in the box of what goes to the customer."""
    context.refused(error.code, denied=isinstance(error, Forbidden))
    place_of(request).require("thread.read")
    # It may have been merged into another since.
    end = conversations.end_of(thread_id)
    found = timeline.read(end.id, now=clock.now()) if end else None
    if found is None:
        raise error
    refused = {"text": request.POST.get("note", ""), "mention": request.POST.get("mention", ""), "why": error.detail}
    response = _shown(request, found, refused_note=refused)
    response.status_code = error.status
    return response


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
