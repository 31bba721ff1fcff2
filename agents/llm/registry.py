"""Providers by name. Each is imported on first use: the client libraries cost seconds that most processes never need."""

import os
from importlib import import_module
from typing import Final, cast

from django.conf import settings

from agents.llm.base import ModelError, Provider

_MODULES: Final = {
    "local": "agents.llm.local",
    "openai": "agents.llm.provider",
    "anthropic": "agents.llm.provider",
    "bedrock": "agents.llm.provider",
    "scripted": "agents.llm.scripted",
}
SCRIPT_VARIABLE: Final = "AI_SCRIPT"


def names() -> list[str]:
    """The providers that an agent may be given. The scripted one only where a script is."""
    return [name for name in _MODULES if name != "scripted" or _is_scripted()]


def default() -> str:
    """The installation's provider: the one that is set, else the one whose key is set, else the offline one."""
    if settings.AI_PROVIDER:
        return str(settings.AI_PROVIDER)
    if settings.OPENAI_API_KEY or settings.AI_BASE_URL:
        return "openai"
    return "anthropic" if settings.ANTHROPIC_API_KEY else "local"


def get(name: str) -> Provider:
    """The provider of that name; a permanent ModelError when there is none."""
    module = _MODULES.get(name)
    if module is None or name not in names():
        raise ModelError("unknown_provider", f"There is no provider {name!r} here.", retryable=False)
    if module == "agents.llm.provider":
        from agents.llm.provider import Hosted

        return Hosted(name)
    return cast("Provider", import_module(module))


def _is_scripted() -> bool:
    return bool(settings.CRASH_POINTS_ENABLED or os.environ.get(SCRIPT_VARIABLE))
