"""A workspace with an inbox, and mails, for tests that need one to act on."""

from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from typing import Any
from uuid import UUID, uuid4

from inbox.models import Inbox
from inbox.services import accepting, inboxes, ingesting
from tenancy.models import Workspace
from tenancy.services import domains, provisioning


@dataclass(frozen=True)
class House:
    """One workspace with one open inbox."""

    workspace: Workspace
    inbox: Inbox

    @property
    def id(self) -> UUID:
        return self.workspace.id


def house(name: str = "acme", *, address: str = "", **options: Any) -> House:
    """A workspace that owns `<name>.test`, with the inbox `support@<name>.test`."""
    workspace, _ = provisioning.provision(external_id=uuid4(), name=name.title())
    domains.claim(workspace_id=workspace.id, domain=f"{name}.test")
    domains.confirm(workspace_id=workspace.id, domain=f"{name}.test", proof="test")
    inbox = inboxes.open_inbox(
        workspace_id=workspace.id, address=address or f"support@{name}.test", name=f"{name.title()} Support", **options
    )
    return House(workspace, inbox)


def mail(
    *,
    sender: str = "Ada <ada@customer.test>",
    to: str = "support@acme.test",
    subject: str = "Where is my order?",
    text: str = "Hello, where is order 4711?",
    message_id: str = "",
    **headers: str,
) -> bytes:
    """A raw mail. Header names are given with underscores: `in_reply_to="<…>"`."""
    message = EmailMessage(policy=SMTP)
    message["From"] = sender
    message["To"] = to
    message["Subject"] = subject
    message["Date"] = "Thu, 05 Nov 2026 09:00:00 +0000"
    message["Message-ID"] = message_id or f"<{uuid4().hex}@customer.test>"
    for name, value in headers.items():
        message[name.replace("_", "-").title()] = value
    message.set_content(text)
    return message.as_bytes()


def deliver(raw: bytes, *recipients: str, provider_id: str = "", envelope_from: str = "ada@customer.test") -> list[Any]:
    """Hand a mail in as SES would, and let the ingest work."""
    accepted = hand_in(raw, *recipients, provider_id=provider_id, envelope_from=envelope_from)
    ingesting.process_all()
    return accepted


def hand_in(raw: bytes, *recipients: str, provider_id: str = "", envelope_from: str = "ada@customer.test") -> list[Any]:
    """Hand a mail in, and no more."""
    return accepting.accept(
        source="ses",
        provider_message_id=provider_id or f"ses-{uuid4().hex}",
        raw=raw,
        recipients=recipients or ("support@acme.test",),
        envelope_from=envelope_from,
    )
