"""Nothing gets in that Amazon did not sign for a topic of ours (A6)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import boto3
import orjson
from cryptography.hazmat.primitives.asymmetric import rsa
from django.db import connection
from moto.sns.models import sns_backends

from config.demo.amazon import HOST, Topic
from inbox.channels import sns
from kernel.transactions import in_all_workspaces
from tests.factories.world import house
from tests.inbox.conftest import ARN
from tests.inbox.notifications import OTHER, TOKEN, confirmation, notification, post, received, rows, stamp
from tests.kernel.listener import listening
from tests.world.aws import CREDENTIALS, REGION, moto


def test_golden_vectors_of_each_type_and_version(db, topic):
    house()
    for version in ("1", "2"):
        for subject in ("Amazon SES Email Receipt Notification", "", "zwei\nZeilen", None):
            assert post(orjson.dumps(notification(topic, version=version, subject=subject))).status_code == 200
        # Some relays write the absent subject out.
        made = notification(topic, version=version, subject=None) | {"Subject": None, "UnsubscribeURL": "https://x"}
        made["MessageAttributes"] = {"colour": {"Type": "String", "Value": "blue"}}
        assert post(orjson.dumps(made)).json() == {"status": "accepted"}
        ended = confirmation(topic, kind="UnsubscribeConfirmation", version=version)
        assert post(orjson.dumps(ended)).json() == {"status": "unsubscribed"}
        made = confirmation(topic, version=version)
        assert sns.verify(orjson.dumps(made)).token == TOKEN


def test_an_independent_signer_is_understood(db, topic, world, settings, monkeypatch):
    """moto signs as SNS does, by code that is not ours, and delivers over HTTP."""
    house()
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with moto() as endpoint, listening("127.0.0.1") as receiver:
        client = boto3.client("sns", region_name=REGION, endpoint_url=endpoint)
        arn = client.create_topic(Name="from-moto")["TopicArn"]
        client.subscribe(TopicArn=arn, Protocol="http", Endpoint=f"http://127.0.0.1:{receiver.port}/")
        client.publish(TopicArn=arn, Message=received())
        body = next(request for request in receiver.requests if b"SigningCertURL" in request).partition(b"\r\n\r\n")[2]
    settings.SNS_TOPIC_ARNS = [arn]
    path = "/" + orjson.loads(body)["SigningCertURL"].rpartition("/")[2]
    world.answers[path] = (200, {}, sns_backends["123456789012"][REGION]._message_public_keys[path[1:]])
    assert post(body).json() == {"status": "accepted"}
    assert post(body.replace(b"Received", b"received")).status_code == 403
    assert world.asked == [HOST + path]


# --- A6: every way to be not quite genuine ---------------------------------------------------------------------------

Forge = Callable[[Topic, dict[str, Any]], bytes]


def changed(**fields: Any) -> Forge:
    return lambda topic, made: orjson.dumps(made | fields)


def without(name: str) -> Forge:
    return lambda topic, made: orjson.dumps({key: value for key, value in made.items() if key != name})


def renamed(old: str, new: str) -> Forge:
    return lambda topic, made: orjson.dumps({(new if key == old else key): value for key, value in made.items()})


def wrapped(before: bytes, after: bytes = b"") -> Forge:
    return lambda topic, made: before + orjson.dumps(made) + after


def doubled(name: str, *, first: bool) -> Forge:
    """The field once more, with other content, before or behind the signed one."""
    extra = orjson.dumps({name: "other"})[1:-1]

    def forge(topic: Topic, made: dict[str, Any]) -> bytes:
        body = orjson.dumps(made)
        return b"{" + extra + b"," + body[1:] if first else body[:-1] + b"," + extra + b"}"

    return forge


def signed_by_another(topic: Topic, made: dict[str, Any]) -> bytes:
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    key, topic.key = topic.key, stranger
    try:
        return orjson.dumps(notification(topic))
    finally:
        topic.key = key


def signature_of_another(topic: Topic, made: dict[str, Any]) -> bytes:
    return orjson.dumps(made | {"Signature": notification(topic)["Signature"]})


def claimed_version(signed: str, claimed: str) -> Forge:
    return lambda topic, made: orjson.dumps(notification(topic, version=signed) | {"SignatureVersion": claimed})


def genuine(**fields: Any) -> Forge:
    """Signed as it stands: refused for what it says."""
    return lambda topic, made: orjson.dumps(notification(topic, **fields))


def confirmed_as_notification(topic: Topic, made: dict[str, Any]) -> bytes:
    return orjson.dumps(confirmation(topic) | {"Type": "Notification"})


FORGED: dict[str, Forge] = {
    # each signed field altered
    "Message": changed(Message='{"notificationType":"Received"}'),
    "Message, one letter": lambda topic, made: orjson.dumps(
        made | {"Message": made["Message"].replace("ada@", "bda@", 1)}
    ),
    "Message, trailing space": lambda topic, made: orjson.dumps(made | {"Message": made["Message"] + " "}),
    "MessageId": changed(MessageId=str(uuid4())),
    "Subject": changed(Subject="other"),
    "Timestamp": lambda topic, made: orjson.dumps(made | {"Timestamp": stamp(timedelta(seconds=3))}),
    "TopicArn, other account": changed(TopicArn=OTHER),
    "Type, confirmation": changed(Type="SubscriptionConfirmation"),
    "Type, unsubscribed": changed(Type="UnsubscribeConfirmation", Token=TOKEN, SubscribeURL="https://x"),
    "Type of a confirmation": confirmed_as_notification,
    # subject: absent, empty and null are not the same
    "Subject dropped": without("Subject"),
    "Subject emptied": changed(Subject=""),
    "Subject nulled": changed(Subject=None),
    "Subject added empty": lambda topic, made: orjson.dumps(notification(topic, subject=None) | {"Subject": ""}),
    "Subject added": lambda topic, made: orjson.dumps(notification(topic, subject=None) | {"Subject": "x"}),
    "Subject as a list": changed(Subject=["x"]),
    "Subject as a number": changed(Subject=1),
    # whose signature, and which version
    "signed by another": signed_by_another,
    "signature of another message": signature_of_another,
    "version 1 as 2": claimed_version("1", "2"),
    "version 2 as 1": claimed_version("2", "1"),
    "version 3": changed(SignatureVersion="3"),
    "version empty": changed(SignatureVersion=""),
    "version number": changed(SignatureVersion=2),
    "version with space": changed(SignatureVersion=" 2"),
    "version 02": changed(SignatureVersion="02"),
    "version full-width": changed(SignatureVersion="２"),
    "version null": changed(SignatureVersion=None),
    "signature short": changed(Signature="AAAA"),
    "signature no base64": changed(Signature="%%%"),
    "signature empty": changed(Signature=""),
    "signature null": changed(Signature=None),
    "signature list": lambda topic, made: orjson.dumps(made | {"Signature": [made["Signature"]]}),
    "signature with newline": lambda topic, made: orjson.dumps(made | {"Signature": made["Signature"] + "\n"}),
    "signature url-safe": lambda topic, made: orjson.dumps(made | {"Signature": "-_" + made["Signature"][2:]}),
    "signature not ASCII": changed(Signature="ä"),
    # fields missing
    **{
        f"without {name}": without(name)
        for name in (
            "Message",
            "MessageId",
            "Timestamp",
            "TopicArn",
            "Type",
            "Signature",
            "SignatureVersion",
            "SigningCertURL",
        )
    },
    "confirmation without Token": lambda topic, made: orjson.dumps(
        {k: v for k, v in confirmation(topic).items() if k != "Token"}
    ),
    "confirmation without SubscribeURL": lambda topic, made: orjson.dumps(
        {k: v for k, v in confirmation(topic).items() if k != "SubscribeURL"}
    ),
    "Message empty": genuine(Message=""),
    "Message as an object": lambda topic, made: orjson.dumps(made | {"Message": orjson.loads(made["Message"])}),
    # one name twice
    **{
        f"{name} twice, {'first' if first else 'last'}": doubled(name, first=first)
        for name in ("Message", "TopicArn", "Signature", "MessageId")
        for first in (True, False)
    },
    "what nobody reads, twice": lambda topic, made: b'{"Unknown":"a","Unknown":"b",' + orjson.dumps(made)[1:],
    # Lambda's spelling, other spellings
    "SigningCertUrl": renamed("SigningCertURL", "SigningCertUrl"),
    "SubscribeUrl": lambda topic, made: orjson.dumps(
        {("SubscribeUrl" if k == "SubscribeURL" else k): v for k, v in confirmation(topic).items()}
    ),
    "message": renamed("Message", "message"),
    "Type lower case": changed(Type="notification"),
    "Type upper case": changed(Type="NOTIFICATION"),
    "Type with space": changed(Type="Notification "),
    "Type number": changed(Type=1),
    "Type list": changed(Type=["Notification"]),
    "Type null": changed(Type=None),
    # not JSON, not an object, not small
    "BOM": wrapped(b"\xef\xbb\xbf"),
    "trailing text": wrapped(b"", b"x"),
    "two documents": wrapped(b"", b"{}"),
    "in a list": wrapped(b"[", b"]"),
    "UTF-16": lambda topic, made: orjson.dumps(made).decode().encode("utf-16"),
    "empty": lambda topic, made: b"",
    "half": lambda topic, made: orjson.dumps(made)[:-20],
    "null": lambda topic, made: b"null",
    "no UTF-8": lambda topic, made: b"\xff\xfe{}",
    "raw delivery body": lambda topic, made: made["Message"].encode(),
    "deep": lambda topic, made: b'{"Type":"Notification","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "1 MB": changed(Padding="x" * 1_000_000),
    "a doubled name inside": lambda topic, made: b'{"MessageAttributes":{"a":1,"a":2},' + orjson.dumps(made)[1:],
    # genuine, but not for us or not now
    "wrong topic": genuine(TopicArn=ARN + "2"),
    "other account's topic, genuine": genuine(TopicArn=OTHER),
    "topic case": genuine(TopicArn=ARN.upper()),
    "topic with space": genuine(TopicArn=ARN + " "),
    "2 h old": genuine(Timestamp=stamp(timedelta(hours=-2))),
    "2 h ahead": genuine(Timestamp=stamp(timedelta(hours=2))),
    "no time": genuine(Timestamp="yesterday"),
    "time without zone": genuine(Timestamp=stamp()[:-1]),
    "time with offset": genuine(Timestamp=stamp()[:-1] + "+00:00"),
}

HEADERS = [
    {"x-amz-sns-topic-arn": OTHER},
    {"x-amz-sns-topic-arn": ""},
    {"x-amz-sns-message-type": "SubscriptionConfirmation"},
    {"x-amz-sns-message-id": "other"},
    {"x-amz-sns-rawdelivery": "true"},
    {"x-amz-sns-rawdelivery": "True"},
]


def test_no_forgery_is_taken_or_asks_anybody(db, topic, world, cases):
    house()
    # The certificate is known by now: whatever the forgeries make us ask for is too much.
    assert post(orjson.dumps(notification(topic))).status_code == 200
    world.asked.clear()
    before, answers = rows(), {}
    for name, forge in FORGED.items():
        answers[name] = post(forge(topic, notification(topic)))
    for headers in HEADERS:
        answers[str(headers)] = post(orjson.dumps(notification(topic)), **headers)
    taken = {name: answer.status_code for name, answer in answers.items() if answer.status_code != 403}
    assert taken == {}
    assert {answer.json()["code"] for answer in answers.values()} == {"sns_refused"}
    assert all(answer.json()["detail"] for answer in answers.values())
    assert (rows(), world.asked) == (before, [])
    cases("A6", len(answers))
    # What was refused was refused for its fault alone.
    made = notification(topic)
    good = {
        "x-amz-sns-topic-arn": ARN,
        "x-amz-sns-message-type": "Notification",
        "x-amz-sns-message-id": made["MessageId"],
    }
    assert post(orjson.dumps(made), **good, **{"x-amz-sns-rawdelivery": "false"}).json() == {"status": "accepted"}


def test_an_accepted_notification_that_is_replayed_changes_nothing(db, topic, cases):
    house()
    body = orjson.dumps(notification(topic))
    assert post(body).json() == {"status": "accepted"}
    with in_all_workspaces("counting in a test"), connection.cursor() as cursor:
        count = "SELECT (SELECT count(*) FROM inbox_inboundmessage), (SELECT count(*) FROM kernel_outboxevent)"
        cursor.execute(count)
        before = cursor.fetchone()
        answer = post(body)
        cursor.execute(count)
        assert (answer.status_code, answer.json(), cursor.fetchone()) == (200, {"status": "duplicate"}, before)
    cases("A6", 1)


def test_without_topics_nothing_is_taken(db, topic, settings):
    house()
    settings.SNS_TOPIC_ARNS = []
    assert post(orjson.dumps(notification(topic))).status_code == 403
