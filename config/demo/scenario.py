"""The demo's set-up, through the same services as the API. Running it again finds what is there."""

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid5

from agents.models import Agent, KnowledgeSource
from agents.services import configuring, learning
from config.demo import desk
from config.demo.knowledge import DOCUMENTS
from inbox.models import Inbox
from inbox.services import inboxes
from kernel.errors import DomainError
from kernel.transactions import in_workspace
from tenancy.models import Installation, User, Workspace
from tenancy.services import domains, keys, provisioning
from webhooks.models import Webhook
from webhooks.services import subscribing

_NAMESPACE = UUID("5b0c8a52-6a1c-4d51-8b0e-6f5c0a4d9e21")
OWNER = "owner@acme.test"

_PROMPT = (
    "You answer the customers of Acme Tools, a small software shop. Answer only from the documents you are given, "
    "in the customer's language, in a few friendly sentences. When the documents do not answer, ask a person."
)


@dataclass(frozen=True)
class Scene:
    """What the demo acts on."""

    acme: Workspace
    globex: Workspace
    webhook_id: UUID
    webhook_secret: str
    machine_key: str
    password: str


def prepare(*, hook: str, state: Path) -> Scene:
    """Workspaces, owner, domains, agents with their documents, inboxes and a webhook."""
    acme = _workspace("Acme Tools", "acme.test")
    globex = _workspace("Globex", "globex.test")
    kept = json.loads(state.read_text()) if state.exists() else {}
    password = _owner(acme, kept.get("password", ""))
    _learn(acme)
    desk.furnish(acme.id)
    support = _agent(acme, "Support agent", autonomy="supervised")
    billing = _agent(acme, "Billing agent", autonomy="draft")
    _inbox(acme, "support@acme.test", "Acme Support", support)
    _inbox(acme, "billing@acme.test", "Acme Billing", billing)
    _inbox(globex, "help@globex.test", "Globex Help", None)
    webhook, secret = _webhook(acme, hook)
    key = kept.get("machine_key") or keys.issue(workspace_id=acme.id, name="demo key", scopes=["*"])[1]
    _keep(state, {"email": OWNER, "password": password, "machine_key": key})
    return Scene(acme, globex, webhook.id, secret, key, password)


def _keep(path: Path, content: dict[str, str]) -> None:
    """For the owner's eyes only; the next run shows the same sign-in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(content, file)


def _workspace(name: str, domain: str) -> Workspace:
    workspace, _ = provisioning.provision(
        external_id=uuid5(_NAMESPACE, domain), name=name, timezone="Europe/Berlin", default_country="DE"
    )
    domains.claim(workspace_id=workspace.id, domain=domain)
    domains.confirm(workspace_id=workspace.id, domain=domain, proof="the demo's word")
    return workspace


def _owner(workspace: Workspace, known: str) -> str:
    """The password of the demo's owner; an installation that has another owner keeps it."""
    password = known or secrets.token_urlsafe(12)
    existing = User.objects.filter(email=OWNER).first()
    if existing is None and Installation.objects.filter(owner_id=None).exists():
        provisioning.create_first_owner(email=OWNER, password=password, workspace=workspace, name="Demo Owner")
        return password
    if existing is None:
        raise DomainError("This installation has an owner already; the demo needs an empty one (remove var/).")
    if not existing.check_password(password):
        existing.set_password(password)
        existing.save(update_fields=["password"])
    return password


def _learn(workspace: Workspace) -> None:
    with in_workspace(workspace.id):
        known = set(KnowledgeSource.objects.values_list("title", flat=True))
    for title, content in DOCUMENTS.items():
        if title not in known:
            learning.add(workspace_id=workspace.id, title=title, content=content, uri="")


def _agent(workspace: Workspace, name: str, *, autonomy: str) -> Agent:
    with in_workspace(workspace.id):
        agent = Agent.objects.filter(name=name).first()
    return agent or configuring.create(
        workspace_id=workspace.id, name=name, autonomy=autonomy, system_prompt=_PROMPT, skills=[]
    )


def _inbox(workspace: Workspace, address: str, name: str, agent: Agent | None) -> Inbox:
    with in_workspace(workspace.id):
        inbox = Inbox.objects.filter(address_normalized=address).first()
    return inbox or inboxes.open_inbox(
        workspace_id=workspace.id, address=address, name=name, agent_id=agent.id if agent else None
    )


def _webhook(workspace: Workspace, url: str) -> tuple[Webhook, str]:
    """A fresh endpoint for each run: the receiver of the last one is gone, and its secret was shown once."""
    with in_workspace(workspace.id):
        old = list(Webhook.objects.filter(label="demo receiver"))
    for webhook in old:
        subscribing.delete(workspace_id=workspace.id, webhook_id=webhook.id)
    return subscribing.create(workspace_id=workspace.id, url=url, slugs=["*"], label="demo receiver")
