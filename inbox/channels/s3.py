"""Mail that SES has put into a bucket: the way for anything above 150 kB (S0-38)."""

from functools import cache
from typing import Any


@cache
def _client(region: str, endpoint: str) -> Any:
    import boto3

    return boto3.client("s3", region_name=region, endpoint_url=endpoint or None)


def fetch(*, bucket: str, key: str, region: str, endpoint: str, limit: int) -> bytes:
    """The object's bytes, at most `limit` and one more (so that the caller sees that it is too large)."""
    answer = _client(region, endpoint).get_object(Bucket=bucket, Key=key)
    body: bytes = answer["Body"].read(limit + 1)
    return body
