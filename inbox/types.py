"""States and words of the inbox."""

from typing import Final

from django.db.models import TextChoices


class Channel(TextChoices):
    EMAIL = "email"


class MessageState(TextChoices):
    """Of an accepted delivery, before it is anybody's mail."""

    STORED = "stored"
    DONE = "done"
    QUARANTINED = "quarantined"


class EmailState(TextChoices):
    """The processing state of S0-18; `state_reason` says why for the last three."""

    RECEIVED = "received"
    STORED = "stored"
    PARSED = "parsed"
    THREADED = "threaded"
    QUEUED = "queued"
    RUNNING = "running"
    WAITING_APPROVAL = "waiting_approval"
    HANDLED = "handled"
    IGNORED = "ignored"
    QUARANTINED = "quarantined"
    FAILED = "failed"


_S = EmailState

# Moves that the ingest makes: while a mail is read and put into its thread. Reading and threading are one statement, so
# `parsed` is passed through (and told) rather than rested in.
INGEST_MOVES: Final[dict[EmailState, frozenset[EmailState]]] = {
    _S.RECEIVED: frozenset({_S.STORED, _S.IGNORED, _S.QUARANTINED}),
    _S.STORED: frozenset({_S.PARSED, _S.THREADED, _S.IGNORED, _S.QUARANTINED}),
    _S.PARSED: frozenset({_S.THREADED, _S.IGNORED, _S.QUARANTINED}),
}
# Moves of the work on a mail. Final states are left only by a person: release, a late answer, another try.
WORK_MOVES: Final[dict[EmailState, frozenset[EmailState]]] = {
    _S.THREADED: frozenset({_S.QUEUED, _S.HANDLED, _S.IGNORED, _S.FAILED}),
    _S.QUEUED: frozenset({_S.RUNNING, _S.WAITING_APPROVAL, _S.THREADED, _S.HANDLED, _S.IGNORED, _S.FAILED}),
    _S.RUNNING: frozenset({_S.WAITING_APPROVAL, _S.THREADED, _S.HANDLED, _S.FAILED}),
    _S.WAITING_APPROVAL: frozenset({_S.RUNNING, _S.THREADED, _S.HANDLED, _S.FAILED}),
    _S.QUARANTINED: frozenset({_S.STORED}),
    _S.FAILED: frozenset({_S.QUEUED, _S.HANDLED}),
}
# All permitted moves; inbox/sql/moves_v1.sql keeps them.
MOVES: Final = frozenset(
    (origin, target) for table in (INGEST_MOVES, WORK_MOVES) for origin, targets in table.items() for target in targets
)


class MailClass(TextChoices):
    """What kind of sender wrote, decided before threading."""

    HUMAN = "human"
    AUTO_REPLY = "auto_reply"
    BOUNCE = "bounce"
    LIST = "list"
    SPAM = "spam"
    VIRUS = "virus"
    SELF = "self"


class ThreadStatus(TextChoices):
    OPEN = "open"
    SNOOZED = "snoozed"
    CLOSED = "closed"
    SPAM = "spam"


class Direction(TextChoices):
    INBOUND = "inbound"
    OUTBOUND = "outbound"
    INTERNAL = "internal"


class OutboundKind(TextChoices):
    """Who or what answered. Human, ai_answer and flow end a response turn; the others do not (X-19)."""

    HUMAN = "human"
    AI_ANSWER = "ai_answer"
    FLOW = "flow"
    CAMPAIGN = "campaign"
    AUTO_ACK = "auto_ack"
    SYSTEM = "system"


ANSWERS = (OutboundKind.HUMAN, OutboundKind.AI_ANSWER, OutboundKind.FLOW)


class SendState(TextChoices):
    """Of an outgoing message. `uncertain`: the other side may have accepted it, so it is never sent again blindly."""

    QUEUED = "queued"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    UNCERTAIN = "uncertain"


class DeliveryState(TextChoices):
    """What became of an outgoing entry, or of it at one recipient; each state may only give way to a later one.

    A soft bounce comes before `delivered`: providers report some automatic answers to delivered mail as such, and news
    arrives in any order. `inbox/sql/delivery_v1.sql` holds the same order for the database.
    """

    QUEUED = "queued"
    SENDING = "sending"
    UNCERTAIN = "uncertain"
    SENT = "sent"
    FAILED = "failed"
    DELAYED = "delayed"
    SOFT_BOUNCED = "soft_bounced"
    DELIVERED = "delivered"
    BOUNCED = "bounced"
    COMPLAINED = "complained"

    @property
    def rank(self) -> int:
        """Its place; the states before anything was handed over share the first."""
        return max(0, list(DeliveryState).index(self) - 2)


class ReferenceKind(TextChoices):
    OWN = "own"
    IN_REPLY_TO = "in_reply_to"
    REFERENCE = "reference"
    REWRITTEN = "rewritten"
    # Not an id: sender and subject of a mail, where the inbox groups by them (queries/grouping.py).
    SUBJECT = "subject"


class Provider(TextChoices):
    """Whose account a connection is."""

    SMTP = "smtp", "SMTP server"
    SES = "ses", "Amazon SES"


class ConnectionState(TextChoices):
    """The six states of S3-65. Only the first two may lack a secret that is good; `connected` was proven, not assumed."""

    UNCONFIGURED = "unconfigured"
    PENDING_AUTHORIZATION = "pending_authorization"
    CONNECTED = "connected"
    DEGRADED = "degraded"
    EXPIRED = "expired"
    DISCONNECTED = "disconnected"


_C = ConnectionState
# Permitted moves of a connection; inbox/sql/connections_v1.sql keeps them.
CONNECTION_MOVES: Final = frozenset(
    (origin, target)
    for origin, targets in {
        _C.UNCONFIGURED: {_C.PENDING_AUTHORIZATION, _C.DISCONNECTED},
        _C.PENDING_AUTHORIZATION: {_C.CONNECTED, _C.EXPIRED, _C.DISCONNECTED},
        _C.CONNECTED: {_C.DEGRADED, _C.EXPIRED, _C.DISCONNECTED, _C.PENDING_AUTHORIZATION},
        _C.DEGRADED: {_C.CONNECTED, _C.EXPIRED, _C.DISCONNECTED, _C.PENDING_AUTHORIZATION},
        _C.EXPIRED: {_C.PENDING_AUTHORIZATION, _C.DISCONNECTED},
        _C.DISCONNECTED: {_C.PENDING_AUTHORIZATION},
    }.items()
    for target in targets
)
# What may be tried for sending: a degraded connection may have recovered.
USABLE: Final = (ConnectionState.CONNECTED, ConnectionState.DEGRADED)


class ThreadChangeKind(TextChoices):
    """What a person does to conversations: one into another, some entries into a new one, some into another."""

    MERGE = "merge"
    SPLIT = "split"
    MOVE = "move"


class BreakerScope(TextChoices):
    """How much an open circuit breaker stops. `hops`: mail that passed too many automatic answers."""

    THREAD = "thread"
    SENDER = "sender"
    INBOX = "inbox"
    WORKSPACE = "workspace"
    HOPS = "hops"


class Rule(TextChoices):
    """Why an entry is in its conversation (`thread_decision`)."""

    NEW = "new"
    SIGNED_REPLY = "signed_reply"
    REPLY_ADDRESS = "reply_address"
    IN_REPLY_TO = "in_reply_to"
    REFERENCES = "references"
    CITED_BY_LATER = "cited_by_later"
    SUBJECT = "subject"
    JOURNAL = "journal"
    DELIVERY_REPORT = "delivery_report"
    REPLY = "reply"
    MERGE = "merge"
    SPLIT = "split"
    MOVE = "move"


class Confidence(TextChoices):
    CERTAIN = "certain"
    HIGH = "high"
    LOW = "low"
