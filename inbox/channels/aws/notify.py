"""The topic that SES publishes to, and our subscription to it."""

from inbox.channels.aws.plan import OWN, Account, Content, Step, asked, statement, with_statement

_PUBLISH = f"{OWN}PublishFromSes"


def steps(account: Account) -> list[Step]:
    """Topic, its signature, who may publish, and the subscription."""
    return [_topic(account), _signature(account), _policy(account), _subscription(account)]


def _attributes(account: Account) -> Content | None:
    found = asked(
        account.client("sns").get_topic_attributes, "NotFound", "NotFoundException", TopicArn=account.topic_arn
    )
    return dict(found["Attributes"]) if found else None


def _topic(account: Account) -> Step:
    def look() -> Content | None:
        found = _attributes(account)
        return {"arn": found["TopicArn"]} if found else None

    def apply(_: Content | None) -> None:
        account.client("sns").create_topic(Name=account.wish.topic)

    return Step(f"topic {account.wish.topic}", look, {"arn": account.topic_arn}, apply)


def _signature(account: Account) -> Step:
    """SHA-256; topics begin with SHA-1."""

    def look() -> Content | None:
        found = _attributes(account)
        return {"SignatureVersion": found.get("SignatureVersion", "1")} if found else None

    def apply(_: Content | None) -> None:
        account.client("sns").set_topic_attributes(
            TopicArn=account.topic_arn, AttributeName="SignatureVersion", AttributeValue="2"
        )

    return Step(f"topic {account.wish.topic}: signed with SHA-256", look, {"SignatureVersion": "2"}, apply)


def _policy(account: Account) -> Step:
    wanted: Content = {
        "Sid": _PUBLISH,
        "Effect": "Allow",
        "Principal": {"Service": "ses.amazonaws.com"},
        "Action": "SNS:Publish",
        "Resource": account.topic_arn,
        "Condition": {"StringEquals": {"AWS:SourceAccount": account.number}},
    }

    def policy() -> str | None:
        found = _attributes(account)
        return found.get("Policy") if found else None

    def apply(_: Content | None) -> None:
        account.client("sns").set_topic_attributes(
            TopicArn=account.topic_arn, AttributeName="Policy", AttributeValue=with_statement(policy(), wanted)
        )

    return Step(f"topic {account.wish.topic}: SES may publish", lambda: statement(policy(), _PUBLISH), wanted, apply)


def _subscription(account: Account) -> Step:
    """SNS asks our ingress to confirm it, which answers when the topic is in SNS_TOPIC_ARNS."""
    sns, url = account.client("sns"), account.wish.ingress

    def look() -> Content | None:
        pages = sns.get_paginator("list_subscriptions_by_topic")
        try:
            found = [row for page in pages.paginate(TopicArn=account.topic_arn) for row in page["Subscriptions"]]
        except sns.exceptions.NotFoundException:
            return None
        return next(({"endpoint": row["Endpoint"]} for row in found if row["Endpoint"] == url), None)

    def apply(_: Content | None) -> None:
        protocol = url.partition(":")[0]
        sns.subscribe(TopicArn=account.topic_arn, Protocol=protocol, Endpoint=url, ReturnSubscriptionArn=True)

    return Step("subscription of our ingress", look, {"endpoint": url}, apply)
