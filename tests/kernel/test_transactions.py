"""Units of work: what a connection may see is set for one transaction, restored after nested scopes, and never leaks."""

from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from kernel import context
from kernel.context import Scope
from kernel.transactions import (
    Call,
    NoTransaction,
    after_commit,
    current_unit,
    in_all_workspaces,
    in_workspace,
    joining,
    unit_of_work,
)

A, B = uuid4(), uuid4()


def seen() -> str:
    """What the database's policies go by."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(current_setting('app.workspace_id', true), ''),"
            " coalesce(current_setting('app.all_workspaces', true), '')"
        )
        workspace, everything = cursor.fetchone()
    return "all" if everything == "on" else {str(A): "A", str(B): "B"}.get(workspace, workspace)


class Wrong(Exception):
    pass


def test_scopes_nest_and_are_restored(db):
    with in_workspace(A):
        assert seen() == "A"
        with in_workspace(B):
            assert seen() == "B"
            with in_all_workspaces("a test"):
                assert seen() == "all"
                with in_workspace(A):
                    assert seen() == "A"
                assert seen() == "all"
            assert seen() == "B"
        assert seen() == "A"
        with unit_of_work():
            assert seen() == "A"
        assert seen() == "A"
    assert seen() == ""
    assert context.scope.get() is None


def test_a_scope_of_all_does_not_keep_the_workspace_of_before(db):
    with in_workspace(A), in_all_workspaces("a test"), connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('app.workspace_id', true)")
        assert cursor.fetchone() == ("",)


def test_joining_asks_for_no_savepoint_where_the_workspace_is_in_sight_and_for_its_scope_elsewhere(db):
    with joining(A):
        assert seen() == "A"
        with CaptureQueriesContext(connection) as asked, joining(A) as unit:
            assert unit is current_unit()
        assert len(asked) == 0
        with joining(B):
            assert seen() == "B"
        assert seen() == "A"
        with in_all_workspaces("a test"), joining(A):
            assert seen() == "A"
    assert seen() == ""


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_rolled_back_scope_is_restored_at_every_depth(db, depth):
    def dive(level: int) -> None:
        with in_workspace(B if level % 2 else A):
            if level == depth:
                raise Wrong
            dive(level + 1)

    with in_workspace(A):
        with pytest.raises(Wrong):
            dive(1)
        assert seen() == "A"
        assert context.scope.get() == Scope(A)
        with in_workspace(B):
            assert seen() == "B"
        assert seen() == "A"


def test_a_database_error_in_a_nested_scope_leaves_the_outer_one_usable(db):
    with in_workspace(A):
        with pytest.raises(DatabaseError), in_workspace(B), connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")
        assert seen() == "A"


@pytest.mark.parametrize("ends_well", [True, False])
def test_nothing_leaks_to_the_next_transaction_of_the_same_connection(db, ends_well):
    connection.ensure_connection()
    wire = connection.connection
    try:
        with in_workspace(A):
            assert seen() == "A"
            if not ends_well:
                raise Wrong
    except Wrong:
        pass
    assert seen() == ""
    with transaction.atomic():
        assert seen() == ""
    with unit_of_work():
        assert seen() == ""
    with in_workspace(B):
        assert seen() == "B"
    assert connection.connection is wire


def test_a_unit_inside_a_plain_transaction_leaves_no_scope_behind(db):
    """The console wraps its views in `atomic`: a service's scope must end with the service all the same."""
    with transaction.atomic():
        with in_workspace(A):
            assert seen() == "A"
        assert seen() == ""
        with unit_of_work():
            assert seen() == ""
        with pytest.raises(Wrong), in_workspace(B):
            raise Wrong
        assert seen() == ""


def test_a_unit_needs_its_transaction(db):
    with pytest.raises(NoTransaction):
        current_unit()
    with unit_of_work() as unit:
        assert current_unit() is unit
        with in_workspace(A) as inner:
            assert inner is unit
    with pytest.raises(NoTransaction):
        current_unit()


# --- what is gathered until the commit ----------------------------------------------------------------------------


def _gather(log: list, item: str, *, bucket: str = "x", rank: int = 1, scopes: tuple[Scope, ...] = ()) -> None:
    def flush(items: list) -> list[Call]:
        log.append((bucket, items))
        return [Call("nullif(%s, 'no')", [f"{bucket} of {scope.workspace_id}"], scope) for scope in scopes]

    current_unit().add(bucket, item, rank=rank, flush=flush)


def test_buckets_are_flushed_once_before_the_commit_by_rank(db):
    log: list = []
    with unit_of_work():
        _gather(log, "late", bucket="b", rank=9)
        _gather(log, "one")
        with in_workspace(A):
            _gather(log, "two")
        assert log == []
    assert log == [("x", ["one", "two"]), ("b", ["late"])]


def test_what_is_gathered_goes_in_one_statement_where_one_scope_is_enough(db):
    with CaptureQueriesContext(connection) as asked, in_workspace(A):
        _gather([], "2", bucket="b", rank=2, scopes=(Scope(A), Scope(B)))
        _gather([], "1", bucket="a", rank=1, scopes=(Scope(A),))
    told = [query["sql"] for query in asked if "nullif" in query["sql"]]
    assert told == [f"SELECT nullif('a of {A}', 'no'), nullif('b of {A}', 'no')", f"SELECT nullif('b of {B}', 'no')"]
    with CaptureQueriesContext(connection) as asked, in_all_workspaces("a test"):
        _gather([], "1", scopes=(Scope(A), Scope(B), Scope(None, "another test")))
    assert len([query for query in asked if "nullif" in query["sql"]]) == 1


def test_a_first_question_is_asked_within_the_scope(db):
    """Also inside work of another workspace, which has its own again afterwards."""
    told = "(SELECT current_setting('app.workspace_id'), scope.workspace, %s)"
    with in_workspace(B):
        with CaptureQueriesContext(connection) as asked, unit_of_work(Scope(A), applied=False) as unit:
            assert seen() == "B"
            assert unit.ask_first(Scope(A), told, ["x"]) == (str(A), str(A), "x")
            assert seen() == "A"
        assert seen() == "B"
    # Savepoint, the question, and the scope of before; beside what this test asked.
    assert len(asked) == 6


def test_a_rolled_back_savepoint_takes_back_what_it_gathered_and_nothing_else(db):
    log: list = []
    with unit_of_work():
        _gather(log, "before")
        with pytest.raises(Wrong), unit_of_work():
            _gather(log, "lost")
            with unit_of_work():
                _gather(log, "lost too")
            _gather(log, "lost as well", bucket="new")
            raise Wrong
        with unit_of_work():
            _gather(log, "kept")
    assert log == [("x", ["before", "kept"])]


def test_a_flush_that_fails_takes_the_whole_unit_back(db):
    def refuse(_items: list) -> list[Call]:
        raise Wrong

    with pytest.raises(Wrong), in_workspace(A):
        current_unit().add("x", 1, rank=1, flush=refuse)
    assert seen() == ""
    log: list = []
    with unit_of_work():
        _gather(log, "fresh")
    assert log == [("x", ["fresh"])]


def test_actions_after_the_commit_run_only_then_and_hurt_nobody(db, caplog):
    ran = []

    def broken() -> None:
        raise Wrong

    with unit_of_work():
        after_commit(broken)
        after_commit(lambda: ran.append(seen()))
        assert ran == []
    assert ran == [""]
    with pytest.raises(Wrong), unit_of_work():
        after_commit(lambda: ran.append("never"))
        raise Wrong
    assert ran == [""]
