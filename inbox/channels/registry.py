"""The transport that this installation sends with."""

from django.conf import settings

from inbox.channels.ses import SesTransport
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
