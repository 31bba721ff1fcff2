"""Workspaces, owners and domains come into being once, however many ask at the same time."""

import threading
from collections import Counter
from uuid import uuid4

import pytest
from django.db import connections

from audit.models import AuditEvent
from kernel.context import ESTATE
from kernel.errors import Conflict, Invalid, NotFound
from kernel.models import OutboxEvent
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.models import Installation, Membership, Role, RolePermission, User, VerifiedDomain, Workspace
from tenancy.permissions import SYSTEM_ROLES
from tenancy.queries import workspaces
from tenancy.services import domains, provisioning
from tenancy.services.domains import DomainTaken
from tenancy.services.provisioning import AlreadyOwned
from tests.factories.every import workspace


def together(count: int, work) -> Counter:
    """`work` in many threads that start at once; how often each outcome came."""
    start, outcomes, lock = threading.Barrier(count), Counter(), threading.Lock()

    def one(number: int) -> None:
        start.wait()
        try:
            outcome = work(number)
        except Exception as error:
            outcome = type(error).__name__
        finally:
            connections.close_all()
        with lock:
            outcomes[outcome] += 1

    threads = [threading.Thread(target=one, args=[number]) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def test_a_workspace_is_provisioned_with_its_roles_its_fact_and_its_record(db):
    account = uuid4()
    made, created = provisioning.provision(external_id=account, name="Acme", timezone="Europe/Berlin")
    again, created_again = provisioning.provision(external_id=account, name="Other name")
    assert (created, created_again, again.id, again.name) == (True, False, made.id, "Acme")
    assert made.ref.startswith("ws_")
    with in_workspace(made.id):
        assert set(Role.objects.values_list("name", "is_system")) == {(name, True) for name in SYSTEM_ROLES}
        held = {(name, grant) for name, (_, grants) in SYSTEM_ROLES.items() for grant in grants}
        assert set(RolePermission.objects.values_list("role__name", "permission")) == held
        assert AuditEvent.objects.get().action == "workspace.provision"
        assert OutboxEvent.objects.get().slug == "workspace.provisioned"


def test_sixteen_calls_for_one_account_make_one_workspace(db):
    account = uuid4()
    outcomes = together(16, lambda _: provisioning.provision(external_id=account, name="Acme")[1])
    assert outcomes == {True: 1, False: 15}
    with in_all_workspaces("a test looks at everything"):
        (made,) = Workspace.objects.filter(external_id=account)
    with in_workspace(made.id):
        assert (AuditEvent.objects.count(), OutboxEvent.objects.count(), Role.objects.count()) == (
            1,
            1,
            len(SYSTEM_ROLES),
        )


def test_sixteen_calls_for_sixteen_accounts_do_not_wait_for_each_other(db):
    assert together(16, lambda n: provisioning.provision(external_id=uuid4(), name=f"House {n}")[1]) == {True: 16}


@pytest.mark.parametrize(
    "fields",
    [{"timezone": "Mars/Olympus"}, {"timezone": ""}, {"name": ""}, {"name": "x" * 201}, {"default_country": "de"}],
)
def test_what_no_workspace_can_be_is_named(db, fields):
    with pytest.raises(Invalid) as refusal:
        provisioning.provision(**{"external_id": uuid4(), "name": "Acme"} | fields)
    assert refusal.value.pointer == f"/{next(iter(fields))}"


def test_a_ticket_prefix_is_of_one_workspace(db):
    workspace(ticket_prefix="ACME")
    with pytest.raises(Conflict):
        workspace("Other", ticket_prefix="ACME")


def test_the_estate_has_its_own_workspace(db):
    with in_all_workspaces("a test looks at everything"):
        assert Workspace.objects.get(id=ESTATE).ref == "ws_estate"


# --- the first owner ------------------------------------------------------------------------------------------------


def test_sixteen_set_ups_make_one_owner(db):
    house = workspace()

    def claim(number: int) -> str:
        provisioning.create_first_owner(
            email=f"o{number}@acme.test", password="a long enough password", workspace=house
        )
        return "owner"

    assert together(16, claim) == {"owner": 1, "AlreadyOwned": 15}
    owner = User.objects.get()
    assert (owner.is_operator, Installation.objects.get().owner_id) == (True, owner.id)
    with in_workspace(house.id):
        assert Membership.objects.get().user_id == owner.id


def test_a_set_up_that_fails_leaves_the_installation_free(db):
    house = workspace()
    User.objects.create_user("taken@acme.test", "a long enough password")
    with pytest.raises(Exception, match="email"):
        provisioning.create_first_owner(email="Taken@acme.test", password="a long enough password", workspace=house)
    assert Installation.objects.get().owner_id is None
    provisioning.create_first_owner(email="Free@Acme.test ", password="a long enough password", workspace=house)
    assert User.objects.filter(email="free@acme.test").exists()
    with pytest.raises(AlreadyOwned):
        provisioning.create_first_owner(email="late@acme.test", password="a long enough password", workspace=house)


def test_adding_an_owner_twice_is_the_same_membership(db):
    house, user = workspace(), User.objects.create_user("ada@acme.test", "a long enough password")
    first, second = (
        provisioning.add_owner(user=user, workspace=house),
        provisioning.add_owner(user=user, workspace=house),
    )
    assert first.id == second.id


# --- domains --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("example.com", "example.com"),
        (" Example.COM. ", "example.com"),
        ("münchen.de", "xn--mnchen-3ya.de"),
        ("MÜNCHEN.de", "xn--mnchen-3ya.de"),
        ("xn--mnchen-3ya.de", "xn--mnchen-3ya.de"),
        ("a.b-c.d1.example", "a.b-c.d1.example"),
    ],
)
def test_domains_have_one_form(text, normal):
    assert domains.normalise(text) == normal


@pytest.mark.parametrize(
    "text",
    ["", ".", "com", "localhost", "a..b", "-a.com", "a-.com", "a b.com", "a_b.com", "a.com/x", "a@b.com", "*.com", "1.2.3.4",
     "127.0.0.1", "[::1]", "x" * 64 + ".com", ("a" * 60 + ".") * 5 + "com", "a.com\x00", "a\n.com", "ex\u200bample.com\u0000",
     "ü" * 64 + ".de", "http://a.com"],
)  # fmt: skip
def test_what_is_no_mail_domain_is_refused(text):
    with pytest.raises(Invalid):
        domains.normalise(text)


def test_a_claim_is_pending_until_it_is_proven_and_then_finds_its_workspace(db):
    house = workspace()
    row = domains.claim(workspace_id=house.id, domain="Acme.test")
    assert domains.claim(workspace_id=house.id, domain="acme.test.").id == row.id
    assert workspaces.owner_of_domain("acme.test") is None
    domains.confirm(workspace_id=house.id, domain="ACME.test", proof="dns")
    domains.confirm(workspace_id=house.id, domain="acme.test", proof="dns")
    assert workspaces.owner_of_domain("acme.test") == house.id
    with in_workspace(house.id):
        assert AuditEvent.objects.filter(action="domain.verify").count() == 1


def test_many_may_claim_and_one_can_prove(db):
    houses = [workspace(f"House {number}") for number in range(8)]
    for house in houses:
        domains.claim(workspace_id=house.id, domain="acme.test")

    def prove(number: int) -> str:
        domains.confirm(workspace_id=houses[number].id, domain="acme.test", proof="dns")
        return "proven"

    assert together(8, prove) == {"proven": 1, "DomainTaken": 7}
    with in_all_workspaces("a test looks at everything"):
        assert VerifiedDomain.objects.filter(state="verified").count() == 1
    with pytest.raises(DomainTaken) as refusal:
        [domains.confirm(workspace_id=house.id, domain="acme.test", proof="dns") for house in houses]
    assert "acme" not in str(refusal.value)  # no word about whose it is


def test_what_was_not_claimed_cannot_be_proven(db):
    domains.claim(workspace_id=workspace("Other").id, domain="acme.test")
    with pytest.raises(NotFound):
        domains.confirm(workspace_id=workspace().id, domain="acme.test", proof="dns")
