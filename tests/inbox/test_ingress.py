"""Mail by signed notification, by SMTP and through the API, over real sockets and the real views."""

import base64
import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import orjson
import pytest
from django.db import connection
from django.test import Client

from config.demo.amazon import receipt
from inbox.models import Email, Entry, InboundMessage
from inbox.services import ingesting
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.services import keys
from tests.factories.world import house, mail


def post(body: bytes, **headers: str):
    return Client().post("/ingress/ses", data=body, content_type="text/plain", headers=headers)


def message(raw: bytes, **options) -> str:
    options.setdefault("ses_id", f"ses-{uuid4().hex}")
    options.setdefault("recipients", ["support@acme.test"])
    options.setdefault("envelope_from", "ada@customer.test")
    return receipt(raw, **options)


def stored() -> int:
    with in_all_workspaces("counting in a test"):
        return InboundMessage.objects.count()


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_signed_notification_is_taken(db, topic, version):
    acme = house()
    answer = post(topic.notification(message(mail(), ses_id="ses-9"), version=version))
    assert (answer.status_code, answer.json()) == (200, {"status": "accepted"})
    ingesting.process_all()
    with in_workspace(acme.id):
        assert Email.objects.get().message_id == "ses-9"
        assert Entry.objects.count() == 1


def test_two_notifications_of_one_mail_are_one_mail(db, topic):
    house()
    text = message(mail(), ses_id="ses-9")
    assert post(topic.notification(text)).json() == {"status": "accepted"}
    assert post(topic.notification(text)).json() == {"status": "duplicate"}
    assert stored() == 1


def test_one_notification_many_times_at_once(db, topic):
    acme = house()
    body = topic.notification(message(mail()))
    barrier = threading.Barrier(16)

    def hand(_: int) -> list[int]:
        barrier.wait()
        try:
            return [post(body).status_code for _ in range(12)]
        finally:
            connection.close()

    with ThreadPoolExecutor(16) as pool:
        statuses = [status for batch in pool.map(hand, range(16)) for status in batch]
    assert set(statuses) == {200}
    ingesting.process_all()
    with in_workspace(acme.id):
        assert (Email.objects.count(), Entry.objects.count()) == (1, 1)


def test_a_notification_of_mail_that_cannot_be_taken_says_so(db, topic):
    house()
    for text in ('{"notificationType": "Received"}', message(mail(), recipients=[])):
        answer = post(topic.notification(text))
        assert (answer.status_code, answer.json()["code"]) == (422, "ses_notification_not_usable")
    assert stored() == 0


def auth(place) -> dict[str, str]:
    _, secret = keys.issue(workspace_id=place.id, name="test", scopes=["email.*"])
    return {"Authorization": f"Bearer {secret}"}


def body(**changes):
    return {
        "from": {"name": "Ada", "address": "ada@customer.test"},
        "to": [{"address": "support@acme.test"}],
        "subject": "Hello",
        "text": "Is anybody there?",
    } | changes


def test_a_mail_posted_as_json_is_stored_at_once_and_read_later(db):
    acme = house()
    headers = auth(acme)
    answer = Client().post("/api/v1/emails", body(), content_type="application/json", headers=headers)
    assert answer.status_code == 202
    made = answer.json()
    assert (made["object"], made["state"]) == ("email", "stored")
    ingesting.process_all()
    read = Client().get(f"/api/v1/emails/{made['id']}", headers=headers).json()
    assert (read["state"], read["from_address"], read["text"].strip()) == (
        "threaded",
        "ada@customer.test",
        "Is anybody there?",
    )


def test_the_same_key_is_the_same_mail_and_other_content_is_refused(db):
    acme = house()
    headers = auth(acme) | {"Idempotency-Key": "abc-1"}

    def send(content):
        return Client().post("/api/v1/emails", content, content_type="application/json", headers=headers)

    first, second, other = send(body()), send(body()), send(body(subject="Other"))
    assert (first.status_code, second.status_code, other.status_code) == (202, 202, 422)
    assert first.json()["id"] == second.json()["id"]
    assert first.json()["message_id"] == second.json()["message_id"]
    assert second.headers["Idempotency-Replayed"] == "true"
    assert other.json()["code"] == "idempotency_key_reused"
    assert stored() == 1


def test_a_raw_mail_can_be_posted_and_read_back_byte_for_byte(db):
    acme = house()
    headers, raw = auth(acme), mail()
    made = Client().post("/api/v1/emails", raw, content_type="message/rfc822", headers=headers)
    assert made.status_code == 202
    back = Client().get(f"/api/v1/emails/{made.json()['id']}/raw", headers=headers)
    assert b"".join(back) == raw
    assert back.headers["Content-Disposition"].startswith("attachment")


def test_a_mail_that_is_too_large_is_refused_in_either_form(db, settings):
    """The door lets somewhat more in than a mail may have: what is around it is not the mail."""
    headers, settings.MAIL_MAX_BYTES = auth(house()), 2_000
    for letters, status in ((100, 202), (2_000, 413)):
        text = "x" * letters
        fields = Client().post("/api/v1/emails", body(text=text), content_type="application/json", headers=headers)
        raw = Client().post("/api/v1/emails", mail(text=text), content_type="message/rfc822", headers=headers)
        assert (fields.status_code, raw.status_code) == (status, status)
        if status == 413:
            assert fields.json()["code"] == raw.json()["code"] == "message_too_large"
            assert "2000" in raw.json()["detail"]
    assert stored() == 2


def test_mail_cannot_be_posted_into_another_workspace(db):
    acme, globex = house("acme"), house("globex")
    answer = Client().post(
        "/api/v1/emails",
        body(to=[{"address": globex.inbox.address}]),
        content_type="application/json",
        headers=auth(acme),
    )
    assert answer.status_code == 422
    assert stored() == 0


@pytest.mark.parametrize(
    ("content", "status"),
    [(b"{", 400), (b"{}", 422), (orjson.dumps(body(to=[])), 422), (orjson.dumps(body(headers={"Bcc": "x"})), 202)],
)
def test_bad_bodies_get_a_problem_that_says_what_to_do(db, content, status):
    acme = house()
    answer = Client().post("/api/v1/emails", content, content_type="application/json", headers=auth(acme))
    assert answer.status_code == status
    if status >= 400:
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["detail"]


@pytest.mark.parametrize("credential", [None, "Bearer nonsense", "Bearer mk_x_y", "Basic abc"])
def test_no_credential_no_mail(db, credential):
    house()
    headers = {"Authorization": credential} if credential else {}
    answer = Client().post("/api/v1/emails", body(), content_type="application/json", headers=headers)
    assert answer.status_code in (401, 403)
    assert stored() == 0


def test_attachments_come_back_as_downloads(db):
    acme = house()
    content = b"%PDF-1.4 nothing"
    encoded = base64.encodebytes(content).replace(b"\n", b"\r\n")
    raw = (
        b"From: ada@customer.test\r\nTo: support@acme.test\r\nSubject: File\r\nMIME-Version: 1.0\r\n"
        b"Message-ID: <f@customer.test>\r\n"
        b'Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nHere.\r\n'
        b"--b\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n"
        b'Content-Disposition: attachment; filename="../../x.pdf"\r\n\r\n' + encoded + b"--b--\r\n"
    )
    _, secret = keys.issue(workspace_id=acme.id, name="test", scopes=["*"])
    headers = {"Authorization": f"Bearer {secret}"}
    Client().post("/api/v1/emails", raw, content_type="message/rfc822", headers=headers)
    ingesting.process_all()
    thread = Client().get("/api/v1/threads", headers=headers).json()["data"][0]
    entry = Client().get(f"/api/v1/threads/{thread['id']}/entries", headers=headers).json()["data"][0]
    (attachment,) = entry["attachments"]
    assert (attachment["filename"], attachment["size"]) == ("x.pdf", len(content))
    back = Client().get(f"/api/v1/attachments/{attachment['id']}/content", headers=headers)
    assert b"".join(back) == content
    assert back.headers["X-Content-Type-Options"] == "nosniff"
    other = house("globex")
    assert Client().get(f"/api/v1/attachments/{attachment['id']}/content", headers=auth(other)).status_code in (
        403,
        404,
    )
