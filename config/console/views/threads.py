"""A conversation: read it, and act on it."""

from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from config.console import timeline
from config.console.pages import action, needs, page
from inbox.models import Email, OutboundMessage, Thread
from inbox.queries import conversations
from inbox.services import sending, writing
from kernel import clock
from kernel.admin.place import place_of
from kernel.errors import Invalid, NotFound


@needs("thread.read")
def conversation(request: HttpRequest, thread_id: UUID) -> HttpResponse:
    """The whole story of a conversation on one page."""
    found = timeline.read(thread_id, now=clock.now(), everything=request.GET.get("all") == "1")
    if found is None:
        raise NotFound
    end = conversations.end_of(thread_id)
    if end is not None and end.id != thread_id:
        # It was merged: old links lead to where its messages are.
        return redirect("admin:inbox_thread_change", end.id)
    place = place_of(request)
    return page(
        request,
        "conversation",
        str(found.thread),
        conversation=found,
        thread=found.thread,
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
    key = _uuid(request.POST.get("key", ""))
    writing.reply(
        workspace_id=email.workspace_id,
        email_id=email.id,
        text=request.POST.get("text", ""),
        key=str(key),
        author=place_of(request).actor,
    )
    return "Your reply is on its way."


@action("thread.manage")
def note(request: HttpRequest, thread_id: UUID) -> str:
    """Something for colleagues, beside the conversation."""
    thread = Thread.objects.only("id", "workspace_id").filter(id=thread_id).first()
    if thread is None:
        raise NotFound
    writing.note(
        workspace_id=thread.workspace_id,
        thread_id=thread.id,
        text=request.POST.get("text", ""),
        author=place_of(request).actor,
    )
    return "Your note is kept; the customer does not see it."


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
