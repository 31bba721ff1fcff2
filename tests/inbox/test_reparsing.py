"""Stored mail read again: what an older reader got wrong is put right, and nothing else moves."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from audit.models import AuditEvent
from inbox.models import Attachment, Email, Entry, InboundMessage, Thread
from inbox.services import reparsing
from kernel.errors import Conflict, NotFound
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tests.factories.world import deliver, house, mail
from tests.resources.nine import Caller, with_file


def as_an_older_reader_left_it(place, email_id) -> None:
    with in_workspace(place.id):
        Email.objects.filter(id=email_id).update(subject="=?utf-8?Q?Gr=C3=BC=C3=9Fe?=", from_name="Ad\u00c3\u00a4")
        entries = Entry.objects.filter(email_id=email_id)
        entries.update(subject="=?utf-8?Q?Gr=C3=BC=C3=9Fe?=", body_text="", extracted_text="")
        Attachment.objects.filter(email_id=email_id).delete()


def test_what_differs_is_shown_first_and_then_taken_over(db):
    acme, globex = house(), house("globex")
    (accepted,) = deliver(with_file())
    with in_workspace(acme.id):
        before = Entry.objects.values().get()
        files = list(Attachment.objects.values_list("filename", flat=True))
    assert reparsing.reparse(workspace_id=acme.id, email_id=accepted.email_id) == []
    as_an_older_reader_left_it(acme, accepted.email_id)
    trial = reparsing.reparse(workspace_id=acme.id, email_id=accepted.email_id, is_trial=True)
    assert {change["field"] for change in trial} == {
        "subject",
        "from_name",
        "body_text",
        "extracted_text",
        "attachments",
    }
    with in_workspace(acme.id):
        assert Entry.objects.get().body_text == ""
    done = reparsing.reparse(workspace_id=acme.id, email_id=accepted.email_id)
    assert done == trial
    with in_workspace(acme.id):
        after = Entry.objects.values().get()
        assert {name: value for name, value in after.items() if name != "updated_at"} == {
            name: value for name, value in before.items() if name != "updated_at"
        }
        assert list(Attachment.objects.values_list("filename", flat=True)) == files
        assert Thread.objects.count() == 1
        assert OutboxEvent.objects.order_by("-id").values_list("slug", flat=True)[0] == "email.updated"
        assert AuditEvent.objects.order_by("-sequence")[0].action == "email.reparse"
    assert reparsing.reparse(workspace_id=acme.id, email_id=accepted.email_id) == []
    with pytest.raises(NotFound):
        reparsing.reparse(workspace_id=globex.id, email_id=accepted.email_id)
    with in_workspace(acme.id):
        InboundMessage.objects.update(raw=b"")
    with pytest.raises(Conflict):
        reparsing.reparse(workspace_id=acme.id, email_id=accepted.email_id)


def test_over_http_it_needs_its_permission(db):
    acme, globex = house(), house("globex")
    (accepted,) = deliver(with_file())
    as_an_older_reader_left_it(acme, accepted.email_id)
    path = f"/emails/{accepted.email_id}/reparse"
    assert Caller(acme.id, "email.read", "email.create")("POST", path, {}).status_code == 403
    assert Caller(globex.id)("POST", path, {}).status_code == 404
    caller = Caller(acme.id, "quarantine.manage")
    looked = caller("POST", path, {"dry_run": True}).json()
    assert (looked["applied"], bool(looked["changes"])) == (False, True)
    done = caller("POST", path, {}).json()
    assert (done["applied"], done["changes"]) == (True, looked["changes"])
    assert caller("POST", path, {}).json()["applied"] is False


def test_the_command_shows_and_applies(db):
    acme = house()
    (accepted,) = deliver(mail(subject="Grüße"))
    deliver(mail(sender="bob@customer.test"))
    with in_workspace(acme.id):
        Entry.objects.filter(email_id=accepted.email_id).update(body_text="wrong")

    def run(*options: str) -> str:
        written = io.StringIO()
        call_command("reparse", *options, stdout=written)
        return written.getvalue()

    assert "2 read, 1 would change" in run()
    (line,) = run("--json").splitlines()
    assert json.loads(line)["changes"][0]["field"] == "body_text"
    assert "1 changed" in run("--apply", "--inbox", "support@acme.test")
    assert "2 read, 0 would change" in run()
    with in_workspace(acme.id):
        InboundMessage.objects.update(raw=b"")
    with pytest.raises(CommandError):
        run("--email", str(accepted.email_id))
