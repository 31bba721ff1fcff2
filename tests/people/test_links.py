"""Secrets in the path of an address: no way to fail writes one down, not in the log, not in the trail, not on a page."""

import io
import logging
import logging.config
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import get_resolver, reverse

from inbox.services import images
from kernel.logging import configuration
from kernel.redaction import redact
from kernel.transactions import in_all_workspaces
from tenancy.services import inviting, resetting
from tests.people.conftest import invitation_path, knock

# Where each secret comes from, and what its page asks first. A new route with a secret in it fails until it is here.
MADE: dict[str, Callable[[Any], str]] = {
    "join": lambda office: invitation_path(office, "noor@acme.test"),
    "new_password": lambda office: "/" + resetting.issue(user=office.bo).split("/", 3)[3],
    "image": lambda office: "/images/" + images._sign({"w": str(office.id), "u": "https://example.org/a.png"}),
}
ASKED = {"join": (inviting, "offered"), "new_password": (resetting, "is_good"), "image": (images, "picture")}


def routes(patterns: Any) -> Iterator[tuple[str, str]]:
    """Name and parameter of every route that has a secret in its path: what the logs would withhold by its name."""
    for pattern in patterns:
        if hasattr(pattern, "url_patterns"):
            yield from routes(pattern.url_patterns)
        else:
            for parameter in pattern.pattern.converters:
                if redact("x", name=parameter) != "x":
                    yield pattern.name, parameter


@pytest.fixture
def lines(settings) -> Iterator[io.StringIO]:
    """All that is logged, as production logs it."""
    settings.DEBUG = False
    stream, root = io.StringIO(), logging.getLogger()
    before, level = list(root.handlers), root.level
    made = configuration(level="INFO")
    made["handlers"]["stderr"]["stream"] = stream
    logging.config.dictConfig(made)
    yield stream
    root.handlers[:] = before
    root.setLevel(level)


def kept() -> str:
    """Everything that the trail and the request log have."""
    with in_all_workspaces("the test looks for a secret wherever it may be"), connection.cursor() as cursor:
        cursor.execute(
            "SELECT string_agg(t, chr(10)) FROM (SELECT e::text AS t FROM audit_auditevent e UNION ALL"
            " SELECT p::text FROM audit_auditpayload p UNION ALL SELECT r::text FROM audit_apirequest r) AS all_of_them"
        )
        return str(cursor.fetchone()[0])


def test_every_route_with_a_secret_is_known():
    assert {name for name, _ in routes(get_resolver().url_patterns)} == set(MADE) == set(ASKED)


@pytest.mark.parametrize("who", ["stranger", "owner"])
@pytest.mark.parametrize("name", sorted(MADE))
def test_no_failure_writes_down_the_secret_of_a_link(office, lines, monkeypatch, name, who):
    path = MADE[name](office)
    secret = path.strip("/").rsplit("/", 1)[1]
    assert reverse(name, args=[secret]) == path
    service, verb = ASKED[name]
    client = knock() if who == "owner" else Client()
    client.raise_request_exception = False
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = client.cookies
    answers = [
        client.get(f"/nothing{path}"),
        client.delete(path),
        strict.post(path, {"name": "x"}),
        client.get("/nothing/", {"next": path}),
    ]

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError(f"nobody expected {secret} at {path}")

    monkeypatch.setattr(service, verb, broken)
    answers += [client.get(path), client.post(path, {})]
    statuses = [answer.status_code for answer in answers]
    # Pictures take nothing but GET.
    assert statuses == [404, 405, 403, 404, 500, 405 if name == "image" else 500]
    assert not any(secret in answer.content.decode() for answer in answers)
    said = lines.getvalue()
    assert secret not in said
    assert secret not in kept()
    for word in ("Not Found", "Method Not Allowed", "Internal Server Error", r"lnk_\u2026", "RuntimeError"):
        assert word in said, word


def test_nothing_but_our_own_handler_writes(lines):
    """A handler of Django's own would write the line as it is."""
    known = [name for name in logging.Logger.manager.loggerDict if name.split(".")[0] == "django"]
    assert "django.request" in known
    for name in known:
        assert (logging.getLogger(name).handlers, logging.getLogger(name).propagate) == ([], True), name


def test_links_still_open_what_they_are_for(office):
    for name, make in MADE.items():
        if name != "image":
            assert Client().get(make(office)).status_code == 200, name
