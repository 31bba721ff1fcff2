"""L5: an installation gets one first owner, however many set it up at the same time; the others leave nothing behind."""

from uuid import uuid4

from kernel.transactions import in_all_workspaces
from tenancy.models import Installation, MachineKey, Membership, User, VerifiedDomain, Workspace
from tenancy.services import bootstrapping
from tests.people.conftest import is_in, knock
from tests.tenancy.test_provisioning import together


def test_twenty_set_ups_make_one_owner_and_one_workspace(db):
    def begin(number: int) -> str:
        begun = bootstrapping.begin(
            external_id=uuid4(),
            workspace=f"House {number}",
            email=f"o{number}@house.test",
            password="a long enough password",
            domain=f"house{number}.test",
        )
        return f"owner {begun.owner.email.startswith('o')}"

    assert together(20, begin) == {"owner True": 1, "AlreadyOwned": 19}
    owner = User.objects.get()
    assert Installation.objects.get().owner_id == owner.id
    with in_all_workspaces("a test looks at everything"):
        assert Workspace.objects.exclude(ref="ws_estate").count() == 1
        assert (Membership.objects.count(), MachineKey.objects.count(), VerifiedDomain.objects.count()) == (1, 1, 1)
    assert is_in(knock(owner.email, "a long enough password"))
