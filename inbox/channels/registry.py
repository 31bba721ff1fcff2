"""The transport that this installation sends with, and what it makes of our ids."""

from django.conf import settings

from inbox.channels.ses import SesTransport, message_id
from inbox.channels.smtp import SmtpTransport
from inbox.channels.transport import Transport


def transport() -> Transport:
    """SMTP or SES, as MAIL_TRANSPORT says."""
    if settings.MAIL_TRANSPORT == "ses":
        return SesTransport(settings.AWS_REGION, settings.AWS_ENDPOINT_URL, settings.SES_CONFIGURATION_SET)
    return SmtpTransport(
        host=settings.MAIL_SMTP_HOST,
        port=settings.MAIL_SMTP_PORT,
        user=settings.MAIL_SMTP_USER,
        password=settings.MAIL_SMTP_PASSWORD,
        tls=settings.MAIL_SMTP_TLS,
        timeout=settings.SEND_TIMEOUT_SECONDS,
    )


def rewritten(reference: str) -> str:
    """The Message-ID that mail with this reference of SES has at its recipient."""
    return message_id(reference, settings.AWS_REGION)
