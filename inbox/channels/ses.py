"""Mail out by Amazon SES (API v2, raw content). SES has no client token, so a lost answer is an open question (§1.5)."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from inbox.channels.ses_events import TAG
from inbox.channels.transport import MaybeAccepted, NotAccepted, Receipt, SignInRefused
from kernel.secrecy import Secret

_RETRYABLE = frozenset({"TooManyRequestsException", "LimitExceededException", "SendingPausedException", "Throttling"})
_UNKNOWN = frozenset(
    {
        "InvalidClientTokenId", "UnrecognizedClientException", "SignatureDoesNotMatch", "InvalidSignatureException",
        "AccessDenied", "AccessDeniedException", "ExpiredTokenException",
    }
)  # fmt: skip


@lru_cache(maxsize=32)
def _client(service: str, region: str, endpoint: str, access_key_id: str, secret: Secret | None) -> Any:
    import boto3
    from botocore.config import Config

    # No retries of its own: a repeated call could send twice.
    config = Config(retries={"total_max_attempts": 1}, connect_timeout=10, read_timeout=30)
    return boto3.client(
        service,
        region_name=region,
        endpoint_url=endpoint or None,
        config=config,
        aws_access_key_id=access_key_id or None,
        aws_secret_access_key=secret.reveal() if secret else None,
    )


@dataclass(frozen=True)
class SesTransport:
    """Sends through the account's region; `tag` comes back in SES's events and settles what was uncertain.

    Without an access key it is the machine's own account.
    """

    region: str
    endpoint: str
    configuration_set: str
    access_key_id: str = ""
    secret: Secret | None = None

    def check(self) -> dict[str, Any]:
        """Ask for the account's quota: it takes the right to use SES, and sends nothing."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            quota = self._ask("ses").get_send_quota()
        except ClientError as error:
            raise _refusal(error) from error
        except BotoCoreError as error:
            raise NotAccepted(f"{type(error).__name__}: {error}", permanent=False) from error
        return {"max_per_day": quota["Max24HourSend"], "max_per_second": quota["MaxSendRate"]}

    def _ask(self, service: str) -> Any:
        return _client(service, self.region, self.endpoint, self.access_key_id, self.secret)

    def send(self, *, raw: bytes, envelope_from: str, envelope_to: list[str], tag: str) -> Receipt:
        from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError, NoCredentialsError

        options: dict[str, Any] = {"ConfigurationSetName": self.configuration_set} if self.configuration_set else {}
        try:
            answer = self._ask("sesv2").send_email(
                FromEmailAddress=envelope_from,
                Destination={"ToAddresses": envelope_to},
                Content={"Raw": {"Data": raw}},
                EmailTags=[{"Name": TAG, "Value": tag}],
                **options,
            )
        except ClientError as error:
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            if status >= 500:
                raise MaybeAccepted(f"SES answered {status} {_code(error)}") from error
            raise _refusal(error) from error
        except (ConnectTimeoutError, EndpointConnectionError, NoCredentialsError) as error:
            raise NotAccepted(f"{type(error).__name__}: {error}", permanent=False) from error
        except Exception as error:
            raise MaybeAccepted(f"{type(error).__name__}: {error}") from error
        reference = str(answer["MessageId"])
        return Receipt(reference=reference, message_id=message_id(reference, self.region))


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _refusal(error: Any) -> NotAccepted:
    code = _code(error)
    if code in _UNKNOWN:
        return SignInRefused(f"SES does not let us in: {code}")
    return NotAccepted(f"SES: {code}", permanent=code not in _RETRYABLE)


def message_id(reference: str, region: str) -> str:
    """SES replaces the Message-ID on its way; answers cite the new one (CW-1)."""
    return f"{reference}@{'email' if region == 'us-east-1' else region}.amazonses.com"
