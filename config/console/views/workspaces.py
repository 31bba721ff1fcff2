"""Choosing the workspace to work in."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from config.console import places


@require_http_methods(["GET", "POST"])
def choose(request: HttpRequest) -> HttpResponse:
    """Only what the person may enter; anything else does not exist for them. The list is for operators, who must choose."""
    if request.method == "GET":
        return _offer(request)
    if not places.choose(request, request.POST.get("workspace", "")):
        raise Http404("No such workspace.")
    messages.success(request, "You now work in another workspace.")
    return HttpResponseRedirect(reverse("admin:index"))


def _offer(request: HttpRequest) -> HttpResponse:
    if not getattr(request.user, "is_operator", False):
        raise Http404("No such page.")
    return TemplateResponse(request, "console/choose.html", {"title": "Choose", "choices": places.offered()})
