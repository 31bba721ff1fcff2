"""Trying again, waiting, versions and errors of the Python client, against a real server that follows a script."""

import json
import socket
import time
from datetime import UTC, timedelta
from email.utils import format_datetime
from typing import Any

import autonomous_inbox
import pytest
from autonomous_inbox.wire import Retries
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from kernel import clock

QUICK = Retries(times=3, first=0.01, longest=0.02, patience=5.0)
HOOK = {"id": "7", "label": "a"}


class Script:
    """Answers in turn; `cut` closes the connection. What came is kept."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.came = list(answers), []

    def __call__(self, request: Request) -> Response:
        self.came.append((request.method, request.path, dict(request.headers), request.get_data()))
        answer = self.answers.pop(0)
        if callable(answer):
            return answer(request)
        status, body, *headers = answer
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return Response(content, status=status, headers=headers[0] if headers else {}, content_type="application/json")


def cut(request: Request) -> Response:
    """The connection ends before an answer."""
    request.environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
    raise ConnectionAbortedError


@pytest.fixture
def scripted(httpserver: HTTPServer, driver):
    def prepare(*answers, retries=QUICK):
        script = Script(*answers)
        httpserver.clear_all_handlers()
        httpserver.expect_request("/api/v1/webhooks").respond_with_handler(script)
        httpserver.expect_request("/api/v1/webhooks/7").respond_with_handler(script)
        return driver.client(httpserver.url_for("").rstrip("/"), "mk_key", retries=retries), script

    return prepare


def problem(status: int, code: str, **extra: Any) -> tuple:
    return status, {"code": code, "detail": "Do this.", "request_id": "r-1"} | extra


def test_a_post_is_tried_again_under_the_key_of_its_first_try(scripted, driver):
    client, script = scripted(
        cut, problem(503, "busy"), problem(409, "idempotency_key_in_use"), (201, HOOK), (201, HOOK)
    )
    assert driver.do(client.webhooks.create(url="https://a.example/", slugs=["*"])) == HOOK
    assert len({headers["Idempotency-Key"] for *_, headers, _ in script.came}) == 1
    assert len({body for *_, body in script.came}) == 1
    assert script.came[0][2]["Authorization"] == "Bearer mk_key"
    driver.do(client.webhooks.create(url="https://a.example/", slugs=["*"]))
    assert script.came[-1][2]["Idempotency-Key"] != script.came[0][2]["Idempotency-Key"]


@pytest.mark.parametrize(
    ("first", "tries"),
    [(cut, 1), (problem(503, "busy"), 1), (problem(500, "fault"), 1), (problem(429, "rate_limited"), 2)],
)
def test_a_change_without_a_version_is_not_sent_twice_unless_it_was_never_begun(scripted, driver, first, tries):
    client, script = scripted(first, (200, HOOK))
    if tries == 1:
        with pytest.raises((autonomous_inbox.Fault, autonomous_inbox.ConnectionFailed)):
            driver.do(client.webhooks.update("7", label="b"))
    else:
        assert driver.do(client.webhooks.update("7", label="b")) == HOOK
    assert len(script.came) == tries


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 422, 500])
def test_what_will_not_get_better_is_raised_at_once(scripted, driver, status):
    client, script = scripted(problem(status, "some_code", errors=[{"pointer": "/url", "detail": "No."}], hint=3))
    with pytest.raises(autonomous_inbox.ApiError) as caught:
        driver.do(client.webhooks.create(url="x", slugs=["*"]))
    error = caught.value
    assert (error.status, error.code, error.detail, error.pointer, error.request_id) == (
        status, "some_code", "Do this.", "/url", "r-1",
    )  # fmt: skip
    assert error.problem["hint"] == 3
    assert "/url: No." in str(error)
    assert len(script.came) == 1
    assert type(error) is not autonomous_inbox.ApiError


def test_it_gives_up_after_its_tries_with_the_last_refusal(scripted, driver):
    client, script = scripted(*[problem(503, "busy")] * 4)
    with pytest.raises(autonomous_inbox.Fault, match="busy"):
        driver.do(client.webhooks.get("7"))
    assert len(script.came) == 4
    client, script = scripted(*[cut] * 8)
    with pytest.raises(autonomous_inbox.ConnectionFailed):
        driver.do(client.webhooks.get("7"))


def test_retry_after_is_kept_to_in_both_forms_up_to_the_patience(scripted, driver):
    def soon() -> str:
        return format_datetime(clock.now().astimezone(UTC) + timedelta(seconds=2), usegmt=True)

    for value, least in ((lambda: "1", 0.9), (soon, 0.5)):
        client, script = scripted((429, {"code": "rate_limited"}, {"Retry-After": value()}), (200, HOOK))
        begin = time.monotonic()
        assert driver.do(client.webhooks.get("7")) == HOOK
        assert least <= time.monotonic() - begin < 10
    for value, asked in (("3600", 3600.0), ("nonsense", None)):
        answer = (429, {"code": "rate_limited"}, {"Retry-After": value})
        client, script = scripted(*[answer] * 4)
        with pytest.raises(autonomous_inbox.RateLimited) as caught:
            driver.do(client.webhooks.get("7"))
        assert caught.value.retry_after == asked
        assert len(script.came) == (1 if asked else 4)


def test_a_deletion_whose_answer_was_lost_is_done(scripted, driver):
    client, _ = scripted(cut, problem(404, "not_found"))
    assert driver.do(client.webhooks.delete("7")) is None
    client, _ = scripted(problem(404, "not_found"))
    with pytest.raises(autonomous_inbox.NotFound):
        driver.do(client.webhooks.delete("7"))


def test_an_edit_is_made_on_what_is_there(scripted, driver):
    client, script = scripted(
        (200, {"id": "7", "label": "a"}, {"ETag": '"1"'}),
        problem(412, "precondition_failed"),
        (200, {"id": "7", "label": "b"}, {"ETag": '"2"'}),
        cut,  # it names its version, so it may be sent again
        (200, {"id": "7", "label": "b!"}),
    )
    edited = driver.do(client.webhooks.edit("7", lambda hook: {"label": hook["label"] + "!"}))
    assert edited["label"] == "b!"
    changes = [(headers["If-Match"], body) for method, _, headers, body in script.came if method == "PATCH"]
    assert changes == [('"1"', b'{"label":"a!"}'), ('"2"', b'{"label":"b!"}'), ('"2"', b'{"label":"b!"}')]
    client, script = scripted((200, HOOK, {"ETag": '"1"'}), (200, HOOK))
    found = driver.do(client.webhooks.get_versioned("7"))
    driver.do(client.webhooks.update("7", label="x", if_match=found.etag))
    assert script.came[-1][2]["If-Match"] == '"1"'


def test_answers_that_are_no_answers_of_the_api(scripted, driver):
    for body in (b"<html>Bad gateway</html>", b"[]", b""):
        client, _ = scripted(*[(502, body)] * 4)
        with pytest.raises(autonomous_inbox.Fault, match="Is the URL right"):
            driver.do(client.webhooks.get("7"))
    # A redirect would carry the key to another address.
    client, script = scripted((302, b"", {"Location": "https://evil.example/"}))
    with pytest.raises(autonomous_inbox.ApiError, match="302"):
        driver.do(client.webhooks.get("7"))
    assert len(script.came) == 1
