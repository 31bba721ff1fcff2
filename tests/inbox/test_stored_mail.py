"""Mail that SES has put into a bucket: fetched over HTTP, asked for again while it is not to be had, never lost."""

from uuid import uuid4

import boto3
import pytest
from botocore.exceptions import ClientError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.channels import s3
from inbox.models import Email, Entry, InboundMessage
from inbox.services import inboxes, ingesting, quarantine
from kernel.transactions import in_all_workspaces, in_workspace
from tests.factories.world import house, mail
from tests.inbox.test_ingress import message, post
from tests.kernel.listener import listening
from tests.world.aws import CREDENTIALS, REGION, moto

BUCKET = "acme-mail"


@pytest.fixture
def account(monkeypatch, settings):
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    settings.AWS_REGION, settings.SES_BUCKETS = REGION, [BUCKET]
    settings.S3_RETRY_SECONDS, settings.INGEST_LEASE_SECONDS = [0.0, 0.0], 60.0
    s3._client.cache_clear()
    yield
    s3._client.cache_clear()


@pytest.fixture
def bucket(account, settings):
    with moto() as endpoint:
        settings.AWS_ENDPOINT_URL = endpoint
        client = boto3.client("s3", region_name=REGION, endpoint_url=endpoint)
        client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        yield client


def announce(topic, key: str, *, bucket: str = BUCKET) -> str:
    """Tell that a mail is stored; SES's id of it."""
    ses_id = f"ses-{uuid4().hex}"
    answer = post(topic.notification(message(b"", ses_id=ses_id, stored_at=(bucket, key))))
    assert (answer.status_code, answer.json()) == (200, {"status": "accepted"})
    return ses_id


def held() -> dict[str, tuple[str, str]]:
    with in_all_workspaces("looking in a test"):
        return {row.provider_message_id: (row.state, row.reason) for row in InboundMessage.objects.defer("raw")}


def test_a_large_mail_comes_from_the_bucket_byte_for_byte(db, topic, bucket):
    acme = house()
    raw = mail(text="Zeile für Zeile\n" * 200_000)
    assert len(raw) > 3_000_000
    bucket.put_object(Bucket=BUCKET, Key="in/ünïcode key", Body=raw)
    ses_id = announce(topic, "in/ünïcode key")
    ingesting.process_all()
    with in_workspace(acme.id):
        kept = InboundMessage.objects.get(provider_message_id=ses_id)
        assert (bytes(kept.raw), kept.size, kept.location) == (raw, len(raw), "")
        assert (Email.objects.get().state, Entry.objects.count()) == ("threaded", 1)


def test_accepting_is_one_statement_whatever_carries_the_mail(db, topic, bucket):
    house()
    bucket.put_object(Bucket=BUCKET, Key="here", Body=mail())
    options = [{}, {"stored_at": (BUCKET, "here")}, {"stored_at": (BUCKET, "missing")}]
    for option in options:
        body = topic.notification(message(mail(), **option))
        for _ in range(2):
            with CaptureQueriesContext(connection) as captured:
                assert post(body).status_code == 200
            assert [row["sql"].split("(")[0] for row in captured.captured_queries] == [
                "SELECT workspace_id, inbound_message_id, email_id, inbox_id, is_new, at FROM inbox_accept_v1"
            ]


def test_a_mail_that_is_not_there_yet_is_asked_for_again(db, topic, bucket):
    acme = house()
    ses_id = announce(topic, "late")
    ingesting.process_due()
    state, reason = held()[ses_id]
    assert state == "stored"
    assert "not in the bucket" in reason
    raw = mail()
    bucket.put_object(Bucket=BUCKET, Key="late", Body=raw)
    ingesting.process_all()
    with in_workspace(acme.id):
        kept = InboundMessage.objects.get()
        assert (bytes(kept.raw), kept.state, kept.reason) == (raw, "done", "")
        assert Email.objects.get().state == "threaded"


@pytest.mark.parametrize("comes", ["with its bytes", "with its place"])
def test_a_dropped_mail_for_a_further_inbox_is_brought_from_the_bucket(db, topic, bucket, settings, comes):
    """The second notification finds the object, or not yet: either way the open inbox has the mail in the end."""
    settings.INGEST_LEASE_SECONDS = 0.0
    acme, raw = house("acme", policy={"when_inactive": "drop"}), mail()
    inboxes.change(workspace_id=acme.id, inbox_id=acme.inbox.id, changes={"active": False})
    inboxes.open_inbox(workspace_id=acme.id, address="sales@acme.test")
    bucket.put_object(Bucket=BUCKET, Key="mail", Body=raw)

    def announced(*recipients: str) -> str:
        body = message(b"", ses_id="ses-1", stored_at=(BUCKET, "mail"), recipients=list(recipients))
        return post(topic.notification(body)).json()["status"]

    assert announced("support@acme.test") == "accepted"
    ingesting.process_all()
    if comes == "with its place":
        bucket.delete_object(Bucket=BUCKET, Key="mail")
    assert announced("sales@acme.test") == "duplicate"
    bucket.put_object(Bucket=BUCKET, Key="mail", Body=raw)
    ingesting.process_all()
    with in_workspace(acme.id):
        kept = InboundMessage.objects.get()
        assert (kept.state, bytes(kept.raw), kept.size) == ("done", raw, len(raw))
        assert Entry.objects.get().subject == "Where is my order?"


@pytest.mark.parametrize("waits", [True, False])
def test_a_mail_whose_bytes_come_with_a_repetition_needs_the_bucket_no_more(db, topic, bucket, settings, waits):
    acme, raw = house(), mail()
    body = topic.notification(message(b"", ses_id="ses-1", stored_at=(BUCKET, "late")))
    assert post(body).json()["status"] == "accepted"
    if not waits:
        ingesting.process_all()
    bucket.put_object(Bucket=BUCKET, Key="late", Body=raw)
    assert post(body).json()["status"] == "duplicate"
    bucket.delete_object(Bucket=BUCKET, Key="late")
    with in_workspace(acme.id):
        kept = InboundMessage.objects.get()
        assert (bytes(kept.raw), kept.size, kept.state) == (raw, len(raw), "stored" if waits else "quarantined")
    if not waits:
        quarantine.replay(workspace_id=acme.id, inbound_message_id=kept.id)
    ingesting.process_all()
    with in_workspace(acme.id):
        assert Entry.objects.count() == 1


def test_a_mail_that_never_comes_is_quarantined_with_the_reason_and_can_be_tried_again(db, topic, bucket):
    acme = house()
    good = announce(topic, "never")
    ingesting.process_all()
    state, reason = held()[good]
    assert (state, reason.split(":")[0]) == ("quarantined", f"The stored mail is not in the bucket {BUCKET}")
    with in_workspace(acme.id):
        kept = InboundMessage.objects.get()
        assert (kept.attempts, Email.objects.get().state) == (3, "quarantined")
    bucket.put_object(Bucket=BUCKET, Key="never", Body=mail())
    quarantine.replay(workspace_id=acme.id, inbound_message_id=kept.id)
    ingesting.process_all()
    with in_workspace(acme.id):
        assert (Email.objects.get().state, Entry.objects.count()) == ("threaded", 1)


def test_what_no_repetition_helps_is_quarantined_at_once(db, topic, bucket, settings):
    house()
    settings.MAIL_MAX_BYTES = 5_000
    bucket.create_bucket(Bucket="others", CreateBucketConfiguration={"LocationConstraint": REGION})
    for name in (BUCKET, "others"):
        bucket.put_object(Bucket=name, Key="mail", Body=mail())
    bucket.put_object(Bucket=BUCKET, Key="large", Body=b"x" * 5_001)
    bucket.put_object(Bucket=BUCKET, Key="sealed", Body=b"x", Metadata={"x-amz-key-v2": "abc"})
    ids = {
        announce(topic, "mail", bucket="others"): "not one of SES_BUCKETS",
        announce(topic, "large"): "more than 5000 bytes",
        announce(topic, "sealed"): "SES encrypted the mail",
        announce(topic, "", bucket=BUCKET): "names no object",
        announce(topic, "a\nb", bucket=BUCKET): "names no object",
        announce(topic, "mail", bucket="../../etc"): "names no object",
    }
    ingesting.process_due()
    found = held()
    assert {found[ses_id][0] for ses_id in ids} == {"quarantined"}
    for ses_id, text in ids.items():
        assert text in found[ses_id][1]


def error(status: str, code: str, text: str) -> bytes:
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{text}</Message></Error>".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


ANSWERS = {
    error("404 Not Found", "NoSuchBucket", "x"): "does not exist in this region",
    error("404 Not Found", "NoSuchKey", "x"): "not in the bucket",
    error("403 Forbidden", "AccessDenied", "Access Denied"): "s3:GetObject",
    error("403 Forbidden", "AccessDenied", "User is not authorized to perform: kms:Decrypt on the key"): "kms:Decrypt",
    error("400 Bad Request", "KMS.DisabledException", "The key is disabled"): "kms:Decrypt",
    error("403 Forbidden", "AllAccessDisabled", "x"): "switched off",
    error("403 Forbidden", "InvalidObjectState", "x"): "was archived",
    error("503 Slow Down", "SlowDown", "x"): "SlowDown",
    b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nhalf": "did not answer",
    b"no HTTP at all\r\n\r\n": "did not answer",
}


def test_every_refusal_of_the_bucket_says_what_to_do(db, topic, account, settings, monkeypatch):
    house()
    settings.S3_RETRY_SECONDS = []
    for answer, text in ANSWERS.items():
        with listening("127.0.0.1", answer=answer) as server:
            settings.AWS_ENDPOINT_URL = f"http://127.0.0.1:{server.port}"
            ses_id = announce(topic, "mail")
            ingesting.process_due()
        state, reason = held()[ses_id]
        assert (state, text in reason) == ("quarantined", True), (text, reason)
    # Nobody listens there any more.
    ses_id = announce(topic, "mail")
    ingesting.process_due()
    assert "did not answer" in held()[ses_id][1]
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    s3._client.cache_clear()
    ses_id = announce(topic, "mail")
    ingesting.process_due()
    assert "no credentials" in held()[ses_id][1]


def test_the_bucket_itself_is_not_listed_or_written(db, topic, bucket):
    """What the code needs is s3:GetObject and no more: docs/ses.md gives it no more."""
    house()
    announce(topic, "missing")
    ingesting.process_due()
    with pytest.raises(ClientError):
        bucket.head_object(Bucket=BUCKET, Key="missing")
    assert "Contents" not in bucket.list_objects_v2(Bucket=BUCKET)
