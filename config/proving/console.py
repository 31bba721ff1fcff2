"""Every page and deed of the console with ids of another workspace, its lists, searches and exports, by somebody who may do
everything elsewhere and has signed in by the door.

The paths come from the console itself. The measure is again the answer for an id that nobody has: status, and where it leads.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

import urllib3
from django.apps import apps
from django.contrib import admin
from django.urls import NoReverseMatch, reverse

from config.console import urls
from config.proving import scene, unknown
from config.proving.findings import Findings
from config.proving.scene import Place

_TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="([^"]+)"')
_ROW_PAGES = ("change", "history", "delete")
# Of ids of other kinds of rows than a path is about, so many are tried.
_EVERY = 16
# Lists that must show something of one's own, for the walk to mean anything.
_LEAST_SEEN = 10
_SEARCHES = ("?q={}", "?q={}&view=all", "?s={}&extended=1")
_FORM = {
    "text": "hello",
    "note": "hello",
    "deed": "closed",
    "to": "off",
    "arrived": "no",
    "key": "proof",
    "post": "yes",
}


@dataclass(frozen=True)
class Page:
    """What came back. A list that has moved, or a door, leads elsewhere."""

    status: int
    leads_to: str
    content: bytes


class Visitor:
    """A browser without scripts: it keeps cookies and sends forms with the token of its session."""

    def __init__(self, base: str) -> None:
        self._base, self._cookies, self._token = base, SimpleCookie(), b""
        self._pool = urllib3.connection_from_url(base, timeout=30, retries=False)

    def sign_in(self, email: str, password: str) -> bool:
        """By the form, as a person does; whether the door has opened."""
        self.ask("GET", reverse("admin:login"))
        answer = self.ask("POST", reverse("admin:login"), {"login": email, "password": password})
        if answer.status == 302:
            self.ask("GET", reverse("you"))
        return answer.status == 302

    def ask(self, method: str, path: str, form: Mapping[str, str] | None = None) -> Page:
        headers = {"Cookie": "; ".join(f"{one.key}={one.value}" for one in self._cookies.values())}
        body = None
        if method == "POST":
            headers |= {
                "Content-Type": "application/x-www-form-urlencoded",
                "Origin": self._base,
                "Referer": self._base,
            }
            body = urlencode({"csrfmiddlewaretoken": self._token.decode()} | dict(form or {}))
        answer = self._pool.request(method, path, body=body, headers=headers, redirect=False)
        for line in answer.headers.getlist("Set-Cookie"):
            self._cookies.load(line)
        if found := _TOKEN.search(answer.data):
            self._token = found[1]
        return Page(answer.status, answer.headers.get("Location", ""), answer.data)


@contextmanager
def visiting(found: Findings, base: str, place: Place) -> Iterator[Visitor]:
    """An owner of a workspace who has signed in; they are nobody any more at the end."""
    visitor = Visitor(base)
    with scene.owner(place) as (email, password):
        if not visitor.sign_in(email, password):
            found.miss("nobody could sign in to the console, so nothing is said of it")
        yield visitor


def walk(found: Findings, visitor: Visitor, ours: Place, theirs: Place, foreign: Mapping[str, str]) -> None:
    """Ask for every page of every row that is not ours, and look for the other workspace in all lists and searches."""
    for name, paths in _paths().items():
        ids = _suited(foreign, name)
        for path in paths:
            for method in ("GET", "POST"):
                _compare(found, visitor, method, path, ids, mark=theirs.mark)
    seen = sum(look_around(found, visitor, path, ours.mark, theirs.mark) for path in _lists())
    if seen < _LEAST_SEEN:  # the counterpart: one's own rows are in sight
        found.miss("the console's lists show next to nothing of one's own, so there is nothing to compare with")


def look_around(found: Findings, visitor: Visitor, path: str, own: str, foreign: str) -> int:
    """Look for the other workspace's mark on a page and by its searches; how many of the pages show one's own.

    A page repeats what was looked for; so the measure is how often it says a word that nobody has.
    """
    nobodys = scene.new_mark()
    seen = 0
    for query in ("", "?form=csv", "?view=all"):
        content = _get(found, visitor, path + query).content
        seen += own.encode() in content
        if foreign.encode() in content:
            found.leak(f"the console's {path}{query} shows something of the other workspace")
    for search in _SEARCHES:
        said = [
            _get(found, visitor, path + search.format(word)).content.count(word.encode()) for word in (foreign, nobodys)
        ]
        if said[0] != said[1]:
            found.leak(f"the console's {path}{search.format(foreign)} finds something of the other workspace")
    return seen


def _paths() -> dict[str, list[str]]:
    """Every path that names a row, with `{id}` for it, by the table that the row would be of where that is plain."""
    found: dict[str, list[str]] = {}
    for pattern in urls.patterns(admin.site):
        names = list(pattern.pattern.converters)
        if names:
            found.setdefault("", []).append(_path(f"admin:{pattern.name}", names))
    for meta in _registered():
        for page in _ROW_PAGES:
            try:
                path = reverse(f"admin:{meta.app_label}_{meta.model_name}_{page}", args=["{id}"])
            except NoReverseMatch:
                continue
            found.setdefault(meta.db_table, []).append(path.replace("%7Bid%7D", "{id}"))
    return found


def _registered() -> list[Any]:
    return [model._meta for model in apps.get_models() if admin.site.is_registered(model)]


def _path(name: str, names: list[str]) -> str:
    """The ids of a path all the same: one of the other workspace's is enough to be refused."""
    nobody = unknown.KINDS["uuid"]()
    return reverse(name, kwargs=dict.fromkeys(names, nobody)).replace(nobody, "{id}")


def _suited(foreign: Mapping[str, str], table: str) -> dict[str, str]:
    """All ids for a path that says nothing of its rows; else those of its table, and some others."""
    if not table:
        return dict(foreign)
    own = {name: value for name, value in foreign.items() if name.startswith(f"{table}.")}
    return own | dict(list(foreign.items())[::_EVERY])


def _compare(found: Findings, visitor: Visitor, method: str, path: str, ids: Mapping[str, str], *, mark: str) -> None:
    absent = {}
    for kind, make in unknown.KINDS.items():
        absent[kind] = _trace(found, visitor, method, path, make())[0]
    for name, value in ids.items():
        trace, content = _trace(found, visitor, method, path, value)
        if trace != absent[unknown.kind(value)]:
            found.leak(f"{method} {path} of the console tells that {name} exists ({trace[0]})")
        if mark.encode() in content:
            found.leak(f"{method} {path} of the console shows something of the other workspace ({name})")


def _trace(found: Findings, visitor: Visitor, method: str, path: str, value: str) -> tuple[tuple[int, str], bytes]:
    found.count("requests")
    page = visitor.ask(method, path.replace("{id}", value), _FORM)
    return (page.status, page.leads_to.replace(value, "{id}")), page.content


def _lists() -> list[str]:
    """Every page that names no row: lists, searches, exports, the home page."""
    named = [reverse(f"admin:{p.name}") for p in urls.patterns(admin.site) if not p.pattern.converters]
    lists = [reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist") for meta in _registered()]
    return sorted({reverse("admin:index"), *named, *lists} - {reverse("admin:logout")})


def _get(found: Findings, visitor: Visitor, path: str) -> Page:
    found.count("requests")
    return visitor.ask("GET", path)
