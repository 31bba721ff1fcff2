"""Lists by cursor: complete, stable under inserts, and deaf to cursors that they did not give."""

import base64
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from uuid import uuid4

import orjson
import pytest

from kernel.api.paging import BadCursor, page
from kernel.errors import BadParameter
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tenancy.models import Team
from tests.factories.every import make, workspace

START = datetime(2026, 1, 1, tzinfo=UTC)


def ask(rows, *, by="created_at", sorts=(), path="/teams", **query):
    request = SimpleNamespace(path=path, query_params={name: str(value) for name, value in query.items()})
    return page(request, rows, lambda row: row.name, by=by, sorts=sorts)


@pytest.fixture
def house(db):
    """Ten teams; four of them made at the very same instant."""
    made = workspace()
    with in_workspace(made.id):
        for number in range(10):
            when = START + timedelta(seconds=min(number, 6))
            make(Team, made.id, name=f"r{number}", created_at=when)
        yield made


def names_in_order():
    return [role.name for role in Team.objects.order_by("-created_at", "-pk")]


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 7, 10, 100])
def test_pages_forward_and_back_give_every_row_once(house, limit):
    seen, cursors, cursor = [], [], {}
    while True:
        answer = ask(Team.objects.all(), limit=limit, **cursor)
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
        answer = ask(Team.objects.all(), limit=limit, cursor=answer["previous"])
    assert back == seen


def test_rows_that_arrive_meanwhile_do_not_shift_the_pages(house):
    first = ask(Team.objects.all(), limit=4)
    make(Team, house.id, name="newer", created_at=START + timedelta(days=1))
    second = ask(Team.objects.all(), limit=4, cursor=first["next"])
    assert not set(first["data"]) & set(second["data"])
    newer = ask(Team.objects.all(), limit=4, cursor=first["previous"] or second["previous"])
    assert newer["data"] == first["data"]
    assert ask(Team.objects.all(), limit=4, cursor=newer["previous"])["data"] == ["newer"]


def test_an_empty_list_has_no_cursors(db):
    with in_workspace(uuid4()):
        assert ask(Team.objects.all()) == {"data": [], "next": None, "previous": None}


def test_whole_numbers_are_keys_too(house):
    for number in range(5):
        make(OutboxEvent, house.id, slug=f"s.{number}")
    rows = OutboxEvent.objects.filter(workspace_id=house.id)
    request = SimpleNamespace(path="/events", query_params={"limit": "2"})
    first = page(request, rows, lambda row: row.slug, by="id")
    request.query_params["cursor"] = first["next"]
    assert [*first["data"], *page(request, rows, lambda row: row.slug, by="id")["data"]] == ["s.4", "s.3", "s.2", "s.1"]


@pytest.mark.parametrize(
    "limit", ["0", "101", "-1", "1.5", "", "ten", "１０", "1e2", "99999999999999999999", "0x10", " 5"]
)
def test_limits_out_of_bounds_are_refused(house, limit):
    with pytest.raises(BadCursor):
        ask(Team.objects.all(), limit=limit)


ID = "0f8fad5b-d9cb-469f-a165-70867728950e"


def unsigned(*content) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(content)).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "cursor",
    ["x", "????", "é", "a" * 5000, "\x00", "AAAA", "bnVsbA", unsigned(), unsigned(0, "2026-01-01T00:00:00Z", ID),
     base64.b64encode(b"[" * 3000).decode(), "A" * 16, "=" * 40, "-_-_" * 8],
)  # fmt: skip
def test_what_is_no_cursor_is_refused(house, cursor):
    with pytest.raises(BadCursor) as refusal:
        ask(Team.objects.all(), cursor=cursor)
    assert refusal.value.status == 400


def test_a_cursor_is_good_for_its_own_list_only(house):
    """Not for another path, order, filter or workspace, and not with any letter of it changed."""
    rows = Team.objects.all()
    cursor = ask(rows, limit=2, sorts=("name", "created_at"))["next"]
    assert ask(rows, limit=5, cursor=cursor)["data"] == names_in_order()[2:7]
    elsewhere = [
        {"path": "/others"}, {"sort": "name", "sorts": ("name",)}, {"sort": "created_at", "sorts": ("created_at",)},
        {"name": "r1"}, {"by": "updated_at"},
    ]  # fmt: skip
    for change in elsewhere:
        with pytest.raises(BadCursor):
            ask(rows, cursor=cursor, **change)
    with in_workspace(workspace().id), pytest.raises(BadCursor):
        ask(Team.objects.all(), cursor=cursor)
    for at, letter in enumerate(cursor[:-1]):
        forged = cursor[:at] + ("A" if letter != "A" else "B") + cursor[at + 1 :]
        with pytest.raises(BadCursor):
            ask(rows, cursor=forged)


def test_a_cursor_of_another_secret_is_refused(house, settings):
    cursor = ask(Team.objects.all(), limit=2)["next"]
    settings.SECRET_KEY = "another one"
    with pytest.raises(BadCursor):
        ask(Team.objects.all(), cursor=cursor)


@pytest.mark.parametrize(("sort", "falling"), [("name", False), ("-name", True), ("created_at", False)])
@pytest.mark.parametrize("limit", [1, 3, 10])
def test_other_orders_page_forward_and_back_too(house, sort, falling, limit):
    options = {"sort": sort, "sorts": ("name", "created_at"), "limit": limit}
    pages, cursor = [], {}
    while True:
        answer = ask(Team.objects.all(), **options, **cursor)
        pages.append(answer["data"])
        if not answer["next"]:
            break
        cursor = {"cursor": answer["next"]}
    seen = [name for names in pages for name in names]
    column = sort.removeprefix("-")
    sign = "-" if falling else ""
    assert seen == [role.name for role in Team.objects.order_by(f"{sign}{column}", f"{sign}pk")]
    back = answer["data"]
    while answer["previous"]:
        answer = ask(Team.objects.all(), **options, cursor=answer["previous"])
        back = answer["data"] + back
    assert back == seen


@pytest.mark.parametrize("sort", ["", "size", "--name", "name,created_at", "-", "pk", "workspace__name", "name__lower"])
def test_what_may_not_be_sorted_by_is_refused(house, sort):
    with pytest.raises(BadParameter) as refusal:
        ask(Team.objects.all(), sort=sort, sorts=("name",))
    assert refusal.value.extra["allowed"] == ["name", "-name"]
