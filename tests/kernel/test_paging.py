"""Lists by cursor: complete, stable under inserts, and deaf to cursors that they did not give."""

import base64
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from uuid import uuid4

import orjson
import pytest

from kernel.api.paging import BadCursor, page
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tenancy.models import Role
from tests.factories.every import make, workspace

START = datetime(2026, 1, 1, tzinfo=UTC)


def ask(rows, *, by="created_at", **query):
    request = SimpleNamespace(query_params={name: str(value) for name, value in query.items()})
    return page(request, rows, lambda row: row.name, by=by)


@pytest.fixture
def house(db):
    """Ten roles; four of them made at the very same instant."""
    made = workspace()
    with in_workspace(made.id):
        Role.objects.all().delete()
        for number in range(10):
            when = START + timedelta(seconds=min(number, 6))
            make(Role, made.id, name=f"r{number}", created_at=when)
        yield made


def names_in_order():
    return [role.name for role in Role.objects.order_by("-created_at", "-pk")]


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 7, 10, 100])
def test_pages_forward_and_back_give_every_row_once(house, limit):
    seen, cursors, cursor = [], [], {}
    while True:
        answer = ask(Role.objects.all(), limit=limit, **cursor)
        seen += answer["data"]
        cursors.append(answer)
        if not answer["next"]:
            break
        cursor = {"cursor": answer["next"]}
    assert seen == names_in_order()
    assert cursors[0]["previous"] is None

    back = []
    while True:
        back = answer["data"] + back
        if not answer["previous"]:
            break
        answer = ask(Role.objects.all(), limit=limit, cursor=answer["previous"])
    assert back == seen


def test_rows_that_arrive_meanwhile_do_not_shift_the_pages(house):
    first = ask(Role.objects.all(), limit=4)
    make(Role, house.id, name="newer", created_at=START + timedelta(days=1))
    second = ask(Role.objects.all(), limit=4, cursor=first["next"])
    assert not set(first["data"]) & set(second["data"])
    newer = ask(Role.objects.all(), limit=4, cursor=first["previous"] or second["previous"])
    assert newer["data"] == first["data"]
    assert ask(Role.objects.all(), limit=4, cursor=newer["previous"])["data"] == ["newer"]


def test_an_empty_list_has_no_cursors(db):
    with in_workspace(uuid4()):
        assert ask(Role.objects.all()) == {"data": [], "next": None, "previous": None}


def test_whole_numbers_are_keys_too(house):
    for number in range(5):
        make(OutboxEvent, house.id, slug=f"s.{number}")
    rows = OutboxEvent.objects.filter(workspace_id=house.id)
    request = SimpleNamespace(query_params={"limit": "2"})
    first = page(request, rows, lambda row: row.slug, by="id")
    request.query_params["cursor"] = first["next"]
    assert [*first["data"], *page(request, rows, lambda row: row.slug, by="id")["data"]] == ["s.4", "s.3", "s.2", "s.1"]


@pytest.mark.parametrize(
    "limit", ["0", "101", "-1", "1.5", "", "ten", "１０", "1e2", "99999999999999999999", "0x10", " 5"]
)
def test_limits_out_of_bounds_are_refused(house, limit):
    with pytest.raises(BadCursor):
        ask(Role.objects.all(), limit=limit)


def _cursor(*content) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(content)).rstrip(b"=").decode()


ID = "0f8fad5b-d9cb-469f-a165-70867728950e"


@pytest.mark.parametrize(
    "cursor",
    [
        "x", "????", "é", "a" * 5000, "\x00", "AAAA", "bnVsbA", _cursor(), _cursor(0), _cursor(0, "2026-01-01T00:00:00Z"),
        _cursor(0, "2026-01-01T00:00:00Z", "no uuid"), _cursor(0, 5, ID),
        _cursor(0, "2026-01-01", ID), _cursor(0, "2026-01-01T00:00:00", ID), _cursor(0, "yesterday", ID),
        _cursor(0, None, ID), _cursor(0, ["2026-01-01T00:00:00Z"], ID), _cursor(0, {"a": 1}, ID), _cursor(0, "", ID),
        _cursor(0, "2026-13-01T00:00:00Z", ID), _cursor(0, "2026-01-01T00:00:00Z", None), _cursor(0, True, ID),
        _cursor(0, "2026-01-01T00:00:00Z", [ID]), _cursor(0, "2026-01-01T00:00:00Z", ID, 1), _cursor(0, 1e300, ID),
        base64.b64encode(b"[" * 3000).decode(),
    ],
)  # fmt: skip
def test_cursors_from_elsewhere_are_refused(house, cursor):
    with pytest.raises(BadCursor) as refusal:
        ask(Role.objects.all(), cursor=cursor)
    assert refusal.value.status == 400


@pytest.mark.parametrize("pk", [2**63, -(2**63) - 1, 10**30, "a", "", 1.5])
def test_numbers_that_no_key_can_be_are_refused(db, pk):
    with in_workspace(uuid4()), pytest.raises(BadCursor):
        ask(
            OutboxEvent.objects.all(),
            by="id",
            cursor=base64.urlsafe_b64encode(str([0, 1, pk]).replace("'", '"').encode()).decode(),
        )
