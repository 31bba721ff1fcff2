"""The bucket that SES puts mail into: closed to the public, encrypted, emptied after a while, open to SES for our rule."""

from typing import Any

from inbox.channels.aws.plan import OWN, Account, Content, Step, asked, statement, with_statement

_CLOSED = {
    "BlockPublicAcls": True,
    "IgnorePublicAcls": True,
    "BlockPublicPolicy": True,
    "RestrictPublicBuckets": True,
}
_ENCRYPTED = {"SSEAlgorithm": "AES256"}
_PUT = f"{OWN}MailFromSes"
_EXPIRE = "autonomous-inbox-mail"


def steps(account: Account, *, rule_set: str) -> list[Step]:
    """Everything about the bucket. `rule_set` is where our receipt rule is: SES may write for this rule only."""
    return [
        _bucket(account),
        _public(account),
        _encryption(account),
        _lifecycle(account),
        _policy(account, rule_set),
    ]


def _bucket(account: Account) -> Step:
    s3, name, region = account.client("s3"), account.wish.bucket, account.wish.region

    def look() -> Content | None:
        found = asked(s3.get_bucket_location, "NoSuchBucket", "404", Bucket=name)
        # The oldest region has no name here.
        return {"region": found["LocationConstraint"] or "us-east-1"} if found else None

    def apply(found: Content | None) -> None:
        if found is not None:
            raise ValueError(
                f"The bucket {name} is in {found['region']}. Choose another name, or run this for that region."
            )
        place: dict[str, Any] = {} if region == "us-east-1" else {"LocationConstraint": region}
        s3.create_bucket(Bucket=name, **({"CreateBucketConfiguration": place} if place else {}))

    return Step(f"bucket {name}", look, {"region": region}, apply)


def _public(account: Account) -> Step:
    s3, name = account.client("s3"), account.wish.bucket

    def look() -> Content | None:
        codes = ("NoSuchPublicAccessBlockConfiguration", "NoSuchBucket")
        found = asked(s3.get_public_access_block, *codes, Bucket=name)
        return dict(found["PublicAccessBlockConfiguration"]) if found else None

    def apply(_: Content | None) -> None:
        s3.put_public_access_block(Bucket=name, PublicAccessBlockConfiguration=_CLOSED)

    return Step(f"bucket {name}: closed to the public", look, dict(_CLOSED), apply)


def _encryption(account: Account) -> Step:
    """Whatever encrypts is left alone, a key of the operator's above all."""
    s3, name = account.client("s3"), account.wish.bucket

    def look() -> Content | None:
        codes = ("ServerSideEncryptionConfigurationNotFoundError", "NoSuchBucket")
        found = asked(s3.get_bucket_encryption, *codes, Bucket=name)
        return {"encrypted": bool(found["ServerSideEncryptionConfiguration"]["Rules"])} if found else None

    def apply(_: Content | None) -> None:
        rules = {"Rules": [{"ApplyServerSideEncryptionByDefault": _ENCRYPTED}]}
        s3.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration=rules)

    return Step(f"bucket {name}: encrypted", look, {"encrypted": True}, apply)


def _lifecycle(account: Account) -> Step:
    """The mail itself is in our database by then; the bucket need not keep it for ever."""
    s3, wish = account.client("s3"), account.wish
    wanted = {
        "Status": "Enabled",
        "Filter": {"Prefix": wish.prefix},
        "Expiration": {"Days": wish.keep_days},
    }

    def rules() -> list[Content]:
        codes = ("NoSuchLifecycleConfiguration", "NoSuchBucket")
        found = asked(s3.get_bucket_lifecycle_configuration, *codes, Bucket=wish.bucket)
        return list(found["Rules"]) if found else []

    def look() -> Content | None:
        return next((row for row in rules() if row.get("ID") == _EXPIRE), None)

    def apply(_: Content | None) -> None:
        others = [row for row in rules() if row.get("ID") != _EXPIRE]
        configuration = {"Rules": [*others, {"ID": _EXPIRE, **wanted}]}
        s3.put_bucket_lifecycle_configuration(Bucket=wish.bucket, LifecycleConfiguration=configuration)

    return Step(f"bucket {wish.bucket}: mail expires", look, wanted, apply)


def _policy(account: Account, rule_set: str) -> Step:
    s3, wish = account.client("s3"), account.wish
    place = f"arn:{account.partition}:ses:{wish.region}:{account.number}"
    wanted: Content = {
        "Sid": _PUT,
        "Effect": "Allow",
        "Principal": {"Service": "ses.amazonaws.com"},
        "Action": "s3:PutObject",
        "Resource": f"arn:{account.partition}:s3:::{wish.bucket}/{wish.prefix}*",
        # Without the condition any account's SES could fill the bucket.
        "Condition": {
            "StringEquals": {
                "AWS:SourceAccount": account.number,
                "AWS:SourceArn": f"{place}:receipt-rule-set/{rule_set}:receipt-rule/{wish.rule}",
            }
        },
    }

    def policy() -> str | None:
        found = asked(s3.get_bucket_policy, "NoSuchBucketPolicy", "NoSuchBucket", Bucket=wish.bucket)
        return str(found["Policy"]) if found else None

    def apply(_: Content | None) -> None:
        s3.put_bucket_policy(Bucket=wish.bucket, Policy=with_statement(policy(), wanted))

    return Step(f"bucket {wish.bucket}: SES may put mail", lambda: statement(policy(), _PUT), wanted, apply)
