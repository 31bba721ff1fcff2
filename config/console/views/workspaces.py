"""Choosing the workspace to work in."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from config.console import places


@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Only what the person may enter; anything else does not exist for them."""
    wanted = request.POST.get("workspace", "")
    if not places.may_choose(request.user, wanted):
        raise Http404("No such workspace.")
    request.session[places.SESSION_KEY] = wanted
    messages.success(request, "You now work in another workspace.")
    return HttpResponseRedirect(reverse("admin:index"))
