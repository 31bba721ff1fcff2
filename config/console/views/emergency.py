"""Stop and release, from the header of every page."""

from uuid import UUID

from django.http import HttpRequest

from config.console.pages import action
from kernel.admin.place import place_of
from kernel.errors import Conflict
from tenancy.services import stopping


@action("workspace.stop")
def stop(request: HttpRequest) -> str:
    """Nothing leaves any more."""
    stopping.stop(workspace_id=_workspace(request), reason=request.POST.get("reason", ""))
    return "Stopped: nothing leaves this workspace until somebody releases it."


@action("workspace.resume")
def release(request: HttpRequest) -> str:
    """What waited goes on."""
    stopping.release(workspace_id=_workspace(request), reason=request.POST.get("reason", ""))
    return "Released: what waited goes on now."


def _workspace(request: HttpRequest) -> UUID:
    chosen = place_of(request).workspace_id
    if chosen is None:
        raise Conflict("Choose the workspace to stop: there is no stop for all of them at once.")
    return chosen
