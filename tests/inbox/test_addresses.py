"""One inbox per address, however it is written and whoever asks at the same time (A11)."""

import threading
import unicodedata
from collections import Counter

import pytest
from django.db import connections

from inbox import normalise
from inbox.models import Inbox
from inbox.services import inboxes
from inbox.services.inboxes import AddressTaken
from kernel.errors import Invalid
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.services import domains
from tests.factories.world import house
from tests.resources.nine import Caller

THREADS = 16
# Each row: spellings of one address. The sixteen threads take them in turn.
FAMILIES = {
    "as it is": ["sales@acme.test"],
    "case": ["Sales@acme.test", "SALES@ACME.TEST", "sAlEs@Acme.Test"],
    "a tag": ["sales+eu@acme.test", "Sales+EU@acme.test"],
    "dot of the root": ["sales@acme.test.", "sales@acme.test"],
    "full width": ["ｓａｌｅｓ@acme.test", "sales＠acme.test", "sales@ａｃｍｅ.test", "sales@acme。test".replace("。", ".")],
    "composed": [unicodedata.normalize("NFC", "büro@acme.test"), unicodedata.normalize("NFD", "büro@acme.test")],
    "composed, capital": ["BÜRO@acme.test", unicodedata.normalize("NFD", "Büro@acme.test")],
    "ligature": ["oﬃce@acme.test", "office@acme.test"],
    "IDN": ["sales@münchen.test", "sales@xn--mnchen-3ya.test", "SALES@MÜNCHEN.test", "sales@mu\u0308nchen.test"],
    "fullwidth digits": ["team１@acme.test", "team1@acme.test"],
    "kelvin": ["\u212aelvin@acme.test", "kelvin@acme.test"],
    "deleted before": ["gone@acme.test", "GONE@acme.test"],
}  # fmt: skip


def together(work) -> Counter:
    """`work` in sixteen threads that start at once."""
    start, outcomes, lock = threading.Barrier(THREADS), Counter(), threading.Lock()

    def one(number: int) -> None:
        start.wait()
        try:
            outcome = work(number)
        except (AddressTaken, Invalid) as error:
            outcome = type(error).__name__
        finally:
            connections.close_all()
        with lock:
            outcomes[outcome] += 1

    threads = [threading.Thread(target=one, args=[number]) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def test_sixteen_threads_of_two_workspaces_open_one_inbox(db, cases):
    ours, theirs = house("acme"), house("globex")
    domains.claim(workspace_id=ours.id, domain="münchen.test")
    domains.confirm(workspace_id=ours.id, domain="münchen.test", proof="test")
    for name, spellings in FAMILIES.items():
        canonical = normalise.address(spellings[0])
        if name == "deleted before":
            row = inboxes.open_inbox(workspace_id=ours.id, address=spellings[0])
            inboxes.delete(workspace_id=ours.id, inbox_id=row.id)

        def ask(number: int, spellings=spellings) -> str:
            place = ours if number % 4 else theirs
            inboxes.open_inbox(workspace_id=place.id, address=spellings[number % len(spellings)])
            return f"opened by {place.workspace.name}"

        outcomes = together(ask)
        # The other workspace has not verified the domain, which is all that it learns.
        assert outcomes.pop("Invalid") == 4, name
        taken = THREADS - 4 if name in ("deleted before", "composed, capital") else THREADS - 5
        if name == "case" or name == "full width" or name == "dot of the root":
            taken = THREADS - 4  # `sales@acme.test` is there since the first family
        assert outcomes.pop("AddressTaken") == taken, (name, outcomes)
        assert sum(outcomes.values()) == THREADS - 4 - taken, name
        with in_all_workspaces("a test looks at everything"):
            assert Inbox.with_deleted.filter(address_normalized=canonical).count() == 1, name
        cases("A11", THREADS)


def test_the_refusal_says_nothing_about_whose_the_address_is(db):
    """Ours and there, ours and deleted, held by another workspace on a domain that has changed hands: one answer."""
    ours, theirs = house("acme"), house("globex")
    inboxes.open_inbox(workspace_id=ours.id, address="live@acme.test")
    gone = inboxes.open_inbox(workspace_id=ours.id, address="gone@acme.test")
    inboxes.delete(workspace_id=ours.id, inbox_id=gone.id)
    held = inboxes.open_inbox(workspace_id=theirs.id, address="held@globex.test")
    with in_workspace(theirs.id):
        Inbox.objects.filter(id=held.id).update(address="held@acme.test", address_normalized="held@acme.test")
    call = Caller(ours.id)
    answers = {
        call("POST", "/inboxes", {"address": address}, x_request_id="the-same-request").content
        for address in ("live@acme.test", "gone@acme.test", "held@acme.test", "LIVE@acme.test")
    }
    assert len(answers) == 1
    assert b'"status":409' in answers.pop()


def test_a_tag_is_another_address_and_finds_the_plain_one_where_it_has_no_inbox(db):
    from inbox.models import Email
    from tests.factories.world import deliver, mail

    place = house()
    tagged = inboxes.open_inbox(workspace_id=place.id, address="support+vip@acme.test")
    deliver(mail(), "support+vip@acme.test")
    deliver(mail(), "support+other@acme.test")
    with in_workspace(place.id):
        assert [row.inbox_id for row in Email.objects.order_by("created_at")] == [tagged.id, place.inbox.id]


@pytest.mark.parametrize(
    "text",
    ["", "@", "a@", "@b.test", "a", "a b@c.test", "a@b@c.test", "a<b@c.test", "a@b c.test", "a\n@b.test", "a\x7f@b.test",
     "a\u200b@b.test", "\u202ea@b.test", "a@b.test,c@d.test", "x" * 315 + "@acme.test", "a;b@c.test", " a@acme.test ", "a@acme.test\n"],
)  # fmt: skip
def test_what_is_no_address_is_refused_with_a_pointer(db, text):
    place = house()
    answer = Caller(place.id)("POST", "/inboxes", {"address": text})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] in ("/address", "/")
