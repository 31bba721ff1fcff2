"""System checks: what a deployment must not start without. `manage.py check --deploy` runs them all."""

from typing import Any

from django.conf import settings
from django.core.checks import Error, Tags, register

from inbox.services import inboxes
from kernel.errors import Invalid


@register(Tags.security, deploy=True)
def crash_points(**_: Any) -> list[Error]:
    """Points at which tests let a process die."""
    if settings.CRASH_POINTS_ENABLED:
        return [Error("CRASH_POINTS_ENABLED is on.", hint="Use config.settings.production.", id="inbox.E001")]
    return []


@register()
def default_policy(**_: Any) -> list[Error]:
    """INBOX_POLICY is read with every mail: better not to start than to fail with each."""
    try:
        inboxes.check_policy({})
    except Invalid as error:
        return [Error(f"INBOX_POLICY cannot be used: {error.detail}", hint="Correct it.", id="inbox.E002")]
    return []


@register()
def send_times(**_: Any) -> list[Error]:
    """A message whose lease has ended counts as one that nobody sends any more: none may end while its conversation lasts."""
    if settings.SEND_DEADLINE_SECONDS < settings.SEND_LEASE_SECONDS:
        return []
    return [
        Error(
            f"SEND_DEADLINE_SECONDS ({settings.SEND_DEADLINE_SECONDS:g}) is not shorter than SEND_LEASE_SECONDS"
            f" ({settings.SEND_LEASE_SECONDS:g}): a message would become uncertain while it is still being sent.",
            hint="Shorten SEND_DEADLINE_SECONDS, or lengthen SEND_LEASE_SECONDS.",
            id="inbox.E003",
        )
    ]
