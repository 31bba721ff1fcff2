"""The nine resources of document 000 with a row of each, and a caller over HTTP."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import orjson
from django.test import Client

from agents.models import Agent, AgentRun, AgentVersion, Execution
from agents.services import configuring
from inbox.models import Attachment, CircuitBreaker, Draft, Email, Inbox, Thread, ThreadChange
from kernel.transactions import in_workspace
from tenancy.models import Workspace
from tenancy.services import keys
from tests.factories.every import make
from tests.factories.world import House, deliver, house
from tickets.models import Annotation, CannedAnswer, SavedView, Tag
from webhooks.models import SystemEvent, Webhook, WebhookDelivery
from webhooks.services import subscribing

SHARED = ("object", "id", "created_at", "updated_at", "deleted_at", "metadata", "custom_metadata")


@dataclass(frozen=True)
class Resource:
    """What document 000 says of a resource, as far as a caller sees it."""

    name: str
    model: type[Any]
    path: str
    # Methods beside GET and HEAD: of the list, and of one.
    on_list: tuple[str, ...] = ()
    on_one: tuple[str, ...] = ()
    # What PATCH may set.
    settable: tuple[str, ...] = ()
    has_external_id: bool = False
    has_list: bool = True


NINE = {
    resource.name: resource
    for resource in (
        Resource(
            "workspace", Workspace, "/workspace", on_one=("PATCH",), settable=("name", "timezone", "custom_metadata"),
            has_external_id=True, has_list=False,
        ),
        Resource(
            "inbox", Inbox, "/inboxes", on_list=("POST",), on_one=("PATCH",),
            settable=("name", "agent_id", "policy", "active", "aliases", "catch_all", "custom_metadata"),
            has_external_id=True,
        ),
        Resource("email", Email, "/emails", on_list=("POST",), on_one=("PATCH",), settable=("custom_metadata",)),
        Resource("attachment", Attachment, "/attachments"),
        Resource(
            "agent", Agent, "/agents", on_list=("POST",), on_one=("PATCH", "DELETE"),
            settable=(
                "name", "status", "autonomy", "provider", "model", "system_prompt", "skills", "permissions", "max_steps",
                "max_cost_micros", "custom_metadata",
            ),
            has_external_id=True,
        ),
        Resource("agent_run", AgentRun, "/agent-runs"),
        Resource(
            "webhook", Webhook, "/webhooks", on_list=("POST",), on_one=("PATCH", "DELETE"),
            settable=("label", "url", "slugs", "headers", "ordered", "rate_per_second", "custom_metadata"),
        ),
        Resource("webhook_delivery", WebhookDelivery, "/webhook-deliveries"),
        Resource("system_event", SystemEvent, "/system-events"),
    )
}  # fmt: skip


class Caller:
    """Somebody with a machine key."""

    def __init__(self, workspace_id: UUID, *scopes: str) -> None:
        _, secret = keys.issue(workspace_id=workspace_id, name="test", scopes=list(scopes or ("*",)))
        self._client = Client(headers={"authorization": f"Bearer {secret}"})

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        options: dict[str, Any] = {"headers": {name.replace("_", "-"): value for name, value in headers.items()}}
        if isinstance(body, bytes):
            options |= {"data": body, "content_type": headers.pop("content_type", "application/json")}
        elif body is not None:
            options |= {"data": orjson.dumps(body), "content_type": "application/json"}
        return self._client.generic(method, f"/api/v1{path}", **options)


@dataclass
class World:
    """A workspace with one of each."""

    house: House
    ids: dict[str, UUID]
    call: Caller
    more: dict[str, UUID] = field(default_factory=dict)

    @property
    def id(self) -> UUID:
        return self.house.id

    def path(self, name: str) -> str:
        """Of the one row."""
        resource = NINE[name]
        return f"{resource.path}/{self.ids[name]}" if resource.has_list else resource.path


def with_file(name: str = "notes.txt", content: bytes = b"hello", *, to: str = "support@acme.test") -> bytes:
    """A mail that carries a file."""
    from email.message import EmailMessage
    from email.policy import SMTP

    message = EmailMessage(policy=SMTP)
    message["From"], message["To"], message["Subject"] = "Ada <ada@customer.test>", to, "With a file"
    message["Message-ID"] = f"<{uuid4().hex}@customer.test>"
    message.set_content("See the file.")
    message.add_attachment(content, maintype="text", subtype="plain", filename=name)
    return message.as_bytes()


def world(name: str = "acme") -> World:
    """Everything by the services where there is one, else by the factories."""
    place = house(name)
    agent = configuring.create(workspace_id=place.id, name="Helper")
    (accepted,) = deliver(with_file(to=place.inbox.address), place.inbox.address)
    webhook, _ = subscribing.create(workspace_id=place.id, url="https://example.com/hook", slugs=["email.*"])
    with in_workspace(place.id):
        email = Email.objects.get(id=accepted.email_id)
        attachment = Attachment.objects.get()
        version = AgentVersion.objects.get(agent_id=agent.id)
    execution = make(Execution, place.id, version=version)
    run = make(AgentRun, place.id, execution=execution, email=email)
    event = make(SystemEvent, place.id)
    with in_workspace(place.id):
        delivery = make(WebhookDelivery, place.id, webhook=webhook, system_event=event)
    ids = {
        "workspace": place.id,
        "inbox": place.inbox.id,
        "email": email.id,
        "attachment": attachment.id,
        "agent": agent.id,
        "agent_run": run.id,
        "webhook": webhook.id,
        "webhook_delivery": delivery.id,
        "system_event": event.id,
    }
    more = {"execution": execution.id, "entry": attachment.entry_id, "file": attachment.file_id}
    with in_workspace(place.id):
        more["thread"] = email.entry.thread_id
    more |= {
        word: make(model, place.id).id
        for word, model in {
            "tag": Tag, "note": Annotation, "view": SavedView, "canned_answer": CannedAnswer, "draft": Draft,
            "circuit_breaker": CircuitBreaker, "thread_change": ThreadChange, "other_thread": Thread,
        }.items()
    }  # fmt: skip
    return World(place, ids, Caller(place.id), more)


def rows(workspace_id: UUID, *, but: Callable[[str], bool] = lambda _: False) -> dict[str, str]:
    """A digest of every row that the workspace has, by table: the row hash of the plan."""
    from django.db import connection

    found = {}
    with in_workspace(workspace_id), connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        for (table,) in cursor.fetchall():
            if but(table):
                continue
            cursor.execute(
                f"SELECT count(*), md5(coalesce(string_agg(md5(t::text), '' ORDER BY md5(t::text)), '')) FROM \"{table}\" t"
            )
            found[table] = str(cursor.fetchone())
    return found


def where_is(workspace_id: UUID, text: str) -> set[tuple[str, str]]:
    """Tables and columns of the workspace that hold a text."""
    from django.db import connection

    found = set()
    with in_workspace(workspace_id), connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
            " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped"
        )
        for table, column in cursor.fetchall():
            cursor.execute(f'SELECT 1 FROM "{table}" WHERE strpos("{column}"::text, %s) > 0 LIMIT 1', [text])
            if cursor.fetchone():
                found.add((table, column))
            cursor.execute(
                f'SELECT 1 FROM "{table}" WHERE strpos("{column}"::text, %s) > 0 LIMIT 1', [text.encode().hex()]
            )
            if cursor.fetchone():
                found.add((table, column))
    return found
