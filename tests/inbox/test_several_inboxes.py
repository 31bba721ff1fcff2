"""One mail for several inboxes: exact counts, whatever header or address it came by (ZM-6, FS-3, DH-1)."""

from itertools import product

import pytest
from django.db import DatabaseError, transaction

from config.demo.sink import Sink
from contacts.models import Contact
from inbox.models import Email, Entry, InboundMessage, InboxAddress, OutboundMessage, Thread
from inbox.services import addressing, inboxes, replying, sending
from inbox.services.addressing import AliasTaken, Further
from inbox.services.inboxes import AddressTaken
from inbox.services.replying import NobodyToAnswer
from inbox.types import OutboundKind
from kernel.errors import Invalid
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tests.factories.world import deliver, house, mail
from tests.inbox.news import PERSON, drain
from tests.resources.nine import Caller

ACK = {"auto_ack": {"text": "We have got your mail."}}


def counts(place):
    with in_workspace(place.id):
        return (
            InboundMessage.objects.count(),
            Email.objects.count(),
            Entry.objects.count(),
            Thread.objects.count(),
            OutboxEvent.objects.filter(slug="email.received").count(),
        )


def change(place, inbox=None, **changes):
    return inboxes.change(workspace_id=place.id, inbox_id=(inbox or place.inbox).id, changes=changes)


def test_to_cc_and_bcc_over_inboxes_and_workspaces_count_exactly(db, cases):
    """Each combination of who is named where, over two inboxes of one workspace and one of another; then all again."""
    acme, globex = house("acme"), house("globex")
    inboxes.open_inbox(workspace_id=acme.id, address="billing@acme.test")
    boxes = ["support@acme.test", "billing@acme.test", "support@globex.test"]
    tried, expected = 0, {acme.id: [0, 0], globex.id: [0, 0]}
    for places in product(("to", "cc", "bcc", ""), repeat=3):
        got = [box for box, place in zip(boxes, places, strict=True) if place]
        if not got:
            continue
        named = {kind: [b for b, p in zip(boxes, places, strict=True) if p == kind] for kind in ("to", "cc")}
        raw = mail(
            sender=f"p{tried}@customer.test",
            to=", ".join(named["to"]) or "someone@customer.test",
            **({"cc": ", ".join(named["cc"])} if named["cc"] else {}),
        )
        for _ in range(2):
            deliver(raw, *got, provider_id=f"m{tried}")
        for place in (acme, globex):
            own = [box for box in got if box.endswith(place.inbox.address.partition("@")[2])]
            expected[place.id][0] += bool(own)
            expected[place.id][1] += len(own)
        tried += 1
    for place in (acme, globex):
        messages, emails = expected[place.id]
        assert counts(place) == (messages, emails, emails, emails, emails)
    assert tried == 63
    cases("ZM-6", tried)


def test_both_teams_see_a_mail_to_both_and_one_answer_goes_out_for_each_policy(db, cases):
    acme = house("acme", policy=ACK)
    billing = inboxes.open_inbox(workspace_id=acme.id, address="billing@acme.test")
    deliver(mail(to="support@acme.test", cc="billing@acme.test"), "support@acme.test", "billing@acme.test")
    drain()
    with in_workspace(acme.id):
        assert {entry.inbox_id for entry in Entry.objects.filter(direction="inbound")} == {acme.inbox.id, billing.id}
        assert OutboundMessage.objects.get().inbox_id == acme.inbox.id
        linked = Email.objects.values_list("inbound_message_id", flat=True)
        assert len(set(linked)) == 1
        assert Contact.objects.count() == 1
    cases("ZM-6", 1)


def test_internal_mail_is_one_outgoing_entry_there_and_one_received_here(db, settings, cases):
    """FS-3, AG-5: through the ordinary sender and the ordinary door; answered back and forth it stays two conversations."""
    acme, globex = house("acme"), house("globex")
    with Sink() as sink:
        settings.MAIL_TRANSPORT, settings.MAIL_SMTP_HOST, settings.MAIL_SMTP_PORT = "smtp", "127.0.0.1", sink.port
        settings.MAIL_SMTP_TLS = "none"

        def travel():
            """What was sent arrives, by its envelope."""
            while sending.send_due():
                pass
            for taken in sink.ledger.messages[travel.seen :]:
                for recipient in taken.recipients:
                    deliver(taken.raw, recipient, envelope_from="", provider_id=taken.message_id + recipient)
            travel.seen = len(sink.ledger.messages)

        travel.seen = 0
        deliver(mail(sender="support@globex.test"), "support@acme.test", envelope_from="support@globex.test")
        place, other = acme, globex
        for turn in range(4):
            with in_workspace(place.id):
                latest = Entry.objects.filter(direction="inbound").order_by("seq").last()
                replying.queue_reply(
                    email_id=latest.email_id, text=f"Turn {turn}", kind=OutboundKind.HUMAN,
                    idempotency_key=f"turn-{turn}", automatic=False, author=PERSON,
                )  # fmt: skip
            travel()
            place, other = other, place
    for place, inbound in ((acme, 3), (globex, 2)):
        with in_workspace(place.id):
            directions = list(Entry.objects.order_by("seq").values_list("direction", flat=True))
            assert directions.count("outbound") == 2
            assert directions.count("inbound") == inbound
            assert set(Entry.objects.filter(direction="inbound").values_list("mail_class", flat=True)) == {"self"}
            assert Thread.objects.count() == 1
            assert not Thread.objects.filter(first_unanswered_inbound_at__isnull=False).exists()
    cases("FS-3", 5)


ADDRESSES = {
    "its own": "support@acme.test",
    "a tag": "support+order-17@acme.test",
    "two tags": "support+a+b@acme.test",
    "capitals": "SUPPORT+X@Acme.TEST",
    "an alias": "help@acme.test",
    "an alias with a tag": "help+now@acme.test",
    "an alias on another domain": "acme@brands.test",
    "what nobody has": "whatever@acme.test",
    "what nobody has, with a tag": "sales.team+x@acme.test",
}


def test_every_address_of_an_inbox_leads_to_it_once_and_is_answered(db, cases):
    """Tags, aliases and the catch-all; mail that names one of them is no blind copy, so it is acknowledged."""
    from tenancy.services import domains

    acme = house("acme", policy=ACK)
    domains.claim(workspace_id=acme.id, domain="brands.test")
    domains.confirm(workspace_id=acme.id, domain="brands.test", proof="test")
    change(acme, aliases=["Help@acme.test", "acme@brands.test"], catch_all=True)
    for number, address in enumerate(ADDRESSES.values()):
        deliver(mail(sender=f"p{number}@customer.test", to=address), address)
        drain()
        assert counts(acme)[1:3] == (number + 1, 2 * (number + 1)), address
    with in_workspace(acme.id):
        assert set(Entry.objects.filter(direction="inbound").values_list("mail_class", flat=True)) == {"human"}
        assert OutboundMessage.objects.count() == len(ADDRESSES)
    # Several of its addresses at once are still one mail; a copy that names none of them is blind and not answered.
    deliver(
        mail(sender="a@customer.test", to="help@acme.test", cc="support+x@acme.test"), *list(ADDRESSES.values())[:5]
    )
    deliver(mail(sender="b@customer.test", to="else@customer.test"), "help@acme.test")
    drain()
    with in_workspace(acme.id):
        assert Email.objects.count() == len(ADDRESSES) + 2
        assert OutboundMessage.objects.count() == len(ADDRESSES) + 1
    cases("DH-1", len(ADDRESSES) + 2)


def test_an_inbox_of_its_own_goes_before_an_alias_and_both_before_the_catch_all(db, cases):
    acme = house("acme")
    sales = inboxes.open_inbox(
        workspace_id=acme.id, address="sales@acme.test", further=Further(("shop@acme.test",), catch_all=False)
    )
    change(acme, catch_all=True)
    table = {
        "sales@acme.test": sales.id,
        "sales+1@acme.test": sales.id,
        "shop@acme.test": sales.id,
        "shop+1@acme.test": sales.id,
        "shop1@acme.test": acme.inbox.id,
        "support@acme.test": acme.inbox.id,
    }
    for address, wanted in table.items():
        (row,) = deliver(mail(to=address), address)
        with in_workspace(acme.id):
            assert Email.objects.get(id=row.email_id).inbox_id == wanted, address
    # No longer: unknown addresses are put aside again, and the alias with its inbox gone is nobody's.
    change(acme, catch_all=False)
    inboxes.delete(workspace_id=acme.id, inbox_id=sales.id)
    for address in ("shop1@acme.test", "shop@acme.test"):
        (row,) = deliver(mail(to=address), address)
        assert row.email_id is None
    cases("DH-1", len(table) + 2)


def test_our_further_addresses_are_never_written_to_and_their_mail_is_our_own(db, cases):
    """DH-1: an alias as sender is ourselves, and no answer goes to one."""
    acme = house("acme", policy=ACK)
    change(acme, aliases=["help@acme.test"])
    for sender in ("help@acme.test", "Help+x@acme.test"):
        (row,) = deliver(mail(sender=sender), "support@acme.test", envelope_from=sender)
        drain()
        with in_workspace(acme.id):
            assert Entry.objects.get(email_id=row.email_id).mail_class == "self"
            assert not OutboundMessage.objects.exists()
            with pytest.raises(NobodyToAnswer):
                replying.queue_reply(
                    email_id=row.email_id, text="x", kind=OutboundKind.HUMAN, idempotency_key=sender, automatic=False,
                    author=PERSON,
                )  # fmt: skip
    cases("DH-1", 2)


def test_an_address_is_one_inboxs_in_the_whole_installation(db):
    acme, globex = house("acme"), house("globex")
    change(acme, aliases=["help@acme.test"])
    refused = [
        (AddressTaken, lambda: inboxes.open_inbox(workspace_id=acme.id, address="help@acme.test")),
        (AliasTaken, lambda: change(acme, inboxes.open_inbox(workspace_id=acme.id, address="x@acme.test"), aliases=["help@acme.test"])),
        (AliasTaken, lambda: change(acme, aliases=["help@acme.test", "support@acme.test"])),
        (Invalid, lambda: change(globex, aliases=["other@acme.test"])),
        (Invalid, lambda: change(acme, aliases=["help+tag@acme.test"])),
        (Invalid, lambda: change(acme, aliases=["no address"])),
        (Invalid, lambda: change(acme, aliases=[f"a{n}@acme.test" for n in range(addressing.MAX_ALIASES + 1)])),
    ]  # fmt: skip
    for kind, work in refused:
        with pytest.raises(kind):
            work()
    with in_workspace(acme.id):
        assert list(InboxAddress.objects.values_list("address_normalized", flat=True)) == ["help@acme.test"]
    # The database itself refuses it, whoever writes.
    with in_workspace(acme.id), pytest.raises(DatabaseError, match="taken"), transaction.atomic():
        InboxAddress.objects.create(
            workspace_id=acme.id, inbox=acme.inbox, address="s", address_normalized="support@acme.test"
        )


def test_addresses_over_http(db):
    acme = house("acme")
    call = Caller(acme.id)
    made = call("POST", "/inboxes", {"address": "sales@acme.test", "aliases": ["shop@acme.test"], "catch_all": True})
    assert (made.status_code, made.json()["aliases"], made.json()["catch_all"]) == (201, ["shop@acme.test"], True)
    url = f"/inboxes/{made.json()['id']}"
    assert call("PATCH", url, {"name": "Sales"}).json()["aliases"] == ["shop@acme.test"]
    changed = call("PATCH", url, {"aliases": [], "catch_all": False}).json()
    assert (changed["aliases"], changed["catch_all"]) == ([], False)
    assert [row["aliases"] for row in call("GET", "/inboxes").json()["data"]] == [[], []]
    refused = call("PATCH", url, {"aliases": ["support@acme.test"]})
    assert (refused.status_code, refused.json()["code"]) == (409, "address_not_available")
    assert Caller(acme.id, "inbox.read")("PATCH", url, {"aliases": []}).status_code == 403


def test_twenty_mails_of_a_new_person_at_once_over_eight_workers(db, cases, settings):
    """C5: one contact, one conversation, and one order that never changes."""
    from concurrent.futures import ThreadPoolExecutor

    from django.db import connection

    from inbox.services import ingesting
    from tests.factories.world import hand_in

    settings.INGEST_THREADS = 1
    acme, rounds, size = house("acme"), 50, 20

    def work(_):
        ingesting.process_all()
        connection.close()

    with ThreadPoolExecutor(8) as pool:
        for number in range(rounds):
            who, name = f"new{number}@customer.test", f"<{number}.0@customer.test>"
            for place in range(size):
                cites = {"in_reply_to": name} if place else {"message_id": name}
                hand_in(mail(sender=who, text=f"{number}.{place}", **cites))
            list(pool.map(work, range(8)))
            with in_workspace(acme.id):
                thread = Thread.objects.get(contact__identifiers__value=who)
                entries = list(thread.entries.order_by("seq").values_list("seq", "occurred_at"))
                assert len(entries) == size == thread.entry_count
                assert thread.first_unanswered_inbound_at == entries[0][1]
                assert thread.last_entry_seq == entries[-1][0]
    with in_workspace(acme.id):
        assert Contact.objects.count() == rounds == Thread.objects.count()
    cases("C5", rounds)
