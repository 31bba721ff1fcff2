"""Two workspaces that exist for the proof: the same services as everybody's fill them, and they end with it.

Each holds a mark, a word that stands nowhere else. Wherever it appears in what the other one gets, the fence has a hole.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from email.message import EmailMessage
from email.policy import SMTP
from uuid import UUID, uuid4

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agents.models import Agent
from agents.services import configuring, executing, learning
from config.proving import desk
from contacts.services import suppressing
from contacts.types import SuppressionReason
from inbox.services import accepting, connecting, inboxes, ingesting
from kernel import clock, outbox
from kernel.transactions import in_workspace
from tenancy.models import Role, User, Workspace
from tenancy.services import certificates, describing, domains, inviting, keys, provisioning, teams, tokens
from webhooks.services import subscribing

_KNOWLEDGE = """# Shipping times of {mark}

Printed handbooks are sent from Hamburg. Shipping takes 2 to 3 working days within Germany and 8 to 12 to Canada.
"""
_QUESTIONS = ("How long does shipping to Canada take?", "Who are you?", "And why?", "See the file.")


@dataclass(frozen=True)
class Place:
    """One of the two workspaces."""

    workspace: Workspace
    mark: str
    secret: str

    @property
    def id(self) -> UUID:
        return self.workspace.id

    @property
    def address(self) -> str:
        return f"support@{self.mark}.test"


@contextmanager
def two() -> Iterator[tuple[Place, Place]]:
    """Ours and theirs, filled and at rest; both deleted at the end, as an operator would delete them."""
    places = [_furnish() for _ in range(2)]
    _bring_to_rest()
    for place in places:
        desk.furnish(place.id, mark=place.mark)
        _quieten(place)
    try:
        yield places[0], places[1]
    finally:
        for place in places:
            describing.delete(workspace_id=place.id)


def shut(*, how: str) -> str:
    """A credential that opens nothing any more: of a key that was revoked, or of a workspace that was deleted."""
    mark = new_mark()
    workspace, _ = provisioning.provision(external_id=uuid4(), name=f"Isolation proof {mark}")
    key, secret = keys.issue(workspace_id=workspace.id, name=mark, scopes=["*"])
    if how == "revoked":
        keys.revoke(workspace_id=workspace.id, key_id=key.id)
    describing.delete(workspace_id=workspace.id)
    return secret


def weak(place: Place) -> str:
    """A credential of a workspace that may do next to nothing."""
    return keys.issue(workspace_id=place.id, name="least", scopes=["workspace.read"])[1]


@contextmanager
def owner(place: Place) -> Iterator[tuple[str, str]]:
    """Somebody who may do everything in a workspace and can sign in: e-mail and password. Nobody any more at the end."""
    password = secrets.token_urlsafe(24)
    person = User.objects.create_user(f"{new_mark()}@member.invalid", password=password, name="Proof", is_staff=True)
    provisioning.add_owner(user=person, workspace=place.workspace)
    try:
        yield person.email, password
    finally:
        person.set_unusable_password()
        person.save(update_fields=["password"])


def new_mark() -> str:
    """A word that stands nowhere else; all have one length."""
    return f"proof{secrets.token_hex(8)}"


def _furnish() -> Place:
    mark = new_mark()
    workspace, _ = provisioning.provision(external_id=uuid4(), name=f"Isolation proof {mark}")
    domains.claim(workspace_id=workspace.id, domain=f"{mark}.test")
    domains.confirm(workspace_id=workspace.id, domain=f"{mark}.test", proof="made for the proof")
    _, secret = keys.issue(workspace_id=workspace.id, name=mark, scopes=["*"])
    place = Place(workspace, mark, secret)
    _staff(place)
    _credentials(place)
    _people(place)
    _post(place)
    return place


def _staff(place: Place) -> None:
    """An agent with knowledge that only drafts, its inbox, and somebody who must not be written to."""
    learning.add(workspace_id=place.id, title=f"Shipping {place.mark}", content=_KNOWLEDGE.format(mark=place.mark))
    agent = _agent(place)
    inboxes.open_inbox(workspace_id=place.id, address=place.address, name=place.mark, agent_id=agent.id)
    subscribing.create(
        workspace_id=place.id, url=f"https://{place.mark}.example.com/hook", slugs=["*"], label=place.mark
    )
    with in_workspace(place.id):
        suppressing.suppress(
            workspace_id=place.id, address=f"no@{place.mark}.test", reason=SuppressionReason.BOUNCE, at=clock.now()
        )


def _agent(place: Place) -> Agent:
    return configuring.create(
        workspace_id=place.id, name=f"Agent {place.mark}", autonomy="draft", provider="local", system_prompt=""
    )


def _credentials(place: Place) -> None:
    tokens.revoke(workspace_id=place.id, jti=place.mark)
    certificates.deny(workspace_id=place.id, serial=str(secrets.randbits(64)), issuer=f"CN={place.mark}")
    certificates.register(
        workspace_id=place.id, pem=_certificate(place.mark), name=place.mark, scopes=["workspace.read"]
    )


def _people(place: Place) -> None:
    """A member without a password, somebody who is invited to nowhere, a team, and an account that nothing is sent by."""
    person = User.objects.create_user(f"{place.mark}@member.invalid", name=place.mark)
    membership = provisioning.add_owner(user=person, workspace=place.workspace)
    with in_workspace(place.id):
        role = Role.objects.get(name="agent", is_system=True)
    inviting.invite(workspace_id=place.id, email=f"{place.mark}@guest.invalid", role_ids=[role.id])
    teams.create(workspace_id=place.id, name=place.mark, membership_ids=[membership.id])
    configuration = {"host": f"{place.mark}.example.com", "user": place.mark}
    connecting.connect(workspace_id=place.id, provider="smtp", name=place.mark, configuration=configuration)


def _certificate(name: str) -> str:
    """A client's certificate, of nobody's trust."""
    key, who = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = x509.CertificateBuilder(who, who, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(clock.now()).not_valid_after(clock.now() + timedelta(hours=1))
    return made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


def _post(place: Place) -> None:
    """A question that the knowledge answers, one that it does not, an answer to it, and a file."""
    for number, text in enumerate(_QUESTIONS):
        mail = EmailMessage(policy=SMTP)
        mail["From"], mail["To"] = f"Guest <guest@{place.mark}.example>", place.address
        mail["Subject"], mail["Message-ID"] = f"{text} {place.mark}", f"<{number}@{place.mark}.example>"
        if number == 2:
            mail["In-Reply-To"] = f"<1@{place.mark}.example>"
        mail.set_content(f"{text}\n\n{place.mark}\n")
        if number == 3:
            mail.add_attachment(place.mark.encode(), maintype="text", subtype="plain", filename=f"{place.mark}.txt")
        accepting.accept(
            source="proof",
            provider_message_id=f"{place.mark}-{number}",
            raw=mail.as_bytes(),
            recipients=[place.address],
            envelope_from=f"guest@{place.mark}.example",
        )


def _bring_to_rest() -> None:
    """Do what the workers would do, until nothing of it is left."""
    ingesting.process_all()
    while outbox.drain() or executing.run_due():
        pass


def _quieten(place: Place) -> None:
    """No more attempts at endpoints that do not exist: rows must not change by themselves while they are watched."""
    from webhooks.models import Webhook

    with in_workspace(place.id):
        webhooks = list(Webhook.objects.values_list("id", flat=True))
    for webhook_id in webhooks:
        subscribing.disable(workspace_id=place.id, webhook_id=webhook_id)
    _bring_to_rest()
