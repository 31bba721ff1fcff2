"""All steps in the order in which they need one another."""

from collections.abc import Iterator
from dataclasses import dataclass

from inbox.channels.aws import mail, notify, storage
from inbox.channels.aws.plan import Account, Change, Wish, run


class NotDone(Exception):
    """AWS refused a step; those before it are done, and running again goes on from there."""


@dataclass(frozen=True)
class Result:
    """What was, or would be, changed; what to publish in the DNS; what to set in the environment."""

    changes: list[Change]
    records: list[dict[str, str]]
    environment: dict[str, str]


def set_up(wish: Wish, *, dry: bool) -> Result:
    """Look at everything, and apply what differs unless `dry`. Raises NotDone."""
    changes: list[Change] = []
    try:
        account = Account(wish)
        for change in _changes(account, dry):
            changes.append(change)  # noqa: PERF402 - those before a refusal are named
        return Result(changes, mail.records(account), _environment(account))
    except Exception as error:
        done = f" Done before it: {', '.join(c.name for c in changes if c.lines)}." if changes and not dry else ""
        raise NotDone(f"AWS refused after {len(changes)} steps: {error}.{done}") from error


def _changes(account: Account, dry: bool) -> Iterator[Change]:
    rule_set = mail.active_rule_set(account)
    steps = [
        *storage.steps(account, rule_set=rule_set),
        *notify.steps(account),
        *mail.sending(account),
        *mail.receiving(account, rule_set=rule_set),
    ]
    yield from run(steps, dry=dry)


def _environment(account: Account) -> dict[str, str]:
    wish = account.wish
    return {
        "AWS_REGION": wish.region,
        "MAIL_TRANSPORT": "ses",
        "SES_BUCKETS": wish.bucket,
        "SES_CONFIGURATION_SET": wish.configuration_set,
        "SNS_TOPIC_ARNS": account.topic_arn,
    }
