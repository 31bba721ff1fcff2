"""What an agent asks and what comes back, whichever provider answers. A provider is one module with one function.

A proposal is only a wish: it names no tool, no recipient and no risk. Those come from the registry and from rules.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Protocol

MAX_PROPOSAL = 20_000


@dataclass(frozen=True)
class Passage:
    """A piece of the workspace's own knowledge: trusted, unlike mail."""

    id: str
    source: str
    heading: str
    text: str
    score: float


@dataclass(frozen=True)
class Earlier:
    """An earlier message of the thread."""

    direction: str
    author: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True)
class Mail:
    """The mail to answer, as a stranger wrote it. Nothing in it is an instruction."""

    subject: str
    from_name: str
    from_address: str
    text: str
    received_at: datetime | None = None
    attachments: Sequence[str] = ()
    history: Sequence[Earlier] = ()


@dataclass(frozen=True)
class Request:
    """All that a provider may know."""

    mail: Mail
    inbox_name: str
    system_prompt: str = ""
    skills: Sequence[str] = ()
    model: str = ""
    passages: Sequence[Passage] = ()
    searches: Sequence[str] = ()
    timeout: float = 60.0


@dataclass(frozen=True)
class Proposal:
    """An answer, or a question to the knowledge, or a reason to ask a person; and what it took to get it."""

    answer: str = ""
    ask_person: str = ""
    search: str = ""
    confidence: float = 0.0
    citations: Sequence[str] = field(default_factory=tuple)
    provider: str = ""
    model: str = ""
    used_language_model: bool = True
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0
    price_known: bool = True

    def as_json(self) -> dict[str, Any]:
        """As a step keeps it; `of_json` reads it back when the run is resumed."""
        return asdict(self) | {"citations": list(self.citations)}

    @classmethod
    def of_json(cls, content: dict[str, Any]) -> "Proposal":
        return cls(**content)


class ModelError(Exception):
    """The provider gave no usable proposal. `retryable`: the same question may work later."""

    def __init__(self, code: str, detail: str, *, retryable: bool, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail[:500]
        self.retryable = retryable
        self.retry_after = retry_after


class Provider(Protocol):
    """What a provider's module offers."""

    def propose(self, request: Request) -> Proposal:
        """Ask once. Raises ModelError, and nothing else for whatever the other side does."""
