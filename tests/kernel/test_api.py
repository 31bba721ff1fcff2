"""The base of every endpoint: request ids, permissions, problems, idempotent POSTs, and bodies that cannot be stored."""

import re
from uuid import uuid4

import orjson
import pytest
from django.core.exceptions import ValidationError as DjangoValidationError
from django.http import Http404, HttpResponse
from django.test import RequestFactory
from rest_framework import exceptions, serializers
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory, force_authenticate

from kernel import context
from kernel.access import Principal
from kernel.api.problems import handle
from kernel.api.views import WorkspaceViewSet
from kernel.context import Actor
from kernel.errors import Busy, Conflict, Forbidden, Invalid, NotFound
from kernel.middleware import request_context

HOUSE = uuid4()


class Shape(serializers.Serializer):
    name = serializers.CharField(max_length=5)
    sizes = serializers.ListField(child=serializers.IntegerField(), required=False)


class Things(WorkspaceViewSet):
    permissions = {"list": "thing.read", "create": "thing.manage"}
    calls = 0

    def list(self, request):
        return Response({"workspace": context.scope.get().workspace_id, "actor": context.actor.get().id})

    def create(self, request):
        type(self).calls += 1
        return Response({"call": self.calls, "got": self.checked(Shape)}, status=201)

    def destroy(self, request):
        raise AssertionError("nobody may come here")


def ask(method="get", *, permissions=("*",), principal=True, body=None, **headers):
    view = Things.as_view({"get": "list", "post": "create", "delete": "destroy"})
    content = body if isinstance(body, bytes | None) else orjson.dumps(body)
    request = APIRequestFactory().generic(
        method.upper(), "/things", content or b"", content_type="application/json", headers=headers
    )
    if principal:
        who = Principal(workspace_id=HOUSE, actor=Actor("machine_key", "7"), permissions=frozenset(permissions))
        force_authenticate(request, user=who)
    response = view(request)
    response.render()
    return response


def test_a_handler_runs_in_the_callers_workspace_as_the_caller(db):
    assert orjson.loads(ask().content) == {"workspace": str(HOUSE), "actor": "7"}
    assert context.scope.get() is None


@pytest.mark.parametrize(
    ("held", "status"),
    [(["thing.read"], 200), (["thing.*"], 200), (["*"], 200), ([], 403), (["thing.manage"], 403), (["thing"], 403),
     (["things.*"], 403), (["other.*"], 403), (["thing.read.more"], 403), (["*.read"], 403), (["THING.READ"], 403)],
)  # fmt: skip
def test_permissions_are_exact_names_or_families(db, held, status):
    response = ask(permissions=held)
    assert response.status_code == status
    if status == 403:
        assert orjson.loads(response.content)["permission"] == "thing.read"


def test_without_a_principal_the_answer_is_a_challenge(db):
    response = ask(principal=False)
    assert (response.status_code, response.data["code"]) == (401, "not_authenticated")
    assert response["WWW-Authenticate"].startswith("Bearer ")


@pytest.mark.parametrize("method", ["put", "patch", "options", "trace"])
def test_other_methods_are_refused_without_a_fault(db, method):
    assert ask(method).status_code == 405


def test_an_action_without_a_named_permission_is_refused_even_to_those_who_may_do_everything(db):
    response = ask("delete")
    assert (response.status_code, response.data["code"]) == (403, "forbidden")


def test_a_post_with_a_key_runs_once(db):
    Things.calls = 0
    first = ask("post", body={"name": "a"}, **{"Idempotency-Key": "k"})
    again = ask("post", body={"name": "a"}, **{"Idempotency-Key": "k"})
    assert (first.status_code, again.status_code, again.content) == (201, 201, first.content)
    assert again["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first
    assert Things.calls == 1
    other = ask("post", body={"name": "b"}, **{"Idempotency-Key": "k"})
    assert (other.status_code, other.data["code"]) == (422, "idempotency_key_reused")
    assert ask("post", body={"name": "a"}, **{"Idempotency-Key": ""}).status_code == 400
    assert ask("post", body={"name": "a"}).data["call"] == 2


def test_a_refused_post_does_not_use_its_key_up(db):
    assert ask("post", body={"name": "too long"}, **{"Idempotency-Key": "k"}).status_code == 422
    assert ask("post", body={"name": "ok"}, **{"Idempotency-Key": "k"}).status_code == 201


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"nope",
        b'{"name": "a"',
        b"\xff\xfe",
        b'{"name": "\xed\xa0\x80"}',
        b'{"name": "a\x00b"}',
        b"{'a': 1}",
    ],
)
def test_bodies_that_are_not_json_are_malformed(db, body):
    response = ask("post", body=body)
    assert (response.status_code, response["Content-Type"]) == (400, "application/problem+json")


@pytest.mark.parametrize(
    "body", [b'{"name": "\\ud800"}', b'{"\\udc00": 1}', b'{"name": "a\\u0000b"}', b'["\\\\\\u0000"]']
)
def test_json_that_no_text_can_hold_is_invalid(db, body):
    response = ask("post", body=body)
    assert (response.status_code, response.data["code"]) == (422, "unstorable_text")


def test_an_escaped_backslash_before_u0000_is_text(db):
    assert ask("post", body=b'{"name": "\\\\u00"}').status_code == 201
    assert ask("post", body=b'{"name": "a", "more": "\\\\u0000"}').status_code == 201


@pytest.mark.parametrize(
    "body", [[], "text", 5, None, {}, {"name": None}, {"name": ["a"]}, {"name": "a", "sizes": ["x"]}]
)
def test_valid_json_with_invalid_content_points_at_the_fault(db, body):
    response = ask("post", body=b"null" if body is None else body)
    assert response.status_code == 422
    assert all(error["pointer"].startswith("/") and error["detail"] for error in response.data["errors"])


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (NotFound(), 404, "not_found"),
        (Http404("secret table"), 404, "not_found"),
        (exceptions.NotFound(), 404, "not_found"),
        (Forbidden("no"), 403, "forbidden"),
        (exceptions.PermissionDenied(), 403, "permission_denied"),
        (exceptions.AuthenticationFailed("no"), 401, "authentication_failed"),
        (Conflict("twice"), 409, "conflict"),
        (Invalid("bad", pointer="/name"), 422, "invalid"),
        (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (exceptions.UnsupportedMediaType("text/csv"), 415, "unsupported_media_type"),
    ],
)
def test_every_error_is_a_problem_document(error, status, code):
    with context.acting_as(context.SYSTEM, request="request-0001"):
        response = handle(error, {})
    assert (response.status_code, response.content_type) == (status, "application/problem+json")
    assert set(response.data) >= {"type", "title", "status", "code", "detail", "request_id"}
    assert (response.data["status"], response.data["code"], response.data["request_id"]) == (
        status,
        code,
        "request-0001",
    )
    assert re.fullmatch(r"https://[a-z.-]+/problems/[a-z0-9-]+", response.data["type"])
    assert "secret" not in str(response.data)


def test_the_same_404_for_absent_and_for_elsewhere():
    assert handle(NotFound(), {}).data == handle(Http404(), {}).data | {"title": handle(NotFound(), {}).data["title"]}


def test_limits_say_when_to_come_back():
    assert handle(Busy("slow down", retry_after=7), {}).headers["Retry-After"] == "7"
    assert handle(exceptions.Throttled(wait=9), {}).headers["Retry-After"] == "9"


@pytest.mark.parametrize("error", [ValueError("boom"), DjangoValidationError("boom"), KeyError("x")])
def test_a_fault_of_ours_is_not_dressed_up(error):
    assert handle(error, {}) is None


# --- request ids ---------------------------------------------------------------------------------------------------


def _through(offered=None):
    seen = []

    def view(_request):
        seen.append((context.request_id.get(), context.actor.get().kind))
        return HttpResponse()

    headers = {} if offered is None else {"X-Request-Id": offered}
    response = request_context(view)(RequestFactory().get("/", headers=headers))
    return seen[0], response["X-Request-Id"]


@pytest.mark.parametrize("offered", ["abcd1234", "a.b-c_d.", "x" * 64, "0f8fad5b-d9cb-469f-a165-70867728950e"])
def test_a_well_formed_request_id_is_kept_and_echoed(offered):
    assert _through(offered) == ((offered, "system"), offered)
    assert context.request_id.get() == ""


@pytest.mark.parametrize(
    "offered", [None, "", "short", "x" * 65, "has space", "new\nline", "ünïcode1", "semi;colon", "a" * 7]
)
def test_other_request_ids_are_replaced(offered):
    (inside, _), echoed = _through(offered)
    assert inside == echoed != offered
    assert re.fullmatch(r"[0-9a-f]{32}", echoed)


def test_a_request_cleans_up_after_a_crash():
    def view(_request):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        request_context(view)(RequestFactory().get("/"))
    assert (context.request_id.get(), context.actor.get()) == ("", context.SYSTEM)
