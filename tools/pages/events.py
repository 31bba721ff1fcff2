"""docs/events.md: every fact, from its class."""

import importlib
import importlib.util
import typing
from dataclasses import fields
from types import UnionType

from django.apps import apps
from django.conf import settings

from kernel import outbox
from kernel.events import DomainEvent, event_classes
from tools.pages.markdown import code, paragraphs, table
from tools.pages.markdown import page as whole_page


def page() -> str:
    for config in apps.get_app_configs():
        if importlib.util.find_spec(f"{config.name}.events"):
            importlib.import_module(f"{config.name}.events")
    ours = {s: c for s, c in event_classes().items() if c.__module__.partition(".")[0] in settings.INSTALLED_APPS}
    lines = [
        "Facts leave the transaction that caused them through the [outbox](mechanisms/outbox.md). Public ones become",
        "SystemEvents and are sent to the webhooks that ask for them; the others only wake consumers inside.",
        "",
        "The payload holds ids and scalars; `workspace_id` stands beside it. Facts of one aggregate arrive in order.",
        "",
        *table(
            ["slug", "version", "public", "aggregate", "consumers inside"],
            (
                [f"[{s}](#{_anchor(s)})", str(c.version), _yes(c.public), code(c.aggregate), _consumers(s)]
                for s, c in ours.items()
            ),
        ),
    ]
    for slug, cls in ours.items():
        lines += [f"## {slug}", "", *paragraphs(_meaning(cls)), *_payload(cls)]
    return whole_page("Events", lines)


def _anchor(slug: str) -> str:
    return slug.replace(".", "")


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _consumers(slug: str) -> str:
    return ", ".join(code(consumer.name) for consumer in outbox.consumers() if consumer.wants(slug))


def _meaning(cls: type[DomainEvent]) -> str:
    own = vars(cls).get("__doc__") or ""
    # A dataclass without a docstring gets its signature as one.
    return "" if own.startswith(f"{cls.__name__}(") else own


def _payload(cls: type[DomainEvent]) -> list[str]:
    hints = typing.get_type_hints(cls)
    rows = [[code(f.name), _kind(hints[f.name])] for f in fields(cls) if f.name != "workspace_id"]
    return table(["field", "type"], rows)


def _kind(hint: object) -> str:
    if isinstance(hint, UnionType):
        return " or ".join(_kind(part) for part in typing.get_args(hint))
    names = {
        "UUID": "uuid",
        "str": "text",
        "int": "whole number",
        "bool": "true or false",
        "float": "number",
        "NoneType": "null",
    }
    name = getattr(hint, "__name__", str(hint))
    return names.get(name, name)
