"""The transports that this installation sends with, and what they make of our ids."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from inbox.channels.ses import SesTransport, message_id
from inbox.channels.smtp import SmtpTransport
from inbox.channels.transport import Transport
from inbox.types import Provider
from kernel.secrecy import Secret


def transport() -> Transport:
    """What the installation is set up with: SMTP or SES, as MAIL_TRANSPORT says."""
    if settings.MAIL_TRANSPORT == Provider.SES:
        return SesTransport(settings.AWS_REGION, settings.AWS_ENDPOINT_URL, settings.SES_CONFIGURATION_SET)
    return SmtpTransport(
        host=settings.MAIL_SMTP_HOST,
        port=settings.MAIL_SMTP_PORT,
        user=settings.MAIL_SMTP_USER,
        password=Secret(settings.MAIL_SMTP_PASSWORD),
        tls=settings.MAIL_SMTP_TLS,
        timeout=settings.SEND_TIMEOUT_SECONDS,
        deadline=settings.SEND_DEADLINE_SECONDS,
    )


def connected(provider: str, configuration: Mapping[str, Any], secret: Secret) -> Transport:
    """What a workspace has connected. Its configuration has been through `inbox.normalise.connection`."""
    if provider == Provider.SES:
        return SesTransport(
            region=configuration["region"],
            endpoint=settings.AWS_ENDPOINT_URL,
            configuration_set=configuration["configuration_set"],
            access_key_id=configuration["access_key_id"],
            secret=secret,
        )
    return SmtpTransport(
        host=configuration["host"],
        port=configuration["port"],
        user=configuration["user"],
        password=secret,
        tls=configuration["tls"],
        timeout=settings.SEND_TIMEOUT_SECONDS,
        deadline=settings.SEND_DEADLINE_SECONDS,
        guarded=True,
    )


def rewritten(reference: str, *, region: str = "") -> str:
    """The Message-ID that mail with this reference of SES has at its recipient."""
    return message_id(reference, region or settings.AWS_REGION)
