"""Mail to staff leaves as mail to customers does: by the installation's own transport, SMTP or SES."""

from collections.abc import Sequence
from email.utils import parseaddr

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from inbox.channels import registry


class Backend(BaseEmailBackend):
    """Django's door to it. Raises what the transport raises: NotAccepted or MaybeAccepted."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        transport = registry.transport()
        for message in email_messages:
            transport.send(
                raw=message.message().as_bytes(linesep="\r\n"),  # type: ignore[call-arg]  # Django's own class takes it
                envelope_from=parseaddr(message.from_email)[1],
                envelope_to=message.recipients(),
                tag="staff",
            )
        return len(email_messages)
