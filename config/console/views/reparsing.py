"""A stored mail read again: first what would change, then the change."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from config.console.pages import needs, page
from inbox.models import Email, Entry
from inbox.services import reparsing
from kernel.errors import DomainError, NotFound


@needs("quarantine.manage")
def reparse(request: HttpRequest, email_id: UUID) -> HttpResponse:
    """What the present reader reads otherwise; a POST takes it over."""
    email = Email.objects.select_related("inbox").filter(id=email_id).first()
    if email is None:
        raise NotFound
    thread_id = Entry.objects.filter(email=email).values_list("thread_id", flat=True).first()
    is_trial = request.method != "POST"
    try:
        changes = reparsing.reparse(workspace_id=email.workspace_id, email_id=email.id, is_trial=is_trial)
    except NotFound:
        raise
    except DomainError as error:
        return page(request, "reparse", "Read again", email=email, thread=thread_id, problem=error.detail)
    if is_trial:
        return page(request, "reparse", "Read again", email=email, thread=thread_id, changes=changes)
    messages.success(request, "Taken over." if changes else "Nothing differed.")
    return HttpResponseRedirect(reverse("admin:inbox_thread_change", args=[thread_id]))
