"""Only our topics are confirmed, by one request to Amazon and to nobody else (A8)."""

import orjson
from django.db import connection

from config.demo.amazon import HOST
from kernel.transactions import in_all_workspaces
from tests.factories.world import house
from tests.inbox.conftest import ARN
from tests.inbox.notifications import OTHER, PATH, TOKEN, confirmation, post, rows

QUERY = f"Action=ConfirmSubscription&TopicArn={ARN}&Token={TOKEN}"
STRANGE = [
    f"https://169.254.169.254/?{QUERY}",
    f"https://127.0.0.1/?{QUERY}",
    f"http://{HOST}/?{QUERY}",
    f"https://evil.test/?{QUERY}",
    f"https://{HOST}.evil.test/?{QUERY}",
    f"https://{HOST}@evil.test/?{QUERY}",
    f"https://user@{HOST}/?{QUERY}",
    f"https://{HOST}:8443/?{QUERY}",
    f"https://sns.us-east-1.amazonaws.com/?{QUERY}",
    f"https://{HOST}/x?{QUERY}",
    f"https://{HOST}/?{QUERY}#x",
    f"https://{HOST}/?{QUERY}&Action=DeleteTopic",
    f"https://{HOST}/?{QUERY}&AuthenticateOnUnsubscribe=true",
    f"https://{HOST}/?{QUERY.replace('ConfirmSubscription', 'DeleteTopic')}",
    f"https://{HOST}/?{QUERY.replace(ARN, OTHER)}",
    f"https://{HOST}/?{QUERY.replace(TOKEN, 'a' * 64)}",
    f"https://{HOST}/?Action=ConfirmSubscription&TopicArn={ARN}",
    f"https://{HOST}/?{QUERY}\n",
    f"https://{HOST}/ ?{QUERY}",
    f"https://{HOST}\\@evil.test/?{QUERY}",
]


def test_only_our_topic_is_confirmed_and_by_one_request(db, topic, world, cases):
    house()
    body = orjson.dumps(confirmation(topic))
    assert post(body).json() == {"status": "confirmed"}
    certificates, confirmations = world.asked
    assert certificates == f"{HOST}{PATH}"
    assert confirmations == f"{HOST}/?{QUERY}"
    world.asked.clear()
    before = rows()
    for url in STRANGE:
        assert post(orjson.dumps(confirmation(topic, SubscribeURL=url))).status_code == 403, url
    strange = [{"TopicArn": OTHER}, {"Token": "short"}, {"Token": TOKEN + "\r\nHost: evil.test"}]
    for fields in strange:
        assert post(orjson.dumps(confirmation(topic, **fields))).status_code == 403, fields
    assert (world.asked, rows()) == ([], before)
    cases("A8", 1 + len(STRANGE) + len(strange))


def test_a_confirmation_follows_no_redirect_and_comes_again_when_amazon_refuses(db, topic, world, cases):
    house()
    made = confirmation(topic)
    path = f"/?{QUERY}"
    refusals = [(302, {"Location": f"https://{HOST}/followed"}), (403, {}), (500, {})]
    for status, headers in refusals:
        world.answers[path] = (status, headers, b"")
        world.asked.clear()
        answer = post(orjson.dumps(made))
        assert (answer.status_code, answer.json()["code"]) == (503, "sns_unavailable")
        assert [item for item in world.asked if PATH not in item] == [HOST + path]
    cases("A8", len(refusals))


def test_the_end_of_a_subscription_is_kept_and_never_followed(db, topic, world):
    house()
    assert post(topic.confirmation("UnsubscribeConfirmation")).json() == {"status": "unsubscribed"}
    assert [item for item in world.asked if PATH not in item] == []
    with in_all_workspaces("counting in a test"), connection.cursor() as cursor:
        cursor.execute("SELECT kind, status, payload->>'topic' FROM webhooks_providerevent")
        assert cursor.fetchall() == [("subscription.ended", "ignored", ARN)]
