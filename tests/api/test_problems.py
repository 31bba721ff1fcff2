"""Every refusal is a problem with a stable code, a request id and a sentence that says what to do; the table of them is whole."""

import re
from pathlib import Path
from uuid import uuid4

import pytest
from django.test import Client

from tests.api.conftest import Caller
from tests.api.schemas import description, faults
from tools.pages import problems as page

DOCS = Path(__file__).resolve().parents[2] / "docs"


def _asks(world):
    """(what, status, code, answer) of refusals of every kind."""
    caller = Caller(world.id)
    webhook = f"/webhooks/{world.ids['webhooks']}"
    reader = Caller(world.id, "webhook.read")
    return [
        ("unparsable", 400, "parse_error", caller("POST", "/webhooks", b"{")),
        ("not utf-8", 400, "parse_error", caller("POST", "/webhooks", b"\xff")),
        ("unknown parameter", 400, "unknown_parameter", caller.get("/webhooks?x=1")),
        ("bad parameter", 400, "invalid_parameter", caller.get("/webhooks?state=x")),
        ("bad cursor", 400, "bad_cursor", caller.get("/webhooks?cursor=x")),
        ("bad key", 400, "idempotency_key_malformed", caller("POST", "/webhooks", {}, Idempotency_Key="a b")),
        ("no credential", 401, "not_authenticated", Client().get("/api/v1/webhooks")),
        ("bad credential", 401, "authentication_failed", Client().get("/api/v1/webhooks", headers={"authorization": "Bearer x"})),
        ("no permission", 403, "forbidden", reader("POST", "/webhooks", {})),
        ("no such id", 404, "not_found", caller.get(f"/webhooks/{uuid4()}")),
        ("no such address", 404, "no_such_address", caller.get("/webhooks/x")),
        ("below the api", 404, "no_such_address", Client().get("/api/v2/emails")),
        ("read-only", 405, "method_not_allowed", caller("DELETE", f"/webhook-deliveries/{world.ids['webhook-deliveries']}")),
        ("taken", 409, "address_not_available", caller("POST", "/inboxes", {"address": "support@acme.test"})),
        ("changed", 412, "precondition_failed", caller("PATCH", webhook, {"label": "x"}, If_Match='"x"')),
        ("type", 415, "unsupported_media_type", caller("POST", "/webhooks", b"a=1", content_type="application/x-www-form-urlencoded")),
        ("content", 422, "invalid", caller("POST", "/webhooks", {"url": 5})),
        ("slug", 422, "unknown_event_slug", caller("POST", "/webhooks", {"url": "https://example.com/", "slugs": ["x"]})),
    ]  # fmt: skip


def test_refusals_of_every_kind(world):
    for what, status, code, answer in _asks(world):
        assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json"), what
        problem = answer.json()
        assert faults({"$ref": "#/components/schemas/Problem"}, problem) == [], what
        assert (problem["code"], problem["status"]) == (code, status), what
        assert problem["type"].endswith("/" + code.replace("_", "-"))
        assert problem["request_id"] == answer["X-Request-Id"]
        assert len(problem["detail"]) > 20, what
        assert problem["detail"].rstrip().endswith((".", "}", "!")), (what, problem["detail"])
        if status == 401:
            assert answer["WWW-Authenticate"].startswith("Bearer ")
        if status == 405:
            assert "GET" in answer["Allow"]
        assert code in page.codes(), what


def test_data_is_never_a_page(world):
    """Nothing of an answer can be run or framed, refused or not; the page of the API's description keeps a page's policy."""
    answers = [answer for *_, answer in _asks(world)] + [Caller(world.id).get("/webhooks")]
    for answer in answers:
        assert answer["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert answer["X-Content-Type-Options"] == "nosniff"
    assert "script-src 'self'" in Client().get("/api/docs")["Content-Security-Policy"]


def test_too_much_is_refused_before_it_is_read(world, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000
    refused = Caller(world.id)("POST", "/webhooks", b'{"url": "' + b"x" * 2_000 + b'"}')
    assert (refused.status_code, refused.json()["code"]) == (413, "content_too_large")


def test_an_unknown_host_learns_nothing(db):
    answer = Client().get("/api/v1/emails", headers={"host": "evil.example"})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")
    assert "ALLOWED_HOSTS" not in answer.content.decode()


def test_elsewhere_errors_are_pages(db):
    assert "html" in Client().get("/nowhere")["Content-Type"]


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "*/*", "", "nonsense", "application/json;q=0"])
def test_answers_have_one_form(world, accept):
    answer = Caller(world.id).get("/webhooks", Accept=accept)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")


def test_the_table_of_codes_is_whole_and_true():
    """The page in docs/ is made from the code; what the guide names is in it, and every status is described."""
    told = (DOCS / "problems.md").read_text()
    codes = page.codes()
    assert len(codes) >= 30
    for code in codes:
        assert f"`{code}`" in told, code
    guide = (DOCS / "api.md").read_text()
    for code in re.findall(r"`([a-z]+(?:_[a-z]+)+)` \(\d{3}\)", guide):
        assert code in codes, code
    statuses = {str(part.status) for part in codes.values()}
    described = {
        code for methods in description()["paths"].values() for part in methods.values() for code in part["responses"]
    }
    # No described operation has 405, and 503 is for doors that are not of this API.
    assert statuses - described <= {"405", "500", "503"}, statuses - described
