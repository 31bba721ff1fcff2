"""Every crafted mail, and every sample, through the whole ingest (B1): kept to the byte, filed, shown, and answered."""

from email import message_from_bytes
from email.policy import default
from pathlib import Path

from inbox.models import Email, InboundMessage
from inbox.services import ingesting, sending, writing
from inbox.services.replying import NobodyToAnswer
from kernel.transactions import in_workspace
from tests.api.conftest import Caller
from tests.factories.world import hand_in, house
from tests.inbox.mime.test_mime_crafted import CASES
from tests.inbox.test_outgoing_headers import ALLOWED, PAT, sink  # noqa: F401 - a fixture

SAMPLES = sorted((Path(__file__).resolve().parents[2] / "samples" / "mail").glob("*.eml"))
BOMB = "20-nested-bomb.eml"
UNFIT = set("\r\n\x00\u2028\u2029\u202e")


def mails() -> dict[str, bytes]:
    return {name: raw for name, (raw, _) in CASES.items()} | {file.name: file.read_bytes() for file in SAMPLES}


def test_every_crafted_mail_is_kept_filed_shown_and_answered(sink, cases):  # noqa: F811
    place, given = house(), mails()
    for name, raw in given.items():
        hand_in(raw, provider_id=name, envelope_from="ann@example.org")
    ingesting.process_all()
    with in_workspace(place.id):
        kept = {row.provider_message_id: row for row in InboundMessage.objects.all()}
        emails = {row.message_id: row for row in Email.objects.all()}
    assert {name: bytes(row.raw) for name, row in kept.items()} == given
    assert {name for name, row in kept.items() if row.state != "done"} == {BOMB}
    assert set(emails) == set(given)
    assert {row.state for name, row in emails.items() if name != BOMB} <= {"threaded", "ignored"}
    for name, row in emails.items():
        for text in (
            row.subject,
            row.from_name,
            row.from_address,
            row.rfc_message_id,
            *row.in_reply_to,
            *row.references,
        ):
            assert not UNFIT & set(text), name
    assert shown(Caller(place.id)) == {str(row.id) for row in emails.values()}
    # What an answer takes over from a mail stands in its header: each header is answered once.
    headers = {
        (row.subject, row.from_name, row.from_address, row.rfc_message_id, *row.references): row
        for row in emails.values()
    }
    answered = sum(answer(place, row) for row in headers.values())
    assert answered > len(headers) / 2
    while sending.send_due():
        pass
    assert len(sink.ledger.messages) == answered
    for taken in sink.ledger.messages:
        assert len(taken.recipients) == 1
        assert {name.lower() for name in message_from_bytes(taken.raw, policy=default)} <= ALLOWED
    cases("B1", len(given))


def shown(caller: Caller) -> set[str]:
    """The ids that the API lists, page after page, each conversation opened once."""
    found: set[str] = set()
    page = "/emails?limit=100"
    while page:
        answer = caller.get(page).json()
        found |= {row["id"] for row in answer["data"]}
        page = f"/emails?limit=100&cursor={answer['next']}" if answer["next"] else ""
    for thread in caller.get("/threads?limit=100").json()["data"]:
        assert caller.get(f"/threads/{thread['id']}/entries").status_code == 200
    return found


def answer(place, email: Email) -> bool:
    """Whether there is somebody to answer, and the answer is under way."""
    if email.state != "threaded":
        return False
    try:
        writing.reply(workspace_id=place.id, email_id=email.id, text="Soon.", key=str(email.id), author=PAT)
    except NobodyToAnswer:
        return False
    return True
