"""Mail that SES has put into a bucket: the way for anything above 150 kB (S0-38)."""

import re
from collections.abc import Collection
from functools import cache
from typing import Any, Final

_CHUNK: Final = 1024 * 1024
_LOCATION = re.compile(r"([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/([^\x00-\x1f\x7f]{1,1024})", re.DOTALL)
# Set by clients that encrypt before they store, SES's own KMS option among them: nobody but they can read the bytes.
_SEALED = ("x-amz-key", "x-amz-key-v2", "x-amz-wrap-alg")


class NotFetched(Exception):
    """The bytes are not here; `permanent` says that trying again alone cannot help. The text is for the operator."""

    def __init__(self, reason: str, *, permanent: bool = False) -> None:
        super().__init__(reason)
        self.permanent = permanent


@cache
def _client(region: str, endpoint: str) -> Any:
    import boto3
    from botocore.config import Config

    # SNS waits 15 seconds for its answer, so that a bucket that hangs must not take longer.
    config = Config(retries={"total_max_attempts": 2}, connect_timeout=3, read_timeout=8)
    return boto3.client("s3", region_name=region, endpoint_url=endpoint or None, config=config)


def fetch(location: str, *, allowed: Collection[str], region: str, endpoint: str, limit: int) -> bytes:
    """The bytes of the object `bucket/key`, streamed and never more than `limit`. Raises NotFetched with the reason."""
    match = _LOCATION.fullmatch(location)
    if match is None:
        raise NotFetched("The notification names no object that can be fetched.", permanent=True)
    bucket, key = match[1], match[2]
    if bucket not in allowed:
        raise NotFetched(f"The bucket {bucket} is not one of SES_BUCKETS. Add it there if it is yours.", permanent=True)
    try:
        answer = _client(region, endpoint).get_object(Bucket=bucket, Key=key)
        return _read(answer, limit)
    except NotFetched:
        raise
    except Exception as error:
        raise _explained(error, bucket) from error


def _read(answer: dict[str, Any], limit: int) -> bytes:
    too_large = NotFetched(f"The stored mail has more than {limit} bytes (MAIL_MAX_BYTES).", permanent=True)
    body = answer["Body"]
    try:
        if int(answer.get("ContentLength") or 0) > limit:
            raise too_large
        if any(name.lower() in _SEALED for name in answer.get("Metadata") or {}):
            raise NotFetched(
                "SES encrypted the mail before it stored it. Turn message encryption off in the receipt rule and let the"
                " bucket encrypt.",
                permanent=True,
            )
        held = bytearray()
        for chunk in body.iter_chunks(_CHUNK):
            held += chunk
            if len(held) > limit:
                raise too_large
        return bytes(held)
    finally:
        body.close()


# What an operator can do about it. All of these may pass: a late object, a right that is granted, an outage.
_ADVICE: Final = {
    "NoSuchBucket": "The bucket {bucket} does not exist in this region.",
    "NoSuchKey": "The stored mail is not in the bucket {bucket}: deleted by a lifecycle rule, or not there yet.",
    "AccessDenied": "S3 refuses to hand out the mail: s3:GetObject on the bucket {bucket} is needed.",
    "AllAccessDisabled": "S3 refuses to hand out the mail: access to the bucket {bucket} is switched off.",
    "InvalidObjectState": "The stored mail was archived. Restore it in the bucket {bucket} and try again.",
    "KMS": "The key that encrypts the bucket {bucket} may not be used: kms:Decrypt is needed, and the key switched on.",
}
_SPELLINGS: Final = {"404": "NoSuchKey", "NotFound": "NoSuchKey", "403": "AccessDenied"}


def _explained(error: Exception, bucket: str) -> NotFetched:
    from botocore.exceptions import ClientError, NoCredentialsError

    if isinstance(error, NoCredentialsError):
        return NotFetched("There are no credentials for S3. Give this process a role or keys that may read the bucket.")
    if not isinstance(error, ClientError):
        return NotFetched(f"S3 did not answer: {type(error).__name__}.")
    told = error.response.get("Error", {})
    code = _SPELLINGS.get(str(told.get("Code", "")), str(told.get("Code", "")))
    if code.startswith("KMS.") or (code == "AccessDenied" and "kms" in str(told.get("Message", "")).lower()):
        code = "KMS"
    return NotFetched(_ADVICE.get(code, f"S3 answered {code or 'without a reason'}.").format(bucket=bucket))
