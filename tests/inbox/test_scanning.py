"""The scanner (D5): what it finds is put aside with the mail, and nobody gets a file that it has not let pass."""

import io
import zipfile
from email.message import EmailMessage
from email.policy import SMTP
from uuid import uuid4

import pytest

from files.models import File
from files.services import scanning
from files.transport import clamd
from files.transport.clamd import NotScanned
from inbox.models import Attachment, Email, Entry
from inbox.queries import conversations
from kernel.errors import Conflict
from kernel.transactions import in_workspace
from tests.factories.world import deliver, house
from tests.resources.nine import Caller
from tests.world.clamav import EICAR, Clamd


@pytest.fixture
def scanner(settings):
    with Clamd() as server:
        settings.CLAMD_HOST, settings.CLAMD_PORT = "127.0.0.1", server.port
        settings.CLAMD_RETRY_SECONDS, settings.CLAMD_TIMEOUT_SECONDS = 0, 5
        yield server


def zipped(content: bytes, name: str = "invoice.txt") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return made.getvalue()


def with_file(content: bytes = b"", name: str = "invoice.zip", text: str = "See the file.") -> bytes:
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"] = "ada@customer.test", "support@acme.test"
    message["Subject"], message["Message-ID"] = "Invoice", f"<{uuid4().hex}@c.test>"
    message.set_content(text)
    if content:
        message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return message.as_bytes()


def test_infected_mail_never_reaches_anybody(db, scanner, cases):
    acme = house()
    samples = [
        with_file(text=f"Look:\n{EICAR.decode()}\n"),
        with_file(EICAR, "eicar.com"),
        with_file(zipped(EICAR)),
        with_file(zipped(zipped(EICAR, "eicar.com"), "inner.zip")),
    ]
    for raw in samples:
        (accepted,) = deliver(raw)
        with in_workspace(acme.id):
            email = Email.objects.get(id=accepted.email_id)
            assert (email.state, email.state_reason) == ("quarantined", "virus")
            assert email.verdicts["virus_name"] == "Eicar-Test-Signature"
            assert not Entry.objects.filter(email=email).exists()
            assert not Attachment.objects.filter(email=email).exists()
    cases("D5", len(samples))
    # The counterpart: a clean file of a clean mail is at hand at once, and was asked for once.
    asked = scanner.asked
    (accepted,) = deliver(with_file(zipped(b"42 lamps")))
    with in_workspace(acme.id):
        row = Attachment.objects.select_related("file").get(email_id=accepted.email_id)
        assert (row.file.scan_state, scanner.asked - asked) == ("clean", 1)
        assert conversations.mail_context(email_id=accepted.email_id).attachments == ["invoice.zip"]
    assert Caller(acme.id)("GET", f"/attachments/{row.id}/content").status_code == 200


def test_a_file_waits_for_a_scanner_that_is_away(db, scanner, settings):
    acme, call = house(), None
    scanner.broken = "silent"
    (accepted,) = deliver(with_file(b"%PDF-1.4 words", "a.pdf"))
    call = Caller(acme.id)
    with in_workspace(acme.id):
        row = Attachment.objects.select_related("file").get(email_id=accepted.email_id)
        assert Email.objects.get(id=accepted.email_id).state == "threaded"
        assert conversations.mail_context(email_id=accepted.email_id).attachments == []
    refused = call("GET", f"/attachments/{row.id}/content")
    assert (refused.status_code, refused.json()["code"]) == (409, "file_not_scanned")
    assert call("GET", f"/attachments/{row.id}").json()["scan_state"] == "pending"
    scanner.broken = ""
    assert scanning.scan_due() == 1
    assert call("GET", f"/attachments/{row.id}/content").status_code == 200
    assert scanning.scan_due() == 0


@pytest.mark.parametrize("answer", ["silent", "INSTREAM size limit exceeded. ERROR", "what?", "stream: "])
def test_a_file_that_cannot_be_scanned_stays_away_until_an_operator_asks_again(db, scanner, settings, answer):
    settings.CLAMD_MAX_ATTEMPTS = 2
    acme = house()
    scanner.broken = answer
    (accepted,) = deliver(with_file(EICAR, "a.bin"))
    scanning.scan_due()
    assert scanning.scan_due() == 1
    assert scanning.scan_due() == 0
    with in_workspace(acme.id):
        row = Attachment.objects.select_related("file").get(email_id=accepted.email_id)
        assert row.file.scan_state == "failed"
        assert row.file.scan_reason
    assert Caller(acme.id)("GET", f"/attachments/{row.id}/content").status_code == 409
    scanner.broken = ""
    scanning.scan_again(workspace_id=acme.id, file_id=row.file_id)
    assert scanning.scan_due() == 1
    with in_workspace(acme.id):
        file = File.objects.get(id=row.file_id)
        assert (file.scan_state, file.scan_reason) == ("infected", "Eicar-Test-Signature")
    with pytest.raises(Conflict):
        scanning.scan_again(workspace_id=acme.id, file_id=row.file_id)
    assert Caller(acme.id)("GET", f"/attachments/{row.id}/content").status_code == 404


def test_it_is_asked_by_a_socket_as_well(tmp_path, settings):
    path = str(tmp_path / "clamd.sock")
    settings.CLAMD_SOCKET = path
    with Clamd(path):
        assert clamd.scan(b"words" * 50_000) == ""
        assert clamd.scan(EICAR) == "Eicar-Test-Signature"
    with pytest.raises(NotScanned):
        clamd.scan(b"words")


def test_a_bomb_is_kept_away_without_any_scanner(db):
    acme = house()
    (accepted,) = deliver(with_file(zipped(b"\0" * 200_000_000, "zeros.bin"), "photos.zip"))
    with in_workspace(acme.id):
        row = Attachment.objects.select_related("file").get(email_id=accepted.email_id)
        assert (row.file.scan_state, row.file.scan_reason) == ("infected", "archive bomb")
    assert Caller(acme.id)("GET", f"/attachments/{row.id}/content").status_code == 404
