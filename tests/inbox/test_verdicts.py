"""What the receiver found out decides what becomes of a mail (A9): a table over every verdict, and nothing else.

Each case is one mail to two inboxes: one with the usual policy, one that wants proof. It answers an earlier mail of the
contact whose address it names, so that it shows whether it passes for them.
"""

from dataclasses import dataclass

import pytest
from django.core.checks import run_checks

from inbox.models import Email, Entry
from inbox.queries import conversations
from inbox.services import inboxes, ingesting, quarantine
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tests.factories.world import House, house, mail
from tests.inbox.test_ingress import message, post

STATES = ("PASS", "FAIL", "GRAY", "PROCESSING_FAILED", "DISABLED", None, "SOMETHING_NEW")
STRICT = {"answer_unproven": False, "quarantine_unscanned": True}


@dataclass(frozen=True)
class Fate:
    """What became of a mail; `passes` means as the contact whose address it names, `asks` that no agent acts alone."""

    state: str = "threaded"
    reason: str = ""
    passes: bool = True
    asks: bool = False


SHOWN = Fate()
DOUBTED = Fate(asks=True)
IMPOSTOR = Fate(passes=False, asks=True)


def aside(reason: str) -> Fate:
    return Fate("quarantined", reason, passes=False)


# By check and state: with the usual policy, and with the strict one. Everything else is PASS.
TABLE: dict[tuple[str, str | None], tuple[Fate, Fate]] = {
    **{(check, state): (SHOWN, SHOWN) for check in ("spam", "spf", "dkim") for state in STATES},
    ("spam", "FAIL"): (aside("spam"), aside("spam")),
    ("virus", "PASS"): (SHOWN, SHOWN),
    ("virus", "FAIL"): (aside("virus"), aside("virus")),
    **{
        ("virus", state): (SHOWN, aside("not_scanned_for_viruses")) for state in STATES if state not in ("PASS", "FAIL")
    },
    ("dmarc", "PASS"): (SHOWN, SHOWN),
    ("dmarc", "FAIL"): (IMPOSTOR, IMPOSTOR),
    # Nobody vouches by DMARC; an SPF of the sender's own domain does.
    **{("dmarc", state): (SHOWN, SHOWN) for state in STATES if state not in ("PASS", "FAIL")},
}

# Further ones: verdicts, envelope sender, the two fates.
OWN, SUB, OTHER = "ada@customer.test", "bounce@mail.customer.test", "ada@evil.test"
SPECIAL: dict[str, tuple[dict[str, str], str, Fate, Fate]] = {
    "DMARC fails, its domain asks for nothing": ({"dmarc": "FAIL", "dmarc_policy": "none"}, OWN, IMPOSTOR, IMPOSTOR),
    "DMARC fails, quarantine": (
        {"dmarc": "FAIL", "dmarc_policy": "quarantine"}, OWN, aside("dmarc_quarantine"), aside("dmarc_quarantine"),
    ),
    "DMARC fails, reject": ({"dmarc": "FAIL", "dmarc_policy": "reject"}, OWN, aside("dmarc_reject"), aside("dmarc_reject")),
    "a policy without a failure": ({"dmarc": "GRAY", "dmarc_policy": "reject"}, OWN, SHOWN, SHOWN),
    "a policy that nobody knows": ({"dmarc": "FAIL", "dmarc_policy": "destroy"}, OWN, IMPOSTOR, IMPOSTOR),
    # The trick: a server of one's own passes SPF, for one's own domain.
    "SPF passes for another domain": ({"dmarc": "GRAY"}, OTHER, SHOWN, DOUBTED),
    "SPF passes for another domain, DKIM too": ({"dmarc": "PROCESSING_FAILED", "dkim": "PASS"}, OTHER, SHOWN, DOUBTED),
    "SPF passes for a name that ends alike": ({"dmarc": "GRAY"}, "ada@evilcustomer.test", SHOWN, DOUBTED),
    "SPF passes for a subdomain": ({"dmarc": "GRAY"}, SUB, SHOWN, SHOWN),
    "SPF passes for the own domain, DMARC fails": ({"dmarc": "FAIL"}, OWN, IMPOSTOR, IMPOSTOR),
    "SPF passes for another domain, DMARC passes": ({"dmarc": "PASS"}, OTHER, SHOWN, SHOWN),
    "nothing passes": ({"dmarc": "GRAY", "spf": "FAIL", "dkim": "FAIL"}, OWN, SHOWN, DOUBTED),
    "a null sender cannot vouch": ({"dmarc": "GRAY"}, "", Fate("ignored", "auto_reply"), Fate("ignored", "auto_reply")),
}  # fmt: skip


@pytest.fixture
def acme(db, settings):
    settings.INGEST_LEASE_SECONDS = 60.0
    place = house()
    inboxes.open_inbox(workspace_id=place.id, address="strict@acme.test", policy=STRICT)
    return place


def _send(topic, ses_id: str, verdicts: dict[str, str | None], envelope_from: str, **headers: str) -> None:
    raw = mail(to="support@acme.test, strict@acme.test", **headers)
    options = {"ses_id": ses_id, "recipients": ["support@acme.test", "strict@acme.test"], "verdicts": verdicts}
    assert post(topic.notification(message(raw, envelope_from=envelope_from, **options))).status_code == 200


def _fate(place: House, ses_id: str, address: str) -> Fate:
    email = Email.objects.get(message_id=ses_id, inbox__address=address)
    entry = Entry.objects.filter(email=email).first()
    # Whether an agent could ever hear of it.
    heard = OutboxEvent.objects.filter(slug="email.received", payload__email_id=str(email.id)).count()
    assert heard == (entry is not None)
    if entry is None:
        return Fate(email.state, email.state_reason, passes=False)
    first = Entry.objects.get(email__message_id="first", inbox_id=entry.inbox_id)
    passes = (entry.thread_id, entry.contact_id) == (first.thread_id, first.contact_id)
    assert passes or (entry.contact_id is None and entry.thread_id != first.thread_id)
    doubted = conversations.mail_context(email_id=email.id).sender_doubted if email.state == "threaded" else False
    return Fate(email.state, email.state_reason, passes, doubted)


def test_the_table(acme, topic, cases):
    _send(topic, "first", {}, OWN, message_id="<first@customer.test>")
    ingesting.process_all()
    expected = {}
    for number, ((check, state), fates) in enumerate(TABLE.items()):
        expected[f"{number}: {check} {state}"] = fates
        _send(topic, f"{number}: {check} {state}", {check: state}, OWN, in_reply_to="<first@customer.test>")
    for name, (verdicts, envelope_from, usual, strict) in SPECIAL.items():
        expected[name] = (usual, strict)
        _send(topic, name, verdicts, envelope_from, in_reply_to="<first@customer.test>")
    ingesting.process_all()
    with in_workspace(acme.id):
        found = {
            name: (_fate(acme, name, "support@acme.test"), _fate(acme, name, "strict@acme.test")) for name in expected
        }
    wrong = {name: (found[name], expected[name]) for name in expected if found[name] != expected[name]}
    assert wrong == {}
    cases("A9", len(TABLE) + len(SPECIAL))


def test_a_header_inside_the_mail_is_no_verdict(acme, topic):
    headers = {
        "x_ses_virus_verdict": "PASS",
        "authentication_results": "amazonses.com; dmarc=pass header.from=customer.test",
    }
    _send(topic, "lying", {"virus": "FAIL", "dmarc": "FAIL"}, OWN, **headers)
    ingesting.process_all()
    with in_workspace(acme.id):
        assert set(Email.objects.values_list("state", "state_reason")) == {("quarantined", "virus")}


def test_a_person_releases_all_but_a_virus(acme, topic):
    for name, verdicts in {"reject": {"dmarc": "FAIL", "dmarc_policy": "reject"}, "virus": {"virus": "FAIL"}}.items():
        _send(topic, name, verdicts, OWN)
    ingesting.process_all()
    with in_workspace(acme.id):
        held = set(Email.objects.filter(state="quarantined").values_list("inbound_message_id", flat=True))
    assert len(held) == 2
    for message_id in held:
        quarantine.replay(workspace_id=acme.id, inbound_message_id=message_id)
    ingesting.process_all()
    with in_workspace(acme.id):
        assert set(Email.objects.values_list("message_id", "state")) == {
            ("reject", "threaded"),
            ("virus", "quarantined"),
        }
        # It is still nobody's contact.
        assert set(Entry.objects.values_list("contact_id", flat=True)) == {None}


def test_the_installation_has_defaults_that_an_inbox_overrides(acme, topic, settings):
    settings.INBOX_POLICY = {"honour_dmarc_policy": False, "quarantine_unscanned": True}
    inbox = acme.inbox
    inboxes.change(workspace_id=acme.id, inbox_id=inbox.id, changes={"policy": {"quarantine_unscanned": False}})
    _send(topic, "unscanned", {"virus": "GRAY", "dmarc": "FAIL", "dmarc_policy": "reject"}, OWN)
    ingesting.process_all()
    with in_workspace(acme.id):
        found = dict(Email.objects.values_list("inbox__address", "state"))
    assert found == {"support@acme.test": "threaded", "strict@acme.test": "quarantined"}
    settings.INBOX_POLICY = {"quarantine_unscaned": True}
    assert [error.id for error in run_checks() if error.id == "inbox.E002"] == ["inbox.E002"]
