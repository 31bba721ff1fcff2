"""Where a mail goes, and why: the complaints of other systems' users as tests, and nobody in a stranger's conversation."""

from uuid import uuid4

import pytest

from inbox.models import Entry, MessageReference, Thread, ThreadParticipant
from inbox.queries import grouping, threading
from inbox.services import inboxes
from kernel.transactions import in_workspace
from tenancy.models import Membership, User
from tests.factories.world import deliver, house, mail
from tests.inbox.talk import answer, broken, entry_of, sent_id, write
from tests.inbox.wrong_person import wrong_persons

PASS = {"dmarc": "PASS", "spf": "PASS"}


def why(entry):
    return entry.thread_decision["rule"], entry.thread_decision["confidence"]


def rewritten(place, entry, name):
    """What SES makes of our Message-ID."""
    with in_workspace(place.id):
        MessageReference.objects.create(
            workspace_id=place.id,
            inbox=place.inbox,
            entry=entry,
            message_id=name,
            message_id_hash=threading.reference_hash(name),
            kind="rewritten",
        )


def test_a_thread_of_six_with_every_id_rewritten_is_one_thread(db, cases):
    """CW-1: the provider gave our answers other ids, and the customer's program cites only those."""
    place = house()
    entry, rounds = write(place, "ada"), 3
    for number in range(rounds - 1):
        reply = answer(place, entry)
        name = f"0100{number}-{uuid4()}@eu-central-1.amazonses.com"
        rewritten(place, reply, name)
        entry = write(place, "ada", cites=f"<{name}>")
        assert why(entry) == ("in_reply_to", "high")
    last = answer(place, entry)
    with in_workspace(place.id):
        assert {row.thread_id for row in Entry.objects.all()} == {last.thread_id}
        assert Thread.objects.get().entry_count == 6
    cases("CW-1", 1)


def test_ids_that_were_only_cited_lead_back_too(db, cases):
    """CW-1: a colleague answered from Outlook; of that answer we know only that the customer's mail cites it."""
    place = house()
    first = write(place, "ada", said="a1")
    second = write(place, "ada", cites="<outlook-1@acme.test>", references="<a1@customer.test> <outlook-1@acme.test>")
    assert why(second) == ("references", "high")
    # Apple's program keeps that one id alone (IS-3).
    third = write(place, "ada", cites="<outlook-1@acme.test>", references="<outlook-1@acme.test>")
    assert {entry.thread_id for entry in (second, third)} == {first.thread_id}
    assert why(third)[0] == "in_reply_to"
    cases("CW-1", 2)
    cases("IS-3", 1)


def test_forty_answers_to_a_newsletter_are_forty_conversations(db, cases):
    """CW-2: everybody who got it knows its Message-ID."""
    place = house()
    news = write(place, "marketing@acme-news.test", said="news")
    for number in range(40):
        write(place, f"p{number}", cites="<news@customer.test>")
    with in_workspace(place.id):
        assert Thread.objects.count() == 41
        assert Entry.objects.filter(thread_id=news.thread_id).count() == 1
        decision = Entry.objects.order_by("seq").last().thread_decision
    assert decision["evidence"]["possibly_related"] == [str(news.thread_id)]
    joined = wrong_persons(place)
    assert joined == []
    cases("wrong-person joins", len(joined))
    cases("CW-2", 40)


def test_the_order_of_what_is_cited(db, cases):
    """FS-2: what we have signed, then In-Reply-To, then References from last to first; a stranger's is passed over."""
    place = house()
    one, two, three = (write(place, "ada", said=f"m{number}") for number in range(3))
    strange = write(place, "eve", said="strange")
    signed = sent_id(place, answer(place, three)).strip("<>")
    ids = {"one": "m0@customer.test", "two": "m1@customer.test", "strange": "strange@customer.test", "signed": signed}
    table = [
        (("one",), ("two",), one, "in_reply_to"),
        ((), ("one", "two"), two, "references"),
        ((), ("two", "one"), one, "references"),
        ((), ("one", "two", "strange"), two, "references"),
        (("strange",), ("one",), one, "references"),
        (("one",), ("signed", "two"), three, "signed_reply"),
        ((), ("signed", "one", "two"), three, "signed_reply"),
        (("two", "one"), (), two, "in_reply_to"),
    ]
    for replied, cited, wanted, rule in table:
        headers = {"references": " ".join(f"<{ids[name]}>" for name in cited)} if cited else {}
        if replied:
            headers["in_reply_to"] = " ".join(f"<{ids[name]}>" for name in replied)
        entry = write(place, "ada", **headers)
        assert (entry.thread_id, entry.thread_decision["rule"]) == (wanted.thread_id, rule), (replied, cited)
        # Deterministic: nothing but the order of the rules decides.
        threads = {one.thread_id, two.thread_id, three.thread_id}
        assert set(entry.thread_decision["evidence"].get("also_cited", [])) <= {str(item) for item in threads}
    assert write(place, "ada", references=f"<{ids['strange']}>").thread_decision["rule"] == "new"
    assert strange.thread_id not in {entry.thread_id for entry in (one, two, three)}
    cases("FS-2", len(table) + 1)


def test_the_tag_of_a_reply_address_leads_back_where_every_id_was_lost(db, cases):
    """FS-2: signed, in whatever letters; without a signature of ours, or from a stranger, it leads nowhere."""
    from email import message_from_bytes

    place = house(policy={"reply_address_tag": True})
    ada = write(place, "ada")
    reply = answer(place, ada)
    with in_workspace(place.id):
        address = message_from_bytes(bytes(reply.outbound.raw))["Reply-To"].rpartition("<")[2].strip(">")
    local, _, domain = address.partition("@")
    assert len(local) <= 64
    for form in (address, address.upper(), f"Support <{address}>"):
        back = write(place, "ada", to=form, subject="Without any id")
        assert (back.thread_id, *why(back)) == (ada.thread_id, "reply_address", "certain"), form
        assert back.in_reply_to_id == reply.id
    bent = local[:-1] + ("a" if local[-1] != "a" else "b")
    for who, to in (
        ("bob", address),
        ("ada", f"{bent}@{domain}"),
        ("ada", f"{local[:-3]}@{domain}"),
        ("ada", "support+r@acme.test"),
    ):
        assert write(place, who, to=to).thread_id != ada.thread_id, (who, to)
    joined = wrong_persons(place)
    assert joined == []
    cases("wrong-person joins", len(joined))
    cases("FS-2", 7)


def test_of_entries_with_one_message_id_the_newest_counts(db):
    place = house()
    old = write(place, "ada", said="same", text="One thing")
    new = write(place, "ada", said="same", text="Another thing")
    assert new.thread_id != old.thread_id
    assert write(place, "ada", cites="same").thread_id == new.thread_id


def test_a_number_or_a_name_in_the_subject_joins_nothing(db, cases):
    """ZM-4: subjects are seen, forwarded and guessed; they are a hint for people at most."""
    place = house()
    ada = write(place, "ada", subject="Refund", said="a1")
    tries = [
        {"subject": f"[Ticket#{ada.seq}] Refund"},
        {"subject": f"Re: Refund [{ada.thread_id}]"},
        {"subject": "Re: Refund", "cites": "a1"},
        {"subject": "Fwd: Refund", "cites": "a1", "references": "<a1@customer.test>"},
        {"subject": "AW: Refund", "references": f"<{ada.thread_id}@acme.test> <a1@customer.test>"},
    ]
    for options in tries:
        entry = write(place, "bob", **options)
        assert entry.thread_id != ada.thread_id
        assert entry.contact_id != ada.contact_id
    joined = wrong_persons(place)
    assert joined == []
    cases("wrong-person joins", len(joined))
    cases("ZM-4", len(tries))


SUBJECTS = {
    "Re: AW: SV: Invoice": "invoice",
    "[EXT] Invoice": "invoice",
    "[EXTERNAL] Re: [EXT] invoice": "invoice",
    "Fwd: Re[2]:  Invoice ": "invoice",
    "WG: Rechnung 7": "rechnung 7",
    "RES: R: Fattura": "fattura",
    "Odp.: Ynt: faktura": "faktura",
    "回复：回覆: 订单": "订单",
    "답장: Пересл.: 주문": "주문",
    "Reply needed": "reply needed",
    "R&D: results": "r&d: results",
    "Hat: size 7": "hat: size 7",
    "Re:": "",
    "": "",
}


def test_subjects_without_what_programs_put_in_front(cases):
    assert {subject: grouping.normal(subject) for subject in SUBJECTS} == SUBJECTS
    assert grouping.key(sender="ada@customer.test", subject="Re:") == ""
    cases("CW-3", len(SUBJECTS))


def test_grouping_by_subject_is_off_and_can_be_asked_for(db, cases):
    """CW-3: same sender, same subject, open, not too old; each condition alone keeps them apart."""
    place = house()
    assert write(place, "ada", subject="Invoice").thread_id != write(place, "ada", subject="Invoice").thread_id
    grouped = {"policy": {"group_by_subject": {"within_hours": 2}}}
    inboxes.change(workspace_id=place.id, inbox_id=place.inbox.id, changes=grouped)
    first = write(place, "ada", subject="Invoice")
    joined = write(place, "ada", subject="RE: [EXT] invoice")
    assert (joined.thread_id, *why(joined)) == (first.thread_id, "subject", "low")
    assert write(place, "bob", subject="Invoice").thread_id != first.thread_id
    assert write(place, "ada", subject="Other").thread_id != first.thread_id
    assert write(place, "ada", subject="Re:").thread_decision["rule"] == "new"
    assert write(place, "ada", subject="Invoice", auto_submitted="auto-replied").thread_id != first.thread_id
    for change in ({"status": "closed"}, {"status": "open", "last_entry_at": "2020-01-01T00:00:00Z"}):
        with in_workspace(place.id):
            Thread.objects.filter(id=first.thread_id).update(**change)
        assert write(place, "ada", subject="Invoice").thread_id != first.thread_id
        with in_workspace(place.id):
            Thread.objects.exclude(id=first.thread_id).update(status="closed")
    joined = wrong_persons(place)
    assert joined == []
    cases("wrong-person joins", len(joined))
    cases("CW-3", 9)


def test_mails_of_one_subject_that_arrive_at_once_are_one_conversation(db):
    from concurrent.futures import ThreadPoolExecutor

    from django.db import connection

    from inbox.services import ingesting
    from tests.factories.world import hand_in

    place = house()
    inboxes.change(workspace_id=place.id, inbox_id=place.inbox.id, changes={"policy": {"group_by_subject": {}}})
    for _ in range(16):
        hand_in(mail(subject="Invoice", text=uuid4().hex))

    def work(_):
        ingesting.process_all()
        connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    with in_workspace(place.id):
        assert Thread.objects.get().entry_count == 16
    assert broken(place) == {}


FORWARDS = {
    "gmail": "Please look.\n\n---------- Forwarded message ---------\nFrom: Ada Lovelace <ada@customer.test>\n"
    "Date: Thu, 5 Nov 2026 at 09:00\nSubject: Where is it?\nTo: <mika@acme.test>\n\nWhere is my order?\n",
    "outlook": "FYI\n\n________________________________\nVon: Ada Lovelace [mailto:ada@customer.test]\n"
    "Gesendet: Donnerstag, 5. November 2026 09:00\nAn: Mika\nBetreff: Wo ist es?\n\nWo ist meine Bestellung?\n",
    "apple": "Begin forwarded message:\n\nFrom: Ada Lovelace <ada@customer.test>\nSubject: Where is it?\n"
    "Date: 5 November 2026 at 09:00:00 CET\nTo: mika@acme.test\n\nWhere is my order?\n",
    "french, bold": "Pour toi\n\n*De :* Ada Lovelace <ada@customer.test>\n*Envoyé :* jeudi 5 novembre 2026\n"
    "*À :* Mika\n*Objet :* Commande\n\nOù est ma commande ?\n",
}


@pytest.mark.parametrize("form", FORWARDS)
def test_a_colleagues_forward_begins_a_conversation_and_suggests_its_customer(db, cases, form):
    """FS-5, ZM-5: Outlook's forward cites the original; nothing happens by itself, and the customer hears nothing."""
    place = house()
    with in_workspace(place.id):
        user = User.objects.create(email="mika@acme.test")
        Membership.objects.create(workspace_id=place.id, user=user, status="active")
    original = write(place, "ada", said="a1", cc="mika@acme.test, carl@customer.test")
    wanted = {"kind": "original_sender", "name": "Ada Lovelace", "address": "ada@customer.test"}
    for who, by_staff in (("mika@acme.test", True), ("carl@customer.test", False)):
        entry = write(place, who, subject="WG: Where is it?", text=FORWARDS[form], cites="a1")
        assert entry.thread_decision["evidence"]["suggestion"] == wanted | {"by_staff": by_staff}, who
        # Only a colleague's is taken out of the conversation that it cites; Carl took part in it.
        assert (entry.thread_id != original.thread_id) == by_staff
    with in_workspace(place.id):
        assert not Entry.objects.filter(direction="outbound").exists()
    # An answer of the same colleague that is no forward suggests nothing.
    plain = write(place, "mika@acme.test", subject="Re: Where is it?", text="I know her.", cites="a1")
    assert "suggestion" not in plain.thread_decision["evidence"]
    cases("FS-5", 3)


def test_the_journal_takes_answers_from_outside_when_the_name_is_proven(db, cases):
    """CW-1 (a), IS-3: an answer from Outlook, copied to the inbox itself; a forged one stays apart (C3)."""
    place = house()
    ada = write(place, "ada", said="a1")

    def outside(name, verdicts):
        raw = mail(
            sender="support@acme.test",
            to="ada@customer.test",
            in_reply_to="<a1@customer.test>",
            message_id=f"<{name}@x>",
        )
        (row,) = hand(raw, verdicts)
        return entry_of(place, row.email_id)

    def hand(raw, verdicts):
        from inbox.services import accepting, ingesting

        rows = accepting.accept(
            source="ses", provider_message_id=uuid4().hex, raw=raw, recipients=["support@acme.test"],
            envelope_from="support@acme.test", verdicts=verdicts,
        )  # fmt: skip
        ingesting.process_all()
        return rows

    assert outside("o1", PASS).thread_id != ada.thread_id
    inboxes.change(workspace_id=place.id, inbox_id=place.inbox.id, changes={"policy": {"journal": True}})
    seen = outside("o2", PASS)
    assert (seen.thread_id, *why(seen)) == (ada.thread_id, "journal", "high")
    assert seen.mail_class == "self"
    for number, verdicts in enumerate(({}, {"dmarc": "FAIL"}, {"spf": "PASS", "mail_from": "evil.test"})):
        assert outside(f"forged{number}", verdicts).thread_id != ada.thread_id
    # What the customer answers to the answer that nobody sent from here.
    assert write(place, "ada", cites="<o2@x>").thread_id == ada.thread_id
    cases("IS-3", 6)


def test_mail_from_our_own_address_merges_nothing(db, cases):
    """IS-3: everybody could claim to be the inbox, and every conversation is its own."""
    place = house()
    threads = {write(place, who, said=who).thread_id for who in ("ada", "bob", "cleo")}
    for who in ("ada", "bob", "cleo"):
        entry = write(place, "support@acme.test", cites=who)
        assert entry.thread_id not in threads
        with in_workspace(place.id):
            assert not ThreadParticipant.objects.filter(thread_id=entry.thread_id, role="requester").exists()
    assert write(place, "eve", cites="ada").thread_id not in threads
    cases("IS-3", 4)


def test_each_entry_says_why_it_is_there(db):
    """By HTTP and on the conversation's page, in one form for whatever rule."""
    from tests.resources.nine import Caller

    place = house()
    first = write(place, "ada", said="a1")
    answer(place, first)
    write(place, "ada", cites="a1")
    rows = Caller(place.id)("GET", f"/threads/{first.thread_id}/entries").json()["data"]
    found = [(row["thread_decision"]["rule"], row["thread_decision"]["confidence"]) for row in rows]
    assert found == [("in_reply_to", "high"), ("reply", "certain"), ("new", "certain")]
    assert rows[0]["thread_decision"]["evidence"]["cited"] == "a1@customer.test"
    assert all(set(row["thread_decision"]) == {"rule", "confidence", "evidence"} for row in rows)
    deliver(mail())
