"""The processing policy: typed, versioned, each fault pointed at, old versions read, and every key with its effect."""

from datetime import UTC, datetime

import pytest

from agents.services import deciding
from agents.types import Autonomy
from inbox import policy as policies
from inbox.models import Attachment, Email, Entry, InboundMessage, Inbox, OutboundMessage
from inbox.services import inboxes, receiving
from kernel import outbox
from kernel.errors import Invalid
from kernel.transactions import in_workspace
from tests.factories.world import deliver, house, mail
from tests.resources.nine import Caller, with_file

HOURS = {"timezone": "Europe/Berlin", "weekly": [{"day": 1, "from": "09:00", "to": "17:30"}]}

FAULTS = [
    ({"frobnicate": 1}, ""),
    ({"version": 3}, "/version"),
    ({"version": "2"}, "/version"),
    ({"version": True}, "/version"),
    ({"version": None}, "/version"),
    ({"agent": "maybe"}, "/agent"),
    ({"agent": None}, "/agent"),
    ({"run_agent": "yes"}, "/run_agent"),
    ({"version": 2, "run_agent": True}, "/run_agent"),
    ({"autonomy": "total"}, "/autonomy"),
    ({"quarantine_spam": "yes"}, "/quarantine_spam"),
    ({"quarantine_virus": 1}, "/quarantine_virus"),
    ({"answer_dmarc_fail": None}, "/answer_dmarc_fail"),
    ({"answer_blind_copies": []}, "/answer_blind_copies"),
    ({"block_senders": "all"}, "/block_senders"),
    ({"block_senders": [1]}, "/block_senders/0"),
    ({"block_senders": ["ok.example", "no body"]}, "/block_senders/1"),
    ({"block_senders": [""]}, "/block_senders/0"),
    ({"block_senders": ["localhost"]}, "/block_senders/0"),
    ({"allow_senders": ["a@b@c.example"]}, "/allow_senders/0"),
    ({"allow_senders": ["x.example"] * 1001}, "/allow_senders"),
    ({"attachments": []}, "/attachments"),
    ({"attachments": {"max_bytes": -1}}, "/attachments/max_bytes"),
    ({"attachments": {"max_count": 1.5}}, "/attachments/max_count"),
    ({"attachments": {"refuse_extensions": [".exe"]}}, "/attachments/refuse_extensions/0"),
    ({"attachments": {"more": 1}}, "/attachments/more"),
    ({"auto_ack": "thanks"}, "/auto_ack"),
    ({"auto_ack": {}}, "/auto_ack/text"),
    ({"auto_ack": {"text": ""}}, "/auto_ack/text"),
    ({"auto_ack": {"text": "x" * 5001}}, "/auto_ack/text"),
    ({"auto_ack": {"text": "x", "when": "never"}}, "/auto_ack/when"),
    ({"auto_ack": {"text": "x", "when": "outside_hours"}}, ""),
    ({"business_hours": {"weekly": []}}, "/business_hours/timezone"),
    ({"business_hours": {"timezone": "Mars/Olympus"}}, "/business_hours/timezone"),
    (
        {"business_hours": HOURS | {"weekly": [{"day": 8, "from": "09:00", "to": "10:00"}]}},
        "/business_hours/weekly/0/day",
    ),
    (
        {"business_hours": HOURS | {"weekly": [{"day": 1, "from": "9:00", "to": "10:00"}]}},
        "/business_hours/weekly/0/from",
    ),
    ({"business_hours": HOURS | {"weekly": [{"day": 1, "from": "10:00", "to": "09:00"}]}}, "/business_hours/weekly/0"),
    ({"business_hours": HOURS | {"weekly": HOURS["weekly"] * 2}}, "/business_hours"),
    ({"when_inactive": "burn"}, "/when_inactive"),
    ({"a/b~c": 1}, "/a~1b~0c"),
]


def test_each_fault_is_pointed_at(db, cases):
    place = house()
    call = Caller(place.id)
    path = f"/inboxes/{place.inbox.id}"
    before = call("GET", path).json()
    for content, where in FAULTS:
        for method, target, body in (("PATCH", path, {}), ("POST", "/inboxes", {"address": "new@acme.test"})):
            answer = call(method, target, body | {"policy": content})
            assert answer.status_code == 422, (content, answer.content)
            (fault,) = answer.json()["errors"]
            wanted = "/policy/frobnicate" if "frobnicate" in content else f"/policy{where}"
            assert fault["pointer"] == wanted, (content, fault)
    assert call("GET", path).json() == before
    cases("S0-17", 2 * len(FAULTS))


def test_a_policy_is_shown_whole_and_its_revisions_are_counted_and_kept(db):
    from audit.models import AuditPayload

    place = house()
    call = Caller(place.id)
    path = f"/inboxes/{place.inbox.id}"
    shown = call("GET", path).json()
    assert (shown["policy"]["version"], shown["policy_version"]) == (2, 1)
    assert set(shown["policy"]) == set(policies.InboxPolicy.model_fields)
    given = {"business_hours": HOURS, "auto_ack": {"text": "Got it.", "when": "outside_hours"}, "autonomy": "draft"}
    changed = call("PATCH", path, {"policy": given}).json()
    assert {name: changed["policy"][name] for name in given} == given
    assert changed["policy_version"] == 2
    # What was shown can be sent back.
    again = call("PATCH", path, {"policy": changed["policy"]}).json()
    assert (again["policy"], again["policy_version"]) == (changed["policy"], 3)
    # A change of something else leaves it alone.
    assert call("PATCH", path, {"name": "Other"}).json()["policy_version"] == 3
    with in_workspace(place.id):
        kept = [row.payload for row in AuditPayload.objects.all() if "policy_version" in (row.payload or {})]
    assert sorted(row["policy_version"] for row in kept) == [2, 3]
    assert all(row["policy"]["autonomy"] == "draft" for row in kept)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {}),
        ({"run_agent": False}, {"agent": "none"}),
        ({"run_agent": True, "block_senders": ["bad.example"]}, {"block_senders": ["bad.example"]}),
        ({"version": 1, "when_inactive": "bounce"}, {"when_inactive": "bounce"}),
        ({"quarantine_spam": False, "answer_dmarc_fail": True}, {"quarantine_spam": False, "answer_dmarc_fail": True}),
    ],
)
def test_a_policy_stored_in_its_first_version_is_read(db, old, new):
    place = house()
    with in_workspace(place.id):
        Inbox.objects.update(policy=old)
    shown = Caller(place.id)("GET", f"/inboxes/{place.inbox.id}").json()["policy"]
    assert shown == policies.shown(new)
    assert shown["version"] == 2
    deliver(mail())
    with in_workspace(place.id):
        assert Email.objects.get().state == "threaded"


@pytest.mark.parametrize(
    ("at", "is_open"),
    [
        ("2026-11-30T08:00:00Z", True),  # Monday, 9:00 in Berlin
        ("2026-11-30T07:59:59Z", False),
        ("2026-11-30T16:29:59Z", True),
        ("2026-11-30T16:30:00Z", False),
        ("2026-12-01T09:00:00Z", False),
        ("2026-06-29T07:00:00Z", True),  # in summer an hour earlier
        ("2026-06-29T06:59:00Z", False),
    ],
)
def test_business_hours_are_local(at, is_open):
    hours = policies.parse({"business_hours": HOURS}).business_hours
    assert hours.is_open(datetime.fromisoformat(at).astimezone(UTC)) is is_open


def test_a_day_may_last_until_midnight():
    hours = policies.parse(
        {"business_hours": HOURS | {"weekly": [{"day": 7, "from": "18:00", "to": "24:00"}]}}
    ).business_hours
    assert hours.is_open(datetime.fromisoformat("2026-11-29T22:59:59+00:00"))
    assert not hours.is_open(datetime.fromisoformat("2026-11-29T23:00:00+00:00"))


# --- what each key does ---------------------------------------------------------------------------------------------


def with_policy(**policy):
    place = house()
    inboxes.change(workspace_id=place.id, inbox_id=place.inbox.id, changes={"policy": policy})
    return place


def fate(place, raw: bytes) -> tuple[str, str]:
    (accepted,) = deliver(raw)
    with in_workspace(place.id):
        email = Email.objects.get(id=accepted.email_id)
        return email.state, email.state_reason


def test_only_allowed_senders_are_taken_up_and_blocked_ones_never(db):
    place = with_policy(
        allow_senders=["customer.test", "eve@Elsewhere.test"], block_senders=["bob@customer.test", "bad.customer.test"]
    )
    for sender, wanted in {
        "ada@customer.test": ("threaded", ""),
        "EVE@ELSEWHERE.test": ("threaded", ""),
        "adam@elsewhere.test": ("ignored", "sender_not_allowed"),
        "ada@sub.customer.test": ("ignored", "sender_not_allowed"),
        "ada@customer.test.evil.test": ("ignored", "sender_not_allowed"),
        "Bob@Customer.test": ("ignored", "blocked_sender"),
        "x@bad.customer.test": ("ignored", "blocked_sender"),
    }.items():
        assert fate(place, mail(sender=sender)) == wanted, sender


def test_attachments_beyond_the_limits_are_left_out_and_said(db):
    place = with_policy(attachments={"max_bytes": 10, "refuse_extensions": ["exe"]})
    for name, content in (("ok.txt", b"small"), ("big.txt", b"x" * 11), ("run.EXE", b"small")):
        deliver(with_file(name, content))
    with in_workspace(place.id):
        assert list(Attachment.objects.values_list("filename", flat=True)) == ["ok.txt"]
        told = Email.objects.filter(warnings__contains=["attachment_left_out"])
        assert told.count() == 2
        assert all(b"filename=" in bytes(row.raw) for row in InboundMessage.objects.all())
    inboxes.change(
        workspace_id=place.id, inbox_id=place.inbox.id, changes={"policy": {"attachments": {"max_count": 0}}}
    )
    deliver(with_file())
    with in_workspace(place.id):
        assert Attachment.objects.count() == 1


def switch_off(place) -> None:
    inboxes.change(workspace_id=place.id, inbox_id=place.inbox.id, changes={"active": False})


@pytest.mark.parametrize("what", ["store", "drop", "bounce"])
def test_what_becomes_of_mail_while_the_inbox_is_off(db, what):
    place = with_policy(when_inactive=what)
    assert receiving.knows("support+tag@acme.test")
    switch_off(place)
    assert receiving.knows("Support@acme.test") is (what != "bounce")
    (accepted,) = deliver(mail(subject="Secret plan"))
    call = Caller(place.id)
    body = call("GET", f"/emails/{accepted.email_id}").json()
    dropped = what == "drop"
    assert (body["state"], body["state_reason"]) == (
        "ignored", "inactive_inbox_dropped" if dropped else "inactive_inbox"
    )  # fmt: skip
    assert body["subject"] == ("" if dropped else "Secret plan")
    assert call("GET", f"/emails/{accepted.email_id}/raw").status_code == (404 if dropped else 200)
    with in_workspace(place.id):
        assert (b"Secret" in bytes(InboundMessage.objects.get().raw)) is not dropped
        assert not Entry.objects.exists()


def test_a_mail_that_another_inbox_keeps_is_not_dropped_there(db):
    place = with_policy(when_inactive="drop")
    inboxes.open_inbox(workspace_id=place.id, address="sales@acme.test")
    switch_off(place)
    deliver(mail(subject="Both"), "support@acme.test", "sales@acme.test")
    with in_workspace(place.id):
        assert sorted(Email.objects.values_list("state", "subject")) == [("ignored", ""), ("threaded", "Both")]
        assert b"Both" in bytes(InboundMessage.objects.get().raw)


def test_a_first_mail_is_acknowledged_once_and_the_turn_stays_open(db):
    from inbox.models import Thread

    place = with_policy(auto_ack={"text": "We have your mail."})
    deliver(mail(message_id="<a@customer.test>"))
    deliver(mail(in_reply_to="<a@customer.test>", text="And?"))
    deliver(mail(auto_submitted="auto-replied"))
    deliver(mail(sender="noreply@customer.test"))
    while outbox.drain():
        pass
    with in_workspace(place.id):
        (sent,) = OutboundMessage.objects.select_related("entry")
        assert (sent.is_automatic, sent.entry.outbound_kind) == (True, "auto_ack")
        assert b"Auto-Submitted: auto-replied" in bytes(sent.raw)
        assert b"We have your mail." in bytes(sent.raw)
        assert Thread.objects.get(id=sent.entry.thread_id).first_unanswered_inbound_at is not None


@pytest.mark.parametrize("why", ["no text", "an agent answers", "people are there"])
def test_nobody_is_acknowledged_without_need(db, why):
    from agents.services import configuring

    always = {"timezone": "UTC", "weekly": [{"day": n, "from": "00:00", "to": "24:00"} for n in range(1, 8)]}
    place = with_policy(
        **{
            "no text": {},
            "an agent answers": {"auto_ack": {"text": "Thanks."}},
            "people are there": {"auto_ack": {"text": "Thanks.", "when": "outside_hours"}, "business_hours": always},
        }[why]
    )
    if why == "an agent answers":
        agent = configuring.create(workspace_id=place.id, name="Help")
        inboxes.change(workspace_id=place.id, inbox_id=place.inbox.id, changes={"agent_id": agent.id})
    deliver(mail())
    while outbox.drain():
        pass
    with in_workspace(place.id):
        assert not OutboundMessage.objects.filter(entry__outbound_kind="auto_ack").exists()


@pytest.mark.parametrize("own", Autonomy)
@pytest.mark.parametrize("cap", [None, *Autonomy])
def test_an_inbox_can_only_lower_how_far_an_agent_goes(own, cap):
    order = list(Autonomy)
    found = deciding.least(own, cap)
    assert order.index(found) == min(order.index(own), order.index(Autonomy(cap)) if cap else 9)


def test_the_cap_of_the_inbox_asks_a_person_for_what_the_agent_would_send(db):
    from tests.agents.factories import case, office, play, receive, work

    place = office(autonomy="autonomous")
    inboxes.change(workspace_id=place.id, inbox_id=place.house.inbox.id, changes={"policy": {"autonomy": "draft"}})
    play()
    email = receive(place)
    work()
    assert case(email).execution.status == "waiting_approval"


def test_what_is_stored_is_only_what_differs():
    assert policies.stored(policies.parse(policies.shown({}))) == {"version": 2}
    with pytest.raises(Invalid):
        policies.parse({"version": 99})
