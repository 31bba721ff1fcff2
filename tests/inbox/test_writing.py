"""What people write: a reply handles the conversation."""

import pytest

from inbox.models import Email, OutboundMessage
from inbox.services import writing
from kernel.context import Actor
from kernel.errors import Invalid, NotFound
from kernel.transactions import in_workspace
from tests.factories.world import deliver, house, mail

PAT = Actor(kind="user", id="7", label="Pat")


def test_a_reply_handles_every_waiting_mail_of_its_conversation(db):
    acme = house()
    deliver(mail(message_id="<a@customer.test>"))
    last = deliver(mail(in_reply_to="<a@customer.test>"))[0].email_id
    other = deliver(mail(sender="bob@customer.test"))[0].email_id
    for _ in range(2):
        writing.reply(workspace_id=acme.id, email_id=last, text="We look into it.", key="k1", author=PAT)
    with in_workspace(acme.id):
        assert OutboundMessage.objects.get().is_automatic is False
        states = dict(Email.objects.values_list("id", "state"))
        assert states.pop(other) == "threaded"
        assert set(states.values()) == {"handled"}


def test_empty_text_and_foreign_conversations_are_refused(db):
    acme, globex = house("acme"), house("globex")
    email_id = deliver(mail())[0].email_id
    with pytest.raises(Invalid):
        writing.reply(workspace_id=acme.id, email_id=email_id, text="  ", key="k", author=PAT)
    with pytest.raises(NotFound):
        writing.reply(workspace_id=globex.id, email_id=email_id, text="Hi", key="k", author=PAT)
