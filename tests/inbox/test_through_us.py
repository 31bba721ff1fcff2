"""Customers behind a mailing group, a web form or a tool that marks its mail are seen by people (ZM-7, FS-4)."""

from uuid import uuid4

import pytest

from inbox.models import Email, Entry, OutboundMessage, Thread
from inbox.services import replying
from inbox.types import OutboundKind
from kernel.context import Actor
from kernel.transactions import in_workspace, unit_of_work
from tests.agents.factories import drain, office, work
from tests.factories.world import deliver, house, mail

JO = "Jo <jo@c.test>"
GROUP = {"list_id": "<support.acme.test>", "precedence": "list", "x_google_group_id": "1"}
UNSUBSCRIBE = {"list_unsubscribe": "<https://tool.test/u>"}

WAYS = {
    "a group": ({"sender": JO, **GROUP}, "jo@c.test"),
    "a group known by its address": ({"sender": JO, "x_beenthere": "support@acme.test"}, "jo@c.test"),
    "a group that rewrites": (
        {"sender": "'Jo' via Support <support@acme.test>", "reply_to": "jo@yahoo.test", **GROUP}, "jo@yahoo.test",
    ),
    "a web form": ({"sender": "Shop <support@acme.test>", "reply_to": JO}, "jo@c.test"),
    "a web form by a bulk sender": ({"sender": "support@acme.test", "reply_to": JO, **UNSUBSCRIBE}, "jo@c.test"),
}  # fmt: skip


def only(place) -> tuple[Email, Thread]:
    with in_workspace(place.id):
        return Email.objects.select_related("inbox").get(), Thread.objects.select_related("contact").get()


@pytest.mark.parametrize("way", WAYS)
def test_people_see_a_customer_who_came_through_us_and_no_machine_answers(db, way, cases):
    fields, customer = WAYS[way]
    place = office(provider="local")
    deliver(mail(text="What are your opening hours on Saturday?", **fields))
    drain()
    work()
    email, thread = only(place)
    assert (email.mail_class, email.may_auto_answer, email.state) == ("human", False, "threaded")
    assert thread.first_unanswered_inbound_at is not None
    with in_workspace(place.id):
        assert not OutboundMessage.objects.exists()
        assert set(thread.participants.values_list("address", "role")) == {(customer, "requester")}
        with unit_of_work():
            assert replying.named_by(email)[1] == customer
            replying.queue_reply(
                email_id=email.id, text="Until six.", kind=OutboundKind.HUMAN, idempotency_key="k", automatic=False,
                author=Actor("user", str(uuid4()), "Ann"),
            )  # fmt: skip
        assert OutboundMessage.objects.get().envelope_to == [customer]
    cases("ZM-7", 1)


def test_who_came_through_us_goes_on_in_the_same_conversation(db):
    place = house()
    deliver(mail(sender="support@acme.test", reply_to=JO, message_id="<form@acme.test>"))
    deliver(mail(sender="support@acme.test", reply_to=JO, in_reply_to="<form@acme.test>", text="One thing more."))
    deliver(mail(sender=JO, in_reply_to="<form@acme.test>", text="And another."))
    with in_workspace(place.id):
        assert Thread.objects.count() == 1
        assert Entry.objects.values("contact_id").distinct().count() == 1


MACHINES = {
    "our own mail": ("self", {"sender": "support@acme.test"}),
    "with our Reply-To": ("self", {"sender": "support@acme.test", "reply_to": "support+r1@acme.test"}),
    "our own mail, by our group": ("self", {"sender": "support@acme.test", **GROUP}),
    "a form that says that it is a machine": (
        "self", {"sender": "support@acme.test", "reply_to": JO, "auto_submitted": "auto-generated"},
    ),
    "a list that writes in our name": ("self", {"sender": "support@acme.test", "reply_to": JO, "list_id": "<l.other.test>"}),
    "an absence, by our group": ("auto_reply", {"sender": JO, "auto_submitted": "auto-replied", **GROUP}),
    "bulk, by our group": ("list", {"sender": JO, **GROUP, "precedence": "bulk"}),
    "another list": ("list", {"sender": JO, "list_id": "Talk <talk.lists.test>", "precedence": "list"}),
    "another list of our domain": ("list", {"sender": JO, "list_id": "<talk.acme.test>"}),
    "a newsletter": ("list", {"sender": JO, **UNSUBSCRIBE}),
    "a newsletter that answers somebody": ("list", {"sender": JO, "in_reply_to": "<x@c.test>", **UNSUBSCRIBE}),
}  # fmt: skip


@pytest.mark.parametrize("name", MACHINES)
def test_machines_stay_machines(db, name):
    kind, fields = MACHINES[name]
    place = house()
    deliver(mail(**fields))
    email, thread = only(place)
    assert (email.mail_class, email.state) == (kind, "ignored")
    assert thread.first_unanswered_inbound_at is None


@pytest.mark.parametrize(
    ("more", "kind"),
    [({}, "human"), ({"auto_submitted": "auto-replied"}, "auto_reply"), ({"precedence": "bulk"}, "list")],
)
def test_what_cites_our_signed_id_is_no_newsletter(db, more, kind):
    place = house()
    deliver(mail(message_id="<first@customer.test>"))
    with in_workspace(place.id):
        email = Email.objects.get()
        with unit_of_work():
            replying.queue_reply(
                email_id=email.id, text="Tomorrow.", kind=OutboundKind.HUMAN, idempotency_key="k", automatic=False,
                author=Actor("user", str(uuid4()), "Ann"),
            )  # fmt: skip
        cited = OutboundMessage.objects.get().message_id
    deliver(mail(in_reply_to=cited, text="Thanks, and when?", **UNSUBSCRIBE, **more))
    with in_workspace(place.id):
        found = Email.objects.exclude(id=email.id).get()
        assert (found.mail_class, found.may_auto_answer) == (kind, False)
        assert (Thread.objects.get().first_unanswered_inbound_at is not None) is (kind == "human")


def test_reply_to_of_another_domain_is_not_followed_where_from_is_not_ours(db):
    place = house()
    deliver(mail(sender="Boss <boss@firm.test>", reply_to="evil@x.test"))
    assert replying.named_by(only(place)[0])[1] == "boss@firm.test"
