"""What the workspace decides for itself."""

from django.http import HttpRequest, HttpResponse

from config.console.pages import action, needs, page
from kernel.admin.place import place_of
from kernel.errors import Conflict
from tenancy import settings
from tenancy.queries import workspaces
from tenancy.services import describing

_TITLES = {
    "members_see_team_inboxes_only": "Members see the inboxes of their teams only",
    "stop_spares_webhooks": "Webhooks go on during an emergency stop",
}


@needs("workspace.manage")
def shown(request: HttpRequest) -> HttpResponse:
    """Each setting as a switch, with what it means."""
    chosen = place_of(request).workspace_id
    now = settings.shown(workspaces.current(chosen).settings) if chosen else {}
    switches = [
        {"name": name, "title": _TITLES[name], "text": settings.KNOWN[name][1], "on": on} for name, on in now.items()
    ]
    return page(request, "settings", "Settings", switches=switches)


@action("workspace.manage")
def change(request: HttpRequest) -> str:
    """All of them at once, as the form shows them."""
    chosen = place_of(request).workspace_id
    if chosen is None:
        raise Conflict("Choose the workspace whose settings you want to change.")
    describing.decide(workspace_id=chosen, changes={name: name in request.POST for name in settings.KNOWN})
    return "Saved; it holds at everybody's next click."
