"""Many workspaces with an inbox each, and files of mails for the crews."""

import pickle
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID, uuid4

from tests.bench.mails import Mail

WORKSPACES = 100


def settle(count: int = WORKSPACES) -> list[tuple[UUID, str]]:
    """Workspaces, each with an inbox; (workspace, address)."""
    from inbox.services import inboxes
    from tenancy.services import domains, provisioning

    places = []
    for number in range(count):
        domain = f"house{number}.test"
        workspace, _ = provisioning.provision(external_id=uuid4(), name=f"House {number}")
        domains.claim(workspace_id=workspace.id, domain=domain)
        domains.confirm(workspace_id=workspace.id, domain=domain, proof="bench")
        inboxes.open_inbox(workspace_id=workspace.id, address=f"support@{domain}", name="Support")
        places.append((workspace.id, f"support@{domain}"))
    return places


def packed(mails: Sequence[Mail], path: Path) -> str:
    """The mails in a file that every crew, also a peer's, can load."""
    path.write_bytes(pickle.dumps([(mail.provider_id, mail.sender, mail.recipient, mail.raw) for mail in mails]))
    return str(path)
