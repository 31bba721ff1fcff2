"""docs/data-model/<app>.md: tables, columns, rules and indexes, from the models and their migrations."""

import re
from collections import defaultdict
from typing import Any

from django.apps import AppConfig, apps
from django.conf import settings
from django.db import connection, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import RunSQL
from django.db.models import NOT_PROVIDED

from tools.pages.markdown import code, paragraphs, table
from tools.pages.markdown import page as whole_page

_PAIR = re.compile(r"ALTER TABLE (\w+) ADD CONSTRAINT (\w+) FOREIGN KEY \((\w+), (\w+)\) REFERENCES (\w+)")
_FENCE = re.compile(r"ALTER TABLE (\w+) FORCE ROW LEVEL SECURITY")
_KEPT = re.compile(r"CREATE TRIGGER (\w+?)_no_change ")
_WORDS = {
    "exact": "=", "in": "in", "gte": "≥", "gt": ">", "lte": "≤", "lt": "<", "regex": "~",
}  # fmt: skip


def pages() -> dict[str, str]:
    promises = _promises()
    ours = [config for config in apps.get_app_configs() if config.name in settings.INSTALLED_APPS and _is_ours(config)]
    return {config.label: _page(config, promises) for config in ours if list(config.get_models())}


def _is_ours(config: AppConfig) -> bool:
    return str(settings.BASE_DIR) in str(config.path) and ".venv" not in str(config.path)


def _promises() -> dict[str, list[str]]:
    """By table: what migrations promise beyond the models."""
    found: dict[str, list[str]] = defaultdict(list)
    for migration in MigrationLoader(None).disk_migrations.values():
        for operation in migration.operations:
            statement = operation.sql if isinstance(operation, RunSQL) and isinstance(operation.sql, str) else ""
            for name in _FENCE.findall(statement):
                found[name].append(
                    "Row-level security, forced: only rows of the scope's workspace are seen or written."
                )
            for name in _KEPT.findall(statement):
                found[name].append("Append-only: UPDATE, DELETE and TRUNCATE are refused by trigger and by grant.")
            for name, _, own, column, target in _PAIR.findall(statement):
                found[name].append(f"Paired key: ({own}, {column}) → {target} (workspace_id, id).")
    return found


def _page(config: AppConfig, promises: dict[str, list[str]]) -> str:
    lines: list[str] = []
    for model in config.get_models():
        lines += _model(model, promises[model._meta.db_table])
    return whole_page(f"Data model: {config.verbose_name} (`{config.label}`)", lines)


def _model(model: type[models.Model], promises: list[str]) -> list[str]:
    options = model._meta
    lines = [f"## {model.__name__}", "", *paragraphs(_doc(model)), f"Table `{options.db_table}`.", ""]
    lines += table(
        ["column", "type", "null", "default", "meaning"], [_column(field) for field in options.concrete_fields]
    )
    rules = [
        *(_rule(rule) for rule in options.constraints),
        *(code(f) + " is unique." for f in _unique(model)),
        *promises,
    ]
    if rules:
        lines += ["Rules:", "", *(f"- {rule}" for rule in rules), ""]
    if options.indexes:
        lines += ["Indexes:", "", *(f"- {_index(index)}" for index in options.indexes), ""]
    return lines


def _doc(model: type[models.Model]) -> str:
    own = model.__doc__ or ""
    return "" if own.startswith(f"{model.__name__}(") else own


def _unique(model: type[models.Model]) -> list[str]:
    return [field.column for field in model._meta.concrete_fields if field.unique and not field.primary_key]


def _column(field: "models.Field[Any, Any]") -> list[str]:
    kind = "primary key, " if field.primary_key else ""
    target = f" → {field.related_model._meta.db_table}" if field.is_relation and field.related_model else ""
    choices = ", ".join(str(value) for value, _ in field.flatchoices) if field.choices else ""
    meaning = " ".join(part for part in (str(field.help_text), f"One of: {choices}." if choices else "") if part)
    return [
        code(field.column),
        f"{kind}{field.db_type(connection)}{target}",
        "yes" if field.null else "",
        _default(field),
        meaning,
    ]


def _default(field: "models.Field[Any, Any]") -> str:
    # A default of the database also holds for rows that SQL writes; one of Python is marked by its brackets.
    if field.db_default is not NOT_PROVIDED:
        value = field.db_default
        return code("now()" if type(value).__name__ == "Now" else _value(getattr(value, "value", value)))
    if field.default is NOT_PROVIDED:
        return ""
    value = field.default
    return (
        code(f"{value.__name__}()")
        if callable(value) and not isinstance(value, type)
        else code(_value(value() if value in (dict, list) else value))
    )


def _rule(rule: models.BaseConstraint) -> str:
    if isinstance(rule, models.UniqueConstraint):
        where = f" where {_condition(rule.condition)}" if rule.condition else ""
        return f"`{rule.name}`: unique ({', '.join(rule.fields)}){where}."
    if isinstance(rule, models.CheckConstraint):
        return f"`{rule.name}`: {_condition(rule.condition)}."
    return f"`{rule.name}`."


def _index(index: models.Index) -> str:
    where = f" where {_condition(index.condition)}" if index.condition else ""
    kind = "" if type(index) is models.Index else f" ({type(index).__name__.removesuffix('Index').upper()})"
    return f"`{index.name}`{kind}: ({', '.join(index.fields)}){where}."


def _condition(condition: Any) -> str:
    """A Q as a reader of SQL would write it."""
    parts = [_condition(part) if isinstance(part, models.Q) else _term(*part) for part in condition.children]
    text = f" {condition.connector.lower()} ".join(
        f"({part})" if " or " in part and len(parts) > 1 else part for part in parts
    )
    return f"not ({text})" if condition.negated else text


def _term(name: str, value: Any) -> str:
    field, _, lookup = name.partition("__")
    if lookup == "isnull" or value is None:
        return f"{field} is {'' if value in (True, None) else 'not '}null"
    return f"{field} {_WORDS[lookup or 'exact']} {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, models.F):
        return value.name
    if isinstance(value, models.Func):
        name = value.extra.get("function") or value.function or type(value).__name__
        return f"{str(name).lower()}({', '.join(_value(part) for part in value.get_source_expressions())})"
    if isinstance(value, models.Value):
        return _value(value.value)
    if isinstance(value, list | tuple) and value:
        return f"({', '.join(_value(part) for part in value)})"
    return f"'{value}'" if isinstance(value, str) else str(value)
