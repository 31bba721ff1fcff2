"""How a composed message leaves: one interface, three honest outcomes, one file for each provider."""

from dataclasses import dataclass
from typing import Any, Protocol


class NotAccepted(Exception):
    """The other side does not have the message. `permanent` ones are not tried again."""

    def __init__(self, detail: str, *, permanent: bool) -> None:
        super().__init__(detail)
        self.permanent = permanent


class SignInRefused(NotAccepted):
    """The other side does not know us any more: no message of this account goes until somebody has looked."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail, permanent=False)


class MaybeAccepted(Exception):
    """The connection ended after the message was handed over and before an answer: it may have been accepted (CM-5)."""


@dataclass(frozen=True)
class Receipt:
    """The other side has the message. `reference` is its own name for it; `message_id` what it rewrote ours to."""

    reference: str
    message_id: str = ""


class Transport(Protocol):
    """Sends one message. Raises NotAccepted or MaybeAccepted; anything else counts as MaybeAccepted."""

    def send(self, *, raw: bytes, envelope_from: str, envelope_to: list[str], tag: str) -> Receipt: ...

    def check(self) -> dict[str, Any]:
        """Sign in and send nothing: what the provider says it can do. Raises NotAccepted."""
