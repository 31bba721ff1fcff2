"""A workspace with one of everything that the API shows, and callers of it."""

import tempfile
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest
from django.test import Client

from audit import worker
from audit.services import anchor_all
from inbox.models import CircuitBreaker, Entry
from inbox.services import breaking, rearranging
from kernel.transactions import in_workspace
from tenancy.models import Membership, MembershipRole, Role
from tenancy.services import inviting, keys
from tests.agents.factories import Office, bind, drain, office, play, receive, work
from tests.factories.every import make
from tests.factories.world import deliver, mail
from tests.keeping import kept
from tests.tenancy.certificates import certificate, pem
from webhooks.models import SystemEvent, WebhookDelivery
from webhooks.services import subscribing


class Caller:
    """A program with a machine key."""

    def __init__(self, workspace_id: UUID, *scopes: str, name: str = "test") -> None:
        key, self.secret = keys.issue(workspace_id=workspace_id, name=name, scopes=list(scopes or ("*",)))
        self.workspace_id, self.key_id = workspace_id, key.id
        self.client = Client(headers={"authorization": f"Bearer {self.secret}"}, raise_request_exception=False)

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        options: dict[str, Any] = {"headers": {name.replace("_", "-"): value for name, value in headers.items()}}
        if body is not None:
            content = body if isinstance(body, bytes) else orjson.dumps(body)
            options |= {"data": content, "content_type": headers.get("content_type", "application/json")}
        return self.client.generic(method, path if path.startswith("/api") else f"/api/v1{path}", **options)

    def get(self, path: str, **headers: str) -> Any:
        return self("GET", path, **headers)


@dataclass
class World:
    """Ids of one of everything, by the first word of its path."""

    office: Office
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> UUID:
        return self.office.id


def _mail_with_attachment() -> bytes:
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"], message["Subject"] = "Bo <bo@customer.test>", "support@acme.test", "A receipt"
    message["Message-ID"] = f"<{uuid4().hex}@customer.test>"
    message.set_content("See the receipt.")
    message.add_attachment(b"%PDF-1.4 receipt", maintype="application", subtype="pdf", filename="receipt.pdf")
    return message.as_bytes()


def _credentials(caller: Caller) -> dict[str, str]:
    """Of another program than the caller, and what is refused already."""
    certificates = {"name": "shop", "certificate": pem(certificate()), "scopes": ["thread.read"]}
    made = {
        "machine-keys": caller("POST", "/machine-keys", {"name": "Shop", "scopes": ["thread.read"]}),
        "client-certificates": caller("POST", "/client-certificates", certificates),
        "revoked-client-certificates": caller(
            "POST", "/revoked-client-certificates", {"serial": "0f", "issuer": "CN=Acme CA"}
        ),
        "revoked-tokens": caller("POST", "/revoked-tokens", {"jti": "a-token"}),
    }
    return {path: answer.json()["id"] for path, answer in made.items()}


def _people(caller: Caller) -> dict[str, str]:
    """A member who is no owner, a role and a team that the workspace has made itself, and somebody who is invited."""
    role = caller("POST", "/roles", {"name": "Shift", "permissions": ["thread.read"]}).json()["id"]
    with in_workspace(caller.workspace_id):
        member = make(Membership, caller.workspace_id)
        make(MembershipRole, caller.workspace_id, membership=member, role=Role.objects.get(id=role))
    team = caller("POST", "/teams", {"name": "Front", "membership_ids": [str(member.id)]}).json()["id"]
    invitation, _ = inviting.invite(workspace_id=caller.workspace_id, email="guest@people.test", role_ids=[role])
    return {
        "members": str(member.id),
        "memberships": str(member.id),
        "roles": role,
        "teams": team,
        "invitations": str(invitation.id),
    }


def _desk(caller: Caller, thread: str) -> dict[str, str]:
    """What colleagues share, and a conversation that bears a label and a note."""
    made = {
        "tags": caller("POST", "/tags", {"name": "Refund", "color": "amber"}),
        "views": caller("POST", "/views", {"name": "All", "filter": {}}),
        "canned-answers": caller("POST", "/canned-answers", {"name": "Hours", "text": "From nine."}),
    }
    ids = {path: answer.json()["id"] for path, answer in made.items()}
    caller("POST", f"{thread}/tags", {"tag_ids": [ids["tags"]]})
    caller("POST", f"{thread}/notes", {"text": "Paid twice."})
    return ids


def _loops(world: World) -> dict[str, str]:
    """A robot whose mails are not answered any more."""
    with in_workspace(world.id):
        breaking.hold(
            workspace_id=world.id,
            inbox_id=world.office.house.inbox.id,
            thread_id=UUID(world.ids["threads"]),
            sender="robot@customer.test",
            cap="sender",
        )
        return {"circuit-breakers": str(CircuitBreaker.objects.get().id)}


def second(world: World) -> tuple[UUID, UUID]:
    """A conversation of two entries that no agent takes, and its later one."""
    sender, first = f"{uuid4().hex[:8]}@customer.test", f"<{uuid4().hex}@customer.test>"
    place = world.office.house
    to = place.inbox.address
    bind(place, None)
    deliver(mail(sender=sender, to=to, message_id=first), to, envelope_from=sender)
    deliver(mail(sender=sender, to=to, in_reply_to=first, text="And 4712?"), to, envelope_from=sender)
    drain()
    bind(place, world.office.agent)
    with in_workspace(world.id):
        entry = Entry.objects.filter(email__from_address=sender).latest("seq")
        assert entry.thread.entry_count == 2
        return entry.thread_id, entry.id


def rearrange(world: World) -> dict[str, str]:
    """A merge of that conversation into the one with the file."""
    thread_id, _ = second(world)
    with in_workspace(world.id):
        into = Entry.objects.get(email__from_address="bo@customer.test").thread_id
    change = rearranging.merge(workspace_id=world.id, thread_id=thread_id, into=into, key=uuid4().hex)
    return {"thread-changes": str(change.id), "merged-threads": str(thread_id), "target-threads": str(into)}


def furnish(name: str = "acme") -> World:
    """A workspace in the middle of its day: a question waits for a person, a webhook has deliveries."""
    place = office(name, autonomy="draft")
    webhook, _ = subscribing.create(workspace_id=place.id, url="https://example.com/hook", slugs=["*"], label="CRM")
    play()
    email = receive(place)
    work()
    deliver(_mail_with_attachment(), f"support@{name}.test", envelope_from="bo@customer.test")
    drain()
    world = World(place, {"webhooks": str(webhook.id), "emails": str(email.id), "inboxes": str(place.house.inbox.id)})
    caller = Caller(place.id)
    world.ids |= _credentials(caller) | _people(caller)
    account = {"provider": "smtp", "configuration": {"host": "mail.example.com", "user": "shop"}, "secret": "not-real"}
    world.ids["connections"] = caller("POST", "/connections", account).json()["id"]
    world.ids["audit-events"] = caller.get("/audit-events?resource_kind=inbox").json()["data"][0]["id"]
    # A folder of its own: the chain of the estate begins anew with each test, and its anchors would contradict it.
    with tempfile.TemporaryDirectory() as folder:
        anchor_all(directory=Path(folder))
    for path in ("agents", "agent-runs", "approvals", "knowledge-sources", "threads"):
        world.ids[path] = caller.get(f"/{path}").json()["data"][-1]["id"]
    world.ids["replies"] = caller.get(f"/approvals/{world.ids['approvals']}").json()["intent_id"]
    with in_workspace(place.id):
        world.ids["webhook-deliveries"] = str(WebhookDelivery.objects.earliest("created_at").id)
        world.ids["system-events"] = str(SystemEvent.objects.earliest("created_at").id)
    world.ids |= _desk(caller, f"/threads/{world.ids['threads']}") | _loops(world) | rearrange(world)
    threads = caller.get("/threads").json()["data"]
    entries = [entry for thread in threads for entry in caller.get(f"/threads/{thread['id']}/entries").json()["data"]]
    world.ids["attachments"] = next(file["id"] for entry in entries for file in entry["attachments"])
    # What was asked just now is in the request log, too.
    worker.flush()
    return world


def acme() -> World:
    """The first workspace of a test."""
    furnished = kept("furnished", furnish)
    play()
    return furnished


@pytest.fixture
def world(db) -> World:
    return acme()


@pytest.fixture
def caller(world: World) -> Caller:
    return Caller(world.id)
