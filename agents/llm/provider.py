"""Hosted language models: any endpoint that speaks OpenAI's protocol, Anthropic, and Bedrock.

One call per question: retries are the run's business, where each is recorded. The answer has a fixed shape; whatever
does not fit it, is too long or comes too late is a ModelError and nothing else.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Final, Literal, cast

import httpx2
from django.conf import settings
from pydantic import BaseModel, Field
from pydantic_ai import Agent, ToolOutput
from pydantic_ai import exceptions as errors
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits

from agents.llm import prompt
from agents.llm.base import MAX_PROPOSAL, ModelError, Proposal, Request
from agents.normalise import visible

Build = Callable[[str, httpx2.AsyncClient, float], Model]

MAX_BYTES: Final = 2 * 1024 * 1024
MAX_TOKENS: Final = 4_096
DEFAULT_MODELS: Final = {
    "openai": "gpt-5-mini",
    "anthropic": "claude-haiku-4-5",
    "bedrock": "eu.anthropic.claude-haiku-4-5-20251001-v1:0",
}

# Whether the same question may work later, by what the provider said. The first that fits counts.
_FAULTS: Final[tuple[tuple[type[Exception], str, bool], ...]] = (
    (errors.ModelRateLimitError, "rate_limited", True),
    (errors.ModelTimeoutError, "timeout", True),
    (errors.ModelConnectionError, "unreachable", True),
    (errors.ModelUnavailableError, "unavailable", True),
    (errors.ModelServerError, "server_error", True),
    (errors.ModelQuotaExceededError, "quota_exceeded", False),
    (errors.ModelAuthenticationError, "not_authorised", False),
    (errors.ModelNotFoundError, "unknown_model", False),
    (errors.ModelContextWindowExceededError, "too_long", False),
    (errors.ContentFilterError, "refused", False),
    (errors.ModelRequestRejectedError, "rejected", False),
    (errors.UsageLimitExceeded, "bad_answer", True),
    (errors.UnexpectedModelBehavior, "bad_answer", True),
    (errors.UserError, "misconfigured", False),
)


class Decision(BaseModel):
    """What you propose to do with the mail."""

    decision: Literal["answer", "ask_person", "search"] = Field(
        description="answer: send `text` to the sender. ask_person: leave it to a person, `text` says why."
        " search: look into the knowledge with `text` as the query."
    )
    text: str = Field(min_length=1, max_length=MAX_PROPOSAL)
    confidence: float = Field(default=0.5, ge=0, le=1)
    citations: list[str] = Field(default_factory=list, max_length=20, description="Ids of the passages used.")


class Hosted:
    """A hosted provider by its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._build = _BUILDERS[name]()

    def propose(self, request: Request) -> Proposal:
        """One call to the model, over within the request's time."""
        try:
            return asyncio.run(asyncio.wait_for(self._ask(request), request.timeout))
        except ModelError:
            raise
        except TimeoutError as error:
            raise ModelError("timeout", "the model did not answer in time", retryable=True) from error
        except Exception as error:
            raise _translated(error) from error

    async def _ask(self, request: Request) -> Proposal:
        transport = _Capped(httpx2.AsyncHTTPTransport())
        async with httpx2.AsyncClient(transport=transport, timeout=request.timeout) as http:
            name = request.model or settings.AI_MODEL or DEFAULT_MODELS[self.name]
            agent = Agent(
                self._build(name, http, request.timeout),
                output_type=ToolOutput(Decision, name="decide"),
                instructions=prompt.instructions(request),
                retries=0,
            )
            # The client of Bedrock keeps its own time and tries; it takes neither as a setting of the call.
            limits = {} if self.name == "bedrock" else {"timeout": request.timeout, "max_retries": 0}
            result = await agent.run(
                prompt.content(request),
                model_settings=cast("ModelSettings", {"max_tokens": MAX_TOKENS, **limits}),
                usage_limits=UsageLimits(request_limit=1),
            )
        responses = [m for m in result.all_messages() if isinstance(m, ModelResponse)]
        return self._proposal(result.output, responses)

    def _proposal(self, wish: Decision, responses: list[ModelResponse]) -> Proposal:
        text = visible(wish.text).strip()
        if not text:
            raise ModelError("bad_answer", "the model answered with nothing", retryable=True)
        prices = [_price(response) for response in responses]
        return Proposal(
            answer=text if wish.decision == "answer" else "",
            ask_person=text if wish.decision == "ask_person" else "",
            search=text if wish.decision == "search" else "",
            confidence=wish.confidence,
            citations=tuple(wish.citations),
            provider=self.name,
            model=(responses[-1].model_name or "")[:120] if responses else "",
            input_tokens=sum(response.usage.input_tokens or 0 for response in responses),
            output_tokens=sum(response.usage.output_tokens or 0 for response in responses),
            cost_micros=sum(price or 0 for price in prices),
            price_known=None not in prices,
        )


def _openai() -> Build:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    def build(name: str, http: httpx2.AsyncClient, _timeout: float) -> Model:
        # Local endpoints want no key, but the client library does.
        key = settings.OPENAI_API_KEY or "none"
        provider = OpenAIProvider(base_url=settings.AI_BASE_URL or None, api_key=key, http_client=http)
        return OpenAIChatModel(name, provider=provider)

    return build


def _anthropic() -> Build:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    def build(name: str, http: httpx2.AsyncClient, _timeout: float) -> Model:
        key = settings.ANTHROPIC_API_KEY
        if not key:
            raise ModelError("not_authorised", "ANTHROPIC_API_KEY is not set", retryable=False)
        provider = AnthropicProvider(api_key=key, base_url=settings.AI_BASE_URL or None, http_client=http)
        return AnthropicModel(name, provider=provider)

    return build


def _bedrock() -> Build:
    import boto3
    from botocore.config import Config
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    def build(name: str, _http: httpx2.AsyncClient, timeout: float) -> Model:
        client = boto3.client(
            "bedrock-runtime",
            region_name=settings.AWS_REGION,
            endpoint_url=settings.AI_BASE_URL or None,
            config=Config(retries={"total_max_attempts": 1}, read_timeout=timeout, connect_timeout=min(timeout, 10)),
        )
        return BedrockConverseModel(name, provider=BedrockProvider(bedrock_client=client))

    return build


# Each imports its client library when a provider is made, so that no call's time goes into imports.
_BUILDERS: Final[dict[str, Callable[[], Build]]] = {"openai": _openai, "anthropic": _anthropic, "bedrock": _bedrock}


def _price(response: ModelResponse) -> int | None:
    """Millionths of a dollar by the bundled price list; None for a model that is not on it."""
    try:
        return int(response.cost().total_price * 1_000_000)
    except (LookupError, ValueError, AssertionError):
        return None


def _translated(error: Exception) -> ModelError:
    """Only the kind of the error is kept: its text may repeat the mail."""
    for kind, code, retryable in _FAULTS:
        if isinstance(error, kind):
            wait = getattr(error, "retry_after", None)
            return ModelError(code, _explained(error, code), retryable=retryable, retry_after=wait)
    if isinstance(error, errors.ModelAPIError | httpx2.HTTPError | OSError):
        return ModelError("unreachable", _explained(error, "unreachable"), retryable=True)
    # Whatever a client library stumbles over in an answer is a bad answer.
    return ModelError("bad_answer", f"the answer could not be read ({type(error).__name__})", retryable=True)


def _explained(error: Exception, code: str) -> str:
    status = getattr(error, "status_code", None)
    return f"the model's provider said {code.replace('_', ' ')}" + (f" (HTTP {status})" if status else "")


class _Capped(httpx2.AsyncBaseTransport):
    """A transport that stops reading an answer that is far too long."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        response.stream = _CappedStream(cast("httpx2.AsyncByteStream", response.stream))
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _CappedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MAX_BYTES
        async for chunk in self._inner:
            left -= len(chunk)
            if left < 0:
                raise ModelError("bad_answer", "the model's answer is far too long", retryable=True)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
