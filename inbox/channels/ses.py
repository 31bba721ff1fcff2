"""Mail out by Amazon SES (API v2, raw content). SES has no client token, so a lost answer is an open question (§1.5)."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from inbox.channels.ses_events import TAG
from inbox.channels.transport import MaybeAccepted, NotAccepted, Receipt

_RETRYABLE = frozenset({"TooManyRequestsException", "LimitExceededException", "SendingPausedException", "Throttling"})


@cache
def _client(region: str, endpoint: str) -> Any:
    import boto3
    from botocore.config import Config

    # No retries of its own: a repeated call could send twice.
    config = Config(retries={"total_max_attempts": 1}, connect_timeout=10, read_timeout=30)
    return boto3.client("sesv2", region_name=region, endpoint_url=endpoint or None, config=config)


@dataclass(frozen=True)
class SesTransport:
    """Sends through the account's region; `tag` comes back in SES's events and settles what was uncertain."""

    region: str
    endpoint: str
    configuration_set: str

    def send(self, *, raw: bytes, envelope_from: str, envelope_to: list[str], tag: str) -> Receipt:
        from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError, NoCredentialsError

        options: dict[str, Any] = {"ConfigurationSetName": self.configuration_set} if self.configuration_set else {}
        try:
            answer = _client(self.region, self.endpoint).send_email(
                FromEmailAddress=envelope_from,
                Destination={"ToAddresses": envelope_to},
                Content={"Raw": {"Data": raw}},
                EmailTags=[{"Name": TAG, "Value": tag}],
                **options,
            )
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            if status >= 500:
                raise MaybeAccepted(f"SES answered {status} {code}") from error
            raise NotAccepted(f"SES: {code}", permanent=code not in _RETRYABLE) from error
        except (ConnectTimeoutError, EndpointConnectionError, NoCredentialsError) as error:
            raise NotAccepted(f"{type(error).__name__}: {error}", permanent=False) from error
        except Exception as error:
            raise MaybeAccepted(f"{type(error).__name__}: {error}") from error
        reference = str(answer["MessageId"])
        return Receipt(reference=reference, message_id=message_id(reference, self.region))


def message_id(reference: str, region: str) -> str:
    """SES replaces the Message-ID on its way; answers cite the new one (CW-1)."""
    return f"{reference}@{'email' if region == 'us-east-1' else region}.amazonses.com"
