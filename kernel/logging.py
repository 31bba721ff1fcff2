"""Structured logs: one JSON object a line (or colours on a terminal), with request, actor and workspace, redacted."""

import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from kernel import context
from kernel.redaction import redact_event


def add_context(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Name the request, the actor and the workspace of the current work."""
    scope = context.scope.get()
    if context.request_id.get():
        event.setdefault("request_id", context.request_id.get())
    if scope and scope.workspace_id:
        event.setdefault("workspace_id", str(scope.workspace_id))
    event.setdefault("actor", context.actor.get().kind)
    return event


_SHARED: list[Any] = [
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.ExtraAdder(),
    add_context,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
    redact_event,
]


def configuration(*, level: str) -> dict[str, Any]:
    """Django's LOGGING setting."""
    pretty = sys.stderr.isatty()
    renderer = structlog.dev.ConsoleRenderer() if pretty else structlog.processors.JSONRenderer()
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "structured": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _SHARED,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
        "root": {"handlers": ["stderr"], "level": level},
        # Named, those of Django lose the handlers that it gives them, which write a line as it is, and speak by ours.
        "loggers": {
            "django": {"level": level},
            "django.server": {"level": "WARNING", "propagate": True},
            "mail.log": {"level": "WARNING"},
        },
    }
