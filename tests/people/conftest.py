"""A workspace with an owner and an agent, whoever knocks at the door, and a mail server that takes what we send."""

from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import default
from typing import Any

import pytest
from django.test import Client

from config.demo.sink import Sink
from kernel.transactions import in_workspace
from tenancy.models import Membership, Role, RolePermission, User, Workspace
from tenancy.services import inviting
from tenancy.tasks import send_letters
from tests.console import seed
from tests.console.conftest import chromium, server  # noqa: F401 - fixtures
from tests.factories.every import workspace
from tests.keeping import kept

PASSWORD = seed.PASSWORD


@dataclass
class Office:
    """Ada owns it, Bo may do less."""

    workspace: Workspace
    ada: User
    bo: User
    member: Membership
    owner_role: Role
    agent_role: Role

    @property
    def id(self) -> Any:
        return self.workspace.id


def open_office(name: str = "Acme", *, owner: str = "ada@acme.test", agent: str = "bo@acme.test") -> Office:
    place = workspace(name)
    ada, bo = seed.person(owner, name="Ada"), seed.person(agent, name="Bo")
    seed.member(ada, place)
    member = seed.member(bo, place, "workspace.read", "thread.read", "email.read")
    with in_workspace(place.id):
        held = member.role_links.get().role
        return Office(place, ada, bo, member, Role.objects.get(name="owner"), held)


@pytest.fixture
def office(db) -> Office:
    return kept("office", open_office)


@pytest.fixture
def role_that_may(office: Office):
    """Make a role with exactly these permissions."""

    def make(*permissions: str) -> Role:
        with in_workspace(office.id):
            role = Role.objects.create(workspace=office.workspace, name="-".join(permissions)[:60])
            for permission in permissions:
                RolePermission.objects.create(workspace=office.workspace, role=role, permission=permission)
        return role

    return make


def invitation_path(office: Office, email: str) -> str:
    """Without mail: the path of the link, which is shown once."""
    row, link = inviting.invite(workspace_id=office.id, email=email, role_ids=[office.agent_role.id])
    assert str(row.id) not in link
    return "/" + link.split("/", 3)[3]


def knock(
    email: str = "ada@acme.test", password: str = PASSWORD, *, client: Client | None = None, **meta: str
) -> Client:
    """Try to sign in; the client, with its answer on it."""
    client = client or Client()
    client.answer = client.post("/console/login/", {"login": email, "password": password}, **meta)  # type: ignore[attr-defined]
    return client


def is_in(client: Client) -> bool:
    """Whether the console opens."""
    return client.get("/console/").status_code == 200


@pytest.fixture
def post(settings) -> Iterator["Post"]:
    """Mail to staff is configured, and a real server takes it."""
    settings.STAFF_MAIL_FROM = "Acme Inbox <inbox@acme.test>"
    settings.PUBLIC_URL = "https://inbox.acme.test"
    settings.MAIL_TRANSPORT, settings.MAIL_SMTP_HOST, settings.MAIL_SMTP_TLS = "smtp", "127.0.0.1", "none"
    settings.EMAIL_BACKEND = "config.staff_mail.Backend"
    with Sink() as sink:
        settings.MAIL_SMTP_PORT = sink.port
        yield Post(sink)


@dataclass
class Post:
    """What the mail server has taken."""

    sink: Sink

    def letters(self) -> list[Any]:
        """Send what is due; everything that has arrived so far."""
        send_letters()
        return [message_from_bytes(taken.raw, policy=default) for taken in self.sink.ledger.messages]

    def path(self) -> str:
        """Where the link of the latest letter leads."""
        text = self.letters()[-1].get_body(("plain",)).get_content()
        (line,) = [line for line in text.splitlines() if line.startswith("https://inbox.acme.test/")]
        return line.removeprefix("https://inbox.acme.test")
