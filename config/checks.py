"""System checks: what a deployment must not start without. `manage.py check --deploy` runs them all."""

from typing import Any

from django.conf import settings
from django.core.checks import Error, Tags, register

from inbox.services import inboxes
from kernel.errors import Invalid


@register(Tags.security, deploy=True)
def unsafe_settings(**_: Any) -> list[Error]:
    """Settings that only tests and development may have."""
    found = []
    if settings.CRASH_POINTS_ENABLED:
        found.append(Error("CRASH_POINTS_ENABLED is on.", hint="Use config.settings.production.", id="inbox.E001"))
    if settings.SNS_CERTIFICATE_FILE:
        found.append(Error("SNS_CERTIFICATE_FILE replaces Amazon's certificate.", hint="Unset it.", id="inbox.E002"))
    if settings.OUTBOUND_ALLOW_HTTP or settings.OUTBOUND_ALLOWED_NETWORKS:
        found.append(
            Error(
                "Outbound requests may reach private networks or use plain http.",
                hint="Unset OUTBOUND_ALLOW_HTTP and OUTBOUND_ALLOWED_NETWORKS.",
                id="inbox.E003",
            )
        )
    return found


@register()
def default_policy(**_: Any) -> list[Error]:
    """INBOX_POLICY is read with every mail: better not to start than to fail with each."""
    try:
        inboxes.check_policy({})
    except Invalid as error:
        return [Error(f"INBOX_POLICY cannot be used: {error.detail}", hint="Correct it.", id="inbox.E004")]
    return []
