"""docs/problems.md: every code that a refusal of the API can have, from the classes that are raised."""

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass

from rest_framework import exceptions

from kernel.api import fallback
from kernel.errors import DomainError
from tools.pages.markdown import code, table
from tools.pages.markdown import page as whole_page

APPS = ["kernel", "audit", "tenancy", "files", "webhooks", "contacts", "inbox", "tickets", "agents"]
# What the framework refuses by itself, and we only dress.
FRAMEWORK = [
    exceptions.AuthenticationFailed,
    exceptions.MethodNotAllowed,
    exceptions.ParseError,
    exceptions.UnsupportedMediaType,
]
WAYS_OUT = {
    400: "Correct the address, the headers or the JSON; the same request will never do.",
    401: "Send a valid credential.",
    403: "Have the permission that is named granted.",
    404: "Look for the right id; it may be deleted, or of another workspace.",
    405: "Use a method of the Allow header.",
    409: "Look at the present state; some conflicts pass, then send it again under the same key.",
    412: "Read the resource again and decide anew.",
    413: "Send less.",
    415: "Send another content type.",
    422: "Correct what `errors` points at.",
    429: "Wait as long as Retry-After says.",
    500: "Send it again under the same key; report the request id.",
    502: "Try again later.",
    503: "Try again later.",
}


@dataclass(frozen=True)
class Code:
    """A code, its status and what it means."""

    code: str
    status: int
    meaning: str


def page() -> str:
    rows = sorted(codes().values(), key=lambda found: (found.status, found.code))
    lines = [
        "The `code` of a problem is stable, and so is its `type`. What a code needs beyond the members of every problem",
        "stands in the problem itself: the permission that is missing, the parameters that are allowed.",
        "",
        *table(
            ["status", "code", "what it means", "what to do"],
            ([str(row.status), code(row.code), row.meaning, WAYS_OUT[row.status]] for row in rows),
        ),
    ]
    return whole_page("Problems", lines)


def codes() -> dict[str, Code]:
    """Every code with its status."""
    _import_all()
    found = {}
    for kind in _subclasses(DomainError):
        if "code" in vars(kind):
            found[kind.code] = Code(kind.code, kind.status, _meaning(kind))
    for error in FRAMEWORK:
        found[error.default_code] = Code(error.default_code, error.status_code, _words(error.default_code))
    for said in fallback.ANSWERS:
        found[said.code] = Code(said.code, said.status, said.title)
    return found


def _meaning(kind: type[DomainError]) -> str:
    """Its docstring, else its own title, else what the code itself says."""
    said = " ".join((vars(kind).get("__doc__") or vars(kind).get("title") or "").split())
    return said or _words(kind.code)


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _subclasses(kind: type[DomainError]) -> Iterator[type[DomainError]]:
    for below in kind.__subclasses__():
        if not below.__module__.startswith("tests."):
            yield below
            yield from _subclasses(below)


def _import_all() -> None:
    """Every module that could define an error."""
    for app in APPS:
        for module in pkgutil.walk_packages(importlib.import_module(app).__path__, f"{app}."):
            if not {"migrations", "management", "admin"} & set(module.name.split(".")):
                importlib.import_module(module.name)
