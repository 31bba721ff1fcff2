"""What this installation needs of Amazon, as steps that each look, compare and apply only what differs.

A step owns what has its name and leaves everything beside it alone: further statements of a policy, further rules of a
bucket or a rule set stay.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

OWN = "AutonomousInbox"
Content = dict[str, Any]


@dataclass(frozen=True)
class Wish:
    """What the operator asked for. `ingress` is where SNS posts to."""

    domain: str
    region: str
    bucket: str
    topic: str
    ingress: str
    endpoint: str = ""
    configuration_set: str = "autonomous-inbox"
    rule_set: str = "autonomous-inbox"
    prefix: str = "mail/"
    keep_days: int = 30

    @property
    def rule(self) -> str:
        return f"autonomous-inbox-{self.domain.replace('.', '-')}"


@dataclass(frozen=True)
class Step:
    """`look` gives what is there (None: nothing), `wanted` what should be, `apply` makes it so."""

    name: str
    look: Callable[[], Content | None]
    wanted: Content
    apply: Callable[[Content | None], None]


@dataclass(frozen=True)
class Change:
    """What a step would do or did; nothing when `lines` is empty."""

    name: str
    action: str
    lines: list[str] = field(default_factory=list)


class Account:
    """The clients of one account and region, and its number."""

    def __init__(self, wish: Wish) -> None:
        self.wish = wish
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        if service not in self._clients:
            import boto3

            region, endpoint = self.wish.region, self.wish.endpoint or None
            self._clients[service] = boto3.client(service, region_name=region, endpoint_url=endpoint)
        return self._clients[service]

    @cached_property
    def number(self) -> str:
        return str(self.client("sts").get_caller_identity()["Account"])

    @property
    def partition(self) -> str:
        region = self.wish.region
        if region.startswith("cn-"):
            return "aws-cn"
        return "aws-us-gov" if region.startswith("us-gov-") else "aws"

    @property
    def topic_arn(self) -> str:
        return f"arn:{self.partition}:sns:{self.wish.region}:{self.number}:{self.wish.topic}"


def run(steps: Sequence[Step], *, dry: bool) -> Iterator[Change]:
    """Step after step, each with what differs; applied unless `dry`."""
    for step in steps:
        found = step.look()
        lines = list(difference(found, step.wanted))
        action = "none" if not lines else "create" if found is None else "update"
        if lines and not dry:
            step.apply(found)
        yield Change(step.name, action, lines)


def difference(found: Any, wanted: Any, path: str = "") -> Iterator[str]:
    """Lines of a diff. What is there beyond what is wanted does not count."""
    if isinstance(wanted, Mapping) and wanted and isinstance(found, Mapping | None):
        for key, value in wanted.items():
            yield from difference((found or {}).get(key), value, f"{path}.{key}" if path else str(key))
    elif found != wanted:
        if found is not None:
            yield f"- {path}: {_shown(found)}"
        yield f"+ {path}: {_shown(wanted)}"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def asked(call: Callable[..., Any], *codes: str, **arguments: Any) -> Any:
    """The answer, or None when AWS says by one of `codes` that there is no such thing."""
    from botocore.exceptions import ClientError

    try:
        return call(**arguments)
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in codes:
            return None
        raise


def statement(policy: str | None, sid: str) -> Content | None:
    """Our own statement of a policy document."""
    rows: list[Content] = json.loads(policy)["Statement"] if policy else []
    return next((row for row in rows if row.get("Sid") == sid), None)


def with_statement(policy: str | None, ours: Content) -> str:
    """A policy document with our statement in the place of an earlier one of ours, and all others as they were."""
    document: Content = json.loads(policy) if policy else {"Version": "2012-10-17", "Statement": []}
    document["Statement"] = [row for row in document["Statement"] if row.get("Sid") != ours["Sid"]] + [ours]
    return json.dumps(document)
