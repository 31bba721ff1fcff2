"""Lists of what grows without end are read in the order of an index: no page sorts what is before or behind it."""

from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlencode
from uuid import uuid4

import orjson
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inbox.models import Thread
from kernel import clock
from kernel.api import paging
from kernel.transactions import in_workspace
from tests.api.conftest import Caller, World

# Every list whose rows come with mail and with use, not by the hand of a person who sets something up.
GROWING = {
    "/emails": ["created_at"],
    "/threads": ["last_entry_seq", "created_at"],
    "/threads?status=open": ["last_entry_seq"],
    "/threads/{thread}/entries": ["seq"],
    "/thread-changes": ["created_at"],
    "/attachments": ["created_at"],
    "/agent-runs": ["created_at"],
    "/approvals": ["created_at", "expires_at"],
    "/circuit-breakers": ["created_at"],
    "/webhook-deliveries": ["created_at"],
    "/system-events": ["created_at"],
    "/audit-events": ["sequence"],
    "/request-log": ["created_at"],
}


def plan_of(world: World, path: str) -> dict[str, Any]:
    """How PostgreSQL would read the page when the table is large: sorting and walking all of it are what it avoids."""
    caller = Caller(world.id)
    with CaptureQueriesContext(connection) as seen:
        answer = caller.get(path)
    assert answer.status_code == 200, answer.content
    (statement,) = [
        query["sql"] for query in seen if " ORDER BY " in query["sql"] and query["sql"].endswith("LIMIT 26")
    ]
    with in_workspace(world.id), connection.cursor() as cursor:
        for name in ("seqscan", "sort", "bitmapscan"):
            cursor.execute(f"SET LOCAL enable_{name} = off")
        cursor.execute("EXPLAIN (FORMAT JSON) " + statement)
        found = cursor.fetchone()[0]
    return (orjson.loads(found) if isinstance(found, str) else found)[0]["Plan"]


def nodes(plan: dict[str, Any]) -> set[str]:
    return {plan["Node Type"]} | {name for below in plan.get("Plans", ()) for name in nodes(below)}


@pytest.mark.parametrize(
    ("path", "column"), [(path, column) for path, columns in GROWING.items() for column in columns]
)
def test_a_growing_list_is_read_in_its_order(world: World, path: str, column: str):
    with in_workspace(world.id):
        path = path.format(thread=Thread.objects.first().id)
    used = nodes(plan_of(world, f"{path}{'&' if '?' in path else '?'}sort=-{column}"))
    # An incremental sort only puts in order what has the same place; places are unique, or nearly.
    assert not used & {"Sort", "Seq Scan"}, used


def conditions(plan: dict[str, Any]) -> str:
    """Where the plan enters its indexes."""
    return " ".join([plan.get("Index Cond", ""), *map(conditions, plan.get("Plans", ()))])


@pytest.mark.parametrize(
    ("path", "column"), [(path, column) for path, columns in GROWING.items() for column in columns]
)
@pytest.mark.parametrize("falling", [True, False])
def test_a_page_far_down_is_entered_where_it_begins(world: World, path: str, column: str, falling: bool):
    """What is before it is not even passed over: the cursor's place is a condition of the index."""
    with in_workspace(world.id):
        path = path.format(thread=Thread.objects.first().id)
    path, _, query = path.partition("?")
    asked = dict(parse_qsl(query)) | {"sort": f"{'-' if falling else ''}{column}"}
    place = SimpleNamespace(path=f"/api/v1{path}", query_params=asked)
    row = SimpleNamespace(**{column: clock.now() if column.endswith("_at") else 7, "pk": uuid4()})
    with in_workspace(world.id):
        cursor = paging.write(row, paging.place_of(place, column, falling=falling), column, backwards=False)
    plan = plan_of(world, f"{path}?{urlencode(asked | {'cursor': cursor})}")
    assert column in conditions(plan), plan
