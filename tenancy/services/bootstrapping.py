"""The first workspace, its owner, its domain and a key: what a new installation needs to begin."""

from dataclasses import dataclass
from uuid import UUID

from kernel.transactions import unit_of_work
from tenancy.models import User, Workspace
from tenancy.services import domains, keys, provisioning


@dataclass(frozen=True)
class Begun:
    """What was made. The secret of the key is shown once."""

    workspace: Workspace
    owner: User
    machine_key: str


def begin(*, external_id: UUID, workspace: str, email: str, password: str, domain: str, name: str = "") -> Begun:
    """Make the first owner and their workspace. AlreadyOwned when the installation has an owner.

    All of it or nothing: of many who try at the same time one finds the installation free, and the others leave nothing
    behind, no workspace either.
    """
    with unit_of_work():
        provisioning.claim_installation()
        made, _ = provisioning.provision(external_id=external_id, name=workspace)
        owner = provisioning.create_first_owner(email=email, password=password, workspace=made, name=name)
        if domain:
            domains.claim(workspace_id=made.id, domain=domain)
            domains.confirm(workspace_id=made.id, domain=domain, proof="the operator's word at the start")
        _, secret = keys.issue(workspace_id=made.id, name="first key", scopes=["*"])
    return Begun(made, owner, secret)
