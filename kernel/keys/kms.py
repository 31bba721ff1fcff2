"""Data keys that AWS KMS wraps: the database keeps the wrapped form, KMS alone can open it, and says who asked.

A data key is made by GenerateDataKey and opened by Decrypt, both under an encryption context that names the key version,
so that a wrapped key that was copied to another version does not open.
"""

from functools import cache
from typing import Any

from django.conf import settings

from kernel.keys.refusals import KeysRefused

NAME = "aws_kms"


@cache
def _client(region: str, endpoint: str) -> Any:
    import boto3
    from botocore.config import Config

    config = Config(retries={"total_max_attempts": 3, "mode": "standard"}, connect_timeout=5, read_timeout=10)
    return boto3.client("kms", region_name=region, endpoint_url=endpoint or None, config=config)


def make(version: int) -> tuple[bytes, bytes]:
    """A new data key, open and wrapped."""
    if not settings.KMS_KEY_ID:
        raise KeysRefused("KEY_PROVIDER is aws_kms: set KMS_KEY_ID to the key that shall wrap ours (ARN, id or alias).")
    answer = _asked(
        "generate_data_key", KeyId=settings.KMS_KEY_ID, KeySpec="AES_256", EncryptionContext=_about(version)
    )
    return bytes(answer["Plaintext"]), bytes(answer["CiphertextBlob"])


def unwrap(version: int, wrapped: bytes) -> bytes:
    """The data key of a version; KeysRefused, saying what KMS said, when it does not give it out."""
    return bytes(_asked("decrypt", CiphertextBlob=wrapped, EncryptionContext=_about(version))["Plaintext"])


def _about(version: int) -> dict[str, str]:
    return {"product": "autonomous-inbox", "version": str(version)}


def _asked(operation: str, **arguments: Any) -> dict[str, Any]:
    from botocore.exceptions import BotoCoreError, ClientError

    client = _client(settings.AWS_REGION, settings.AWS_ENDPOINT_URL)
    try:
        answer: dict[str, Any] = getattr(client, operation)(**arguments)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "an error")
        raise KeysRefused(
            f"AWS KMS refuses {operation} ({code}): check KMS_KEY_ID, AWS_REGION and the permissions of this machine."
        ) from error
    except BotoCoreError as error:
        raise KeysRefused(
            f"AWS KMS cannot be asked ({type(error).__name__}): check the network, AWS_REGION and the credentials of this machine."
        ) from error
    return answer
