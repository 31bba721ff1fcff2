"""States of workspaces and memberships, and why a credential is refused."""

from enum import StrEnum
from uuid import UUID

from django.db.models import TextChoices


class WorkspaceStatus(TextChoices):
    ACTIVE = "active"
    SUSPENDED = "suspended"


class MembershipStatus(TextChoices):
    ACTIVE = "active"
    SUSPENDED = "suspended"
    REMOVED = "removed"


class InvitationState(TextChoices):
    """Where an invitation stands; only an open one can be accepted."""

    OPEN = "open"
    ACCEPTED = "accepted"
    EXPIRED = "expired"
    REVOKED = "revoked"


class MailState(TextChoices):
    """Where a letter of ours to a person stands."""

    NONE = "none"
    QUEUED = "queued"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"


class LoginOutcome(TextChoices):
    """How an attempt to sign in ended."""

    SUCCESS = "success"
    WRONG_PASSWORD = "wrong_password"  # noqa: S105 - a word, not a secret
    UNKNOWN_ACCOUNT = "unknown_account"
    INACTIVE = "inactive"
    LOCKED = "locked"
    WRONG_CODE = "wrong_code"
    USED_CODE = "used_code"
    WRONG_PASSKEY = "wrong_passkey"
    UNKNOWN_SSO = "unknown_sso"
    FAILED_SSO = "failed_sso"


class LoginMethod(TextChoices):
    """With what a person signs in, or proves again who they are."""

    PASSWORD = "password"  # noqa: S105 - a word, not a secret
    TOTP = "totp"
    RECOVERY_CODE = "recovery_code"
    PASSKEY = "passkey"
    SSO = "sso"


class DomainState(TextChoices):
    PENDING = "pending"
    VERIFIED = "verified"


class CredentialState(TextChoices):
    """Where a machine key or a client certificate stands."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


class Reason(StrEnum):
    """Why a credential was refused. For the log and the audit trail; the caller is never told."""

    MALFORMED = "malformed"
    FORBIDDEN_HEADER = "forbidden_header"
    OTHER_TYPE = "other_type"
    UNKNOWN_KEY = "unknown_key"
    REVOKED_KEY = "revoked_key"
    OTHER_ALGORITHM = "other_algorithm"
    BAD_SIGNATURE = "bad_signature"
    CLAIM_MISSING = "claim_missing"
    BAD_CLAIM = "bad_claim"
    OTHER_ISSUER = "other_issuer"
    OTHER_AUDIENCE = "other_audience"
    LIVES_TOO_LONG = "lives_too_long"
    NOT_YET_VALID = "not_yet_valid"
    EXPIRED = "expired"
    REVOKED = "revoked"
    ISSUED_BEFORE_CUTOFF = "issued_before_cutoff"
    UNKNOWN = "unknown"
    WRONG_SECRET = "wrong_secret"  # noqa: S105 - a word, not a secret
    NETWORK_NOT_ALLOWED = "network_not_allowed"
    CLOSED_WORKSPACE = "closed_workspace"
    NOT_FROM_PROXY = "not_from_proxy"
    OTHER_CERTIFICATE = "other_certificate"
    OTHER_WORKSPACE = "other_workspace"


class Refused(Exception):
    """A credential that is not accepted: which kind, which one as far as it names itself, and whose if that is known."""

    def __init__(self, reason: Reason, *, kind: str, named: str = "", workspace_id: UUID | None = None) -> None:
        super().__init__(f"{kind}: {reason}")
        self.reason = reason
        self.kind = kind
        self.named = named
        self.workspace_id = workspace_id
