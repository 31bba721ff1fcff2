"""Facts: well-formed, of ids and scalars, and every subscription is to one that somebody emits."""

import ast
import dataclasses
import importlib
import re
import types
import typing
from datetime import datetime
from uuid import UUID

import pytest
from django.apps import apps

from kernel import outbox
from kernel.events import DomainEvent, event_classes
from tests.architecture.code import APPS, sources

# One worker parses the source once for all of them.
pytestmark = pytest.mark.xdist_group("source")

SCALARS = {UUID, str, int, float, bool, type(None), datetime}

for _app in APPS:
    if importlib.util.find_spec(f"{_app}.events"):
        importlib.import_module(f"{_app}.events")

EVENTS = {slug: cls for slug, cls in event_classes().items() if cls.__module__.partition(".")[0] in APPS}
each_event = pytest.mark.parametrize("slug", sorted(EVENTS))


@each_event
def test_a_fact_is_frozen_and_holds_ids_and_scalars(slug):
    cls = EVENTS[slug]
    assert re.fullmatch(r"[a-z_]+\.[a-z_]+", slug)
    assert dataclasses.is_dataclass(cls)
    assert cls.__dataclass_params__.frozen
    hints = typing.get_type_hints(cls)
    names = {field.name for field in dataclasses.fields(cls)}
    assert cls.aggregate in names
    assert cls.version >= 1
    for name in names:
        kinds = set(typing.get_args(hints[name])) if isinstance(hints[name], types.UnionType) else {hints[name]}
        assert kinds <= SCALARS, f"{slug}.{name} holds {hints[name]}"


def test_slugs_are_of_one_class_each():
    seen: dict[str, type[DomainEvent]] = {}
    pending = list(DomainEvent.__subclasses__())
    while pending:
        cls = pending.pop()
        pending += cls.__subclasses__()
        slug = vars(cls).get("slug")
        if slug:
            assert seen.setdefault(slug, cls) is cls, slug


def test_every_subscription_is_to_a_fact_that_exists():
    subscribed = {slug for consumer in outbox.consumers() for slug in consumer.slugs or ()}
    assert subscribed <= set(EVENTS)


def test_consumers_have_names_of_their_own():
    names = [
        keyword.value.value
        for tree in sources().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("consume")
        for keyword in node.keywords
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant)
    ]
    assert len(names) == len(set(names))
    assert set(names) == {consumer.name for consumer in outbox.consumers()}


def test_every_fact_is_emitted_somewhere():
    """By its class, or, from a function of the database, by its slug in the SQL."""
    used = {node.id for tree in sources().values() for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.attr for tree in sources().values() for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    statements = "".join(
        path.read_text() for config in apps.get_app_configs() if config.name in APPS
        for path in sorted((importlib.resources.files(config.name) / "sql").glob("*.sql"))
    )  # fmt: skip
    silent = [slug for slug, cls in EVENTS.items() if cls.__name__ not in used and f"'{slug}'" not in statements]
    assert silent == []
