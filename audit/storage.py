"""Where anchors are kept outside of the database: a folder, and a bucket of S3 where one is named."""

import uuid
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from kernel import clock


def write(content: bytes, *, directory: Path, bucket: str = "") -> None:
    """Lines for a file of today in the folder, and an object of their own in the bucket. Raises when either fails."""
    now = clock.now()
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / f"anchors-{now:%Y-%m-%d}.jsonl").open("ab") as file:
        file.write(content)
    if bucket:
        # Never an object that is there already: a bucket that only takes new ones (Object Lock) keeps them for ever.
        name, prefix = _place(bucket)
        key = f"{prefix}anchors-{now:%Y-%m-%dT%H-%M-%S}-{uuid.uuid4().hex}.jsonl"
        _client(settings.AWS_REGION, settings.AWS_ENDPOINT_URL).put_object(Bucket=name, Key=key, Body=content)


def read(*, directory: Path, bucket: str = "") -> Iterator[bytes]:
    """Every line of the folder and of the bucket, the oldest file first."""
    for path in sorted(directory.glob("anchors-*.jsonl")):
        yield from path.read_bytes().splitlines()
    if bucket:
        name, prefix = _place(bucket)
        client = _client(settings.AWS_REGION, settings.AWS_ENDPOINT_URL)
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=name, Prefix=f"{prefix}anchors-"):
            for found in page.get("Contents", []):
                yield from client.get_object(Bucket=name, Key=found["Key"])["Body"].read().splitlines()


def _place(bucket: str) -> tuple[str, str]:
    name, _, prefix = bucket.partition("/")
    return name, f"{prefix.strip('/')}/" if prefix.strip("/") else ""


@cache
def _client(region: str, endpoint: str) -> Any:
    import boto3

    return boto3.client("s3", region_name=region, endpoint_url=endpoint or None)
