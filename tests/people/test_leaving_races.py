"""What somebody lets in at the moment in which they are shut out ends with them, or is refused: whoever is first."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connections

from kernel import context
from kernel.context import Actor
from kernel.transactions import in_workspace
from tenancy.models import ClientCertificate, Invitation, MachineKey, Membership, User
from tenancy.services import people
from tests.api.conftest import Caller
from tests.console import seed
from tests.people.conftest import Office, knock
from tests.tenancy.certificates import certificate, pem

NAME = "at the last moment"


@pytest.fixture
def cy(office: Office) -> tuple[User, Membership]:
    """An owner beside Ada."""
    user = seed.person("cy@acme.test", name="Cy")
    return user, seed.member(user, office.workspace)


@contextmanager
def commits_held() -> Iterator[None]:
    """Nothing that is in the audit trail commits meanwhile: whoever works has done all but that, and stands in line."""
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as owner:
        owner.execute("LOCK TABLE audit_auditchain IN EXCLUSIVE MODE")
        yield


def wait_for_line(length: int) -> None:
    """Until so many stand in line, for the trail or for each other."""
    asked = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    ends = time.monotonic() + 20
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as looking:
        while looking.execute(asked).fetchall()[0][0] < length:
            assert time.monotonic() < ends, f"fewer than {length} wait"
            time.sleep(0.02)


def apart(work: Callable[[], Any]) -> Any:
    try:
        return work()
    finally:
        connections.close_all()


def a_key(office: Office, user: User) -> Callable[[], bool]:
    client = knock(user.email)
    body = {"name": NAME, "scopes": ["workspace.read"], "expires_at_0": "", "expires_at_1": ""}
    return lambda: b"mk_" in client.post("/console/tenancy/machinekey/add/", body).content


def an_invitation(office: Office, user: User) -> Callable[[], bool]:
    client = knock(user.email)
    body = {"email": "mine@else.test", "roles": [str(office.agent_role.id)]}
    return lambda: b"/console/join/" in client.post("/console/tenancy/invitation/add/", body).content


def a_certificate(office: Office, user: User) -> Callable[[], bool]:
    caller = of_key(office, user)
    body = {"name": NAME, "certificate": pem(certificate()), "scopes": ["workspace.read"]}
    return lambda: caller("POST", "/client-certificates", body).status_code == 201


def a_key_by_a_key(office: Office, user: User) -> Callable[[], bool]:
    caller = of_key(office, user)
    return lambda: caller("POST", "/machine-keys", {"name": NAME, "scopes": ["workspace.read"]}).status_code == 201


def of_key(office: Office, user: User) -> Caller:
    with context.acting_as(Actor("user", str(user.pk), user.name)):
        return Caller(office.id)


def suspended(office: Office, user: User, member: Membership) -> Callable[[], None]:
    ada = Caller(office.id)

    def work() -> None:
        answer = ada("POST", f"/members/{member.id}/suspend", {})
        assert answer.status_code == 200, answer.content

    return work


def shut_out(office: Office, user: User, member: Membership) -> Callable[[], None]:
    return lambda: people.deactivate(user=User.objects.get(id=user.pk))


def left_in(office: Office, user: User) -> list[Any]:
    """What still opens something, of what was let in by Cy, or by what Cy had let in."""
    with in_workspace(office.id):
        made = [model.objects.filter(name=NAME, revoked_at=None) for model in (MachineKey, ClientCertificate)]
        return [*made[0], *made[1], *Invitation.objects.filter(revoked_at=None, invited_by_id=str(user.pk))]


@pytest.mark.parametrize("first", ["issuing", "leaving"])
@pytest.mark.parametrize("leaving", [suspended, shut_out])
@pytest.mark.parametrize("issuing", [a_key, an_invitation, a_certificate, a_key_by_a_key])
def test_nothing_is_let_in_behind_the_back_of_who_shuts_out(office, cy, issuing, leaving, first):
    issue, leave = issuing(office, cy[0]), leaving(office, *cy)
    order = (issue, leave) if first == "issuing" else (leave, issue)
    futures: list[Future[Any]] = []
    with ThreadPoolExecutor(2) as crew:
        with commits_held():
            for number, work in enumerate(order, start=1):
                futures.append(crew.submit(apart, work))
                wait_for_line(number)
        answers = [future.result(timeout=30) for future in futures]
    assert left_in(office, cy[0]) == []
    assert answers[order.index(issue)] is (first == "issuing"), "it was let in, and has ended, or was refused"
