"""The chain: gapless under contention (J2), and every tampering is found where it begins (J3)."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import connections

from audit import queries, services
from audit.models import AuditChain, AuditEvent
from audit.types import Outcome
from kernel import clock, context
from kernel.context import Actor
from kernel.transactions import NoTransaction, in_all_workspaces, in_workspace, unit_of_work
from tests.factories.every import workspace


def act(house, *, count: int = 1, action: str = "test.act", **details) -> None:
    """One unit of work with `count` audited actions."""
    with in_workspace(house):
        for number in range(count):
            services.record(
                workspace_id=house,
                action=action,
                resource_kind="thing",
                resource_id=number,
                payload={"n": number},
                **details,
            )


def events(house) -> list[AuditEvent]:
    with in_workspace(house):
        return list(AuditEvent.objects.filter(workspace_id=house).order_by("sequence"))


def test_recording_needs_its_transaction(db):
    with pytest.raises(NoTransaction):
        services.record(workspace_id=uuid4(), action="a", resource_kind="r", resource_id=1)


def test_an_event_says_who_did_what_for_which_request(db):
    house, run = uuid4(), uuid4()
    token = context.execution_id.set(run)
    try:
        with context.acting_as(Actor("machine_key", "7", "x" * 300), request="request-0001"):
            act(house, outcome=Outcome.DENIED)
    finally:
        context.execution_id.reset(token)
    (event,) = events(house)
    assert (event.action, event.outcome, event.resource_kind, event.resource_id) == ("test.act", "denied", "thing", "0")
    assert (event.actor_kind, event.actor_id, event.request_id, event.execution_id) == (
        "machine_key",
        "7",
        "request-0001",
        run,
    )
    assert event.actor_label == "x" * 200  # a long name must not cost the action its record
    assert abs(event.occurred_at - clock.now()) < timedelta(minutes=1)
    assert queries.verify(house).holds


def test_a_rolled_back_action_leaves_no_event_and_no_gap(db):
    house = uuid4()
    act(house)
    with pytest.raises(ZeroDivisionError), in_workspace(house):
        services.record(workspace_id=house, action="lost", resource_kind="r", resource_id=1)
        raise ZeroDivisionError
    with in_workspace(house):
        services.record(workspace_id=house, action="kept", resource_kind="r", resource_id=1)
        with pytest.raises(ZeroDivisionError), unit_of_work():
            services.record(workspace_id=house, action="lost", resource_kind="r", resource_id=1)
            raise ZeroDivisionError
    assert [(event.sequence, event.action) for event in events(house)] == [(1, "test.act"), (2, "kept")]
    assert queries.verify(house).holds


def test_thirty_two_threads_form_one_line_without_a_gap(db, cases):
    """J2: 32 × 100 units, some of them on two chains in either order, without a deadlock."""
    house, other = uuid4(), uuid4()
    failures = []

    def one(seed: int) -> None:
        try:
            for number in range(100):
                if (seed + number) % 10:
                    act(house)
                else:
                    first, second = (house, other) if seed % 2 else (other, house)
                    with unit_of_work():
                        services.record(workspace_id=first, action="both", resource_kind="r", resource_id=1)
                        services.record(workspace_id=second, action="both", resource_kind="r", resource_id=1)
        except Exception as error:
            failures.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=one, args=[seed]) for seed in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [event.sequence for event in events(house)] == list(range(1, 3201))
    assert len({bytes(event.previous_hash) for event in events(house)}) == 3200
    assert (queries.verify(house).holds, queries.verify(house).checked) == (True, 3200)
    assert queries.verify(other).holds
    cases("J2", 3200)


# --- tampering, by someone who owns the database --------------------------------------------------------------------

LENGTH, ANCHOR = 12, 8


@pytest.fixture
def anchored(db, tmp_path):
    """A chain of twelve, with an anchor at the eighth, and another workspace's chain beside it."""
    house, beside = workspace("Ours").id, workspace("Beside").id
    _fill(house, ANCHOR)
    services.anchor_all(directory=tmp_path)
    _fill(house, LENGTH)
    act(beside)
    assert queries.verify(house, outside=queries.outside_anchors(tmp_path)).holds
    return house


def _fill(house, length: int) -> None:
    while len(events(house)) < length:
        act(house)


def tamper(house, *statements: str) -> None:
    """As the owner, with every trigger out of the way."""
    owner = connections["owner"]
    with owner.cursor() as cursor:
        cursor.execute("SELECT set_config('app.all_workspaces', 'on', false)")
        for table in ("audit_auditevent", "audit_auditanchor"):
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        for statement in statements:
            cursor.execute(statement.format(w=f"workspace_id = '{house}'", e="audit_auditevent", house=house))
        for table in ("audit_auditevent", "audit_auditanchor"):
            cursor.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_no_change")
            cursor.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_no_truncate")
    owner.close()


REHASH = """
DO $$ DECLARE v_head bytea; v_row record; BEGIN
    SELECT previous_hash INTO v_head FROM audit_auditevent WHERE {w} AND sequence = %(k)s;
    FOR v_row IN SELECT * FROM audit_auditevent WHERE {w} AND sequence >= %(k)s ORDER BY sequence LOOP
        UPDATE audit_auditevent SET previous_hash = v_head, hash = sha256(v_head || convert_to(v_row.body, 'UTF8'))
        WHERE id = v_row.id RETURNING hash INTO v_head;
    END LOOP;
    UPDATE audit_auditchain SET head = v_head WHERE {w};
END $$"""


def _rehash(k: int) -> str:
    return REHASH.replace("%(k)s", str(k))


COLUMNS = {
    "action": "'other'", "outcome": "'denied'", "actor_kind": "'user'", "actor_id": "'9'", "actor_label": "'Eve'",
    "resource_kind": "'other'", "resource_id": "'999'", "request_id": "'request-9999'", "execution_id": "gen_random_uuid()",
    "occurred_at": "occurred_at + interval '1 second'", "payload_hash": "sha256('x')", "id": "gen_random_uuid()",
    "before_hash": "sha256('x')", "after_hash": "sha256('x')",
    "previous_hash": "sha256('x')", "hash": "sha256('x')", "body": "replace(body, '\"done\"', '\"dine\"')",
}  # fmt: skip


def test_a_changed_column_is_found_at_its_place(anchored, cases):
    """Seventeen columns at five places; each change is undone before the next."""
    originals = {event.sequence: event for event in events(anchored)}
    found = {}
    for column, value in COLUMNS.items():
        for k in (1, 2, 5, 8, 12):
            with kept_as_it_was(originals[k]):
                tamper(anchored, f"UPDATE {{e}} SET {column} = {value} WHERE {{w}} AND sequence = {k}")
                verdict = queries.verify(anchored)
                found[(column, k)] = verdict.first_bad if verdict.fault else None
    assert {place: bad for place, bad in found.items() if bad != place[1]} == {}
    assert len(found) == 85
    cases("J3", len(found))
    assert queries.verify(anchored).holds


@contextmanager
def kept_as_it_was(event: AuditEvent) -> Iterator[None]:
    yield
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT set_config('app.all_workspaces', 'on', false)")
        cursor.execute("ALTER TABLE audit_auditevent DISABLE TRIGGER ALL")
        AuditEvent.objects.using("owner").filter(workspace_id=event.workspace_id, sequence=event.sequence).delete()
        event.save(using="owner", force_insert=True)
        cursor.execute("ALTER TABLE audit_auditevent ENABLE ALWAYS TRIGGER audit_auditevent_no_change")
        cursor.execute("ALTER TABLE audit_auditevent ENABLE ALWAYS TRIGGER audit_auditevent_no_truncate")
    connections["owner"].close()


BODY = "replace(body, '\"done\"', '\"dine\"')"
ONE, NEXT = "{{w}} AND sequence = {k}", "{{w}} AND sequence = {n}"
UP_TO_HEAD = (
    "UPDATE audit_auditchain SET sequence = (SELECT coalesce(max(sequence), 0) FROM {{e}} WHERE {{w}}) WHERE {{w}}"
)
# Twelve ways to change a chain, and where each is found: at the link itself (0), or one behind.
TAMPERS: dict[str, tuple[int, list[str]]] = {
    "one byte of what was hashed": (0, [f"UPDATE {{{{e}}}} SET body = {BODY} WHERE {ONE}"]),
    "one byte of its hash": (
        0,
        [f"UPDATE {{{{e}}}} SET hash = set_byte(hash, 0, 255 - get_byte(hash, 0)) WHERE {ONE}"],
    ),
    "its outcome": (0, [f"UPDATE {{{{e}}}} SET outcome = 'dine' WHERE {ONE}"]),
    "body and outcome together": (0, [f"UPDATE {{{{e}}}} SET body = {BODY}, outcome = 'dine' WHERE {ONE}"]),
    "deleted": (0, [f"DELETE FROM {{{{e}}}} WHERE {ONE}"]),
    "deleted and closed up": (
        0,
        [
            f"DELETE FROM {{{{e}}}} WHERE {ONE}",
            "UPDATE {{e}} SET sequence = -sequence WHERE {{w}} AND sequence > {k}",
            "UPDATE {{e}} SET sequence = -sequence - 1 WHERE {{w}} AND sequence < 0",
            UP_TO_HEAD,
        ],
    ),
    "swapped with the next": (
        0,
        [
            f"UPDATE {{{{e}}}} SET sequence = -1 WHERE {ONE}",
            f"UPDATE {{{{e}}}} SET sequence = {{k}} WHERE {NEXT}",
            "UPDATE {{e}} SET sequence = {n} WHERE {{w}} AND sequence = -1",
        ],
    ),
    "moved to another workspace": (0, [f"UPDATE {{{{e}}}} SET workspace_id = gen_random_uuid() WHERE {ONE}"]),
    "its payload": (
        0,
        [
            f"UPDATE audit_auditpayload SET payload = '{{{{{{{{}}}}}}}}' WHERE event_id = (SELECT id FROM {{{{e}}}} WHERE {ONE})"
        ],
    ),
    "its payload taken away": (
        0,
        [f"DELETE FROM audit_auditpayload WHERE event_id = (SELECT id FROM {{{{e}}}} WHERE {ONE})"],
    ),
    "the tail cut off": (0, ["DELETE FROM {{e}} WHERE {{w}} AND sequence >= {k}"]),
    "the tail cut off, the head put back": (0, ["DELETE FROM {{e}} WHERE {{w}} AND sequence >= {k}", UP_TO_HEAD]),
}


def test_twelve_tampers_at_ten_places_are_found_where_they_begin(anchored, tmp_path, cases):
    """J3. The anchors lie outside of the database; each change is undone before the next."""
    act(anchored)
    services.anchor_all(directory=tmp_path)
    outside = queries.outside_anchors(tmp_path)
    assert (len(TAMPERS), queries.verify(anchored, outside=outside).checked) == (12, LENGTH + 1)
    found = {}
    for name, (shift, statements) in TAMPERS.items():
        for k in (1, 2, 3, 4, 5, 6, 8, 9, 11, 12):
            with the_whole_as_it_was(anchored):
                tamper(anchored, *(statement.format(k=k, n=k + 1) for statement in statements))
                verdict = queries.verify(anchored, outside=outside)
                found[(name, k)] = (verdict.first_bad, bool(verdict.fault)) == (k + shift, True)
    assert [place for place, good in found.items() if not good] == []
    assert queries.verify(anchored, outside=outside).holds
    cases("J3", len(found))


@contextmanager
def the_whole_as_it_was(house) -> Iterator[None]:
    """Every row of the trail, put back afterwards."""
    tables = ("audit_auditchain", "audit_auditevent", "audit_auditpayload")
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT set_config('app.all_workspaces', 'on', false)")
        for table in tables:
            cursor.execute(f"CREATE TABLE IF NOT EXISTS kept_{table} AS SELECT * FROM {table}")
    yield
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT set_config('app.all_workspaces', 'on', false)")
        cursor.execute("ALTER TABLE audit_auditevent DISABLE TRIGGER ALL")
        for table in tables:
            cursor.execute(f"DELETE FROM {table}")
            cursor.execute(f"INSERT INTO {table} SELECT * FROM kept_{table}")
            cursor.execute(f"DROP TABLE kept_{table}")
        cursor.execute("ALTER TABLE audit_auditevent ENABLE ALWAYS TRIGGER audit_auditevent_no_change")
        cursor.execute("ALTER TABLE audit_auditevent ENABLE ALWAYS TRIGGER audit_auditevent_no_truncate")
    connections["owner"].close()


@pytest.mark.parametrize("k", [1, 4, 12])
def test_payloads_that_were_changed_or_lost_are_found_and_redacted_ones_are_fine(anchored, k):
    (event,) = [event for event in events(anchored) if event.sequence == k]
    where = f"WHERE event_id = '{event.id}'"
    tamper(anchored, f"""UPDATE audit_auditpayload SET payload = '{{{{"n": 99}}}}' {where}""")
    assert queries.verify(anchored).first_bad == k
    tamper(anchored, f"UPDATE audit_auditpayload SET redacted_at = now() {where}")
    assert queries.verify(anchored).first_bad == k  # redacting empties; it does not rewrite
    tamper(anchored, f"UPDATE audit_auditpayload SET payload = '{{{{}}}}' {where}")
    assert queries.verify(anchored).holds
    tamper(anchored, f"DELETE FROM audit_auditpayload {where}")
    assert queries.verify(anchored).first_bad == k


@pytest.mark.parametrize("k", [1, 3, 8])
def test_a_chain_that_was_written_anew_differs_from_its_anchor(anchored, k):
    body = "replace(body, '\"done\"', '\"dine\"')"
    tamper(anchored, f"UPDATE {{e}} SET body = {body}, outcome = 'dine' WHERE {{w}} AND sequence = {k}", _rehash(k))
    verdict = queries.verify(anchored)
    assert (verdict.first_bad, "anchor" in verdict.fault) == (ANCHOR, True)


def test_behind_the_last_anchor_a_forger_has_free_hand_until_the_next(anchored, tmp_path):
    """What the chain does not protect: this is why anchors are taken often and kept elsewhere."""
    body = "replace(body, '\"done\"', '\"dine\"')"
    change = [f"UPDATE {{e}} SET body = {body}, outcome = 'dine' WHERE {{w}} AND sequence = 10", _rehash(10)]
    services.anchor_all(directory=tmp_path)
    tamper(anchored, *change)
    assert queries.verify(anchored).first_bad == LENGTH
    tamper(anchored, f"DELETE FROM audit_auditanchor WHERE {{w}} AND sequence = {LENGTH}")
    assert queries.verify(anchored).holds
    assert queries.verify(anchored, outside=queries.outside_anchors(tmp_path)).first_bad == LENGTH


@pytest.mark.parametrize("keep", [0, 3, 7])
def test_a_cut_tail_is_caught_by_its_anchor(anchored, keep):
    head = f"(SELECT hash FROM {{e}} WHERE {{w}} AND sequence = {keep})" if keep else "sha256('{house}')"
    tamper(
        anchored,
        f"DELETE FROM {{e}} WHERE {{w}} AND sequence > {keep}",
        f"UPDATE audit_auditchain SET sequence = {keep}, head = {head} WHERE {{w}}",
    )
    verdict = queries.verify(anchored)
    assert (verdict.first_bad, "anchor" in verdict.fault) == (keep + 1, True)


@pytest.mark.parametrize("keep", [9, 11])
def test_a_cut_behind_the_anchor_is_caught_by_the_head(anchored, keep):
    tamper(anchored, f"DELETE FROM {{e}} WHERE {{w}} AND sequence > {keep}")
    assert queries.verify(anchored).first_bad == keep + 1


@pytest.mark.parametrize("with_anchors", [False, True])
def test_a_chain_that_was_deleted_whole_is_still_known(anchored, tmp_path, with_anchors, capsys):
    statements = [
        "DELETE FROM {e} WHERE {w}",
        "DELETE FROM audit_auditpayload WHERE {w}",
        "DELETE FROM audit_auditchain WHERE {w}",
    ]
    tamper(anchored, *statements, *(["DELETE FROM audit_auditanchor WHERE {w}"] if with_anchors else []))
    outside = queries.outside_anchors(tmp_path)
    assert anchored in queries.chain_owners(outside=outside)
    assert queries.verify(anchored, outside=outside).first_bad == 1
    with pytest.raises(SystemExit) as end:
        call_command("verify_audit", anchors=tmp_path)
    assert end.value.code == 1
    assert f"{anchored}: broken at 1" in capsys.readouterr().out


def test_the_command_says_that_all_chains_hold(anchored, tmp_path, capsys):
    call_command("verify_audit", anchors=tmp_path)
    said = capsys.readouterr().out.splitlines()
    assert len(said) >= 2
    assert all(line.endswith("chain holds") for line in said)
    call_command("verify_audit", "--json", workspace=anchored, anchors=tmp_path)
    assert f'"workspace_id":"{anchored}","checked":{LENGTH}' in capsys.readouterr().out


def test_anchors_are_taken_once_per_head_and_never_without_their_file(anchored, tmp_path):
    services.anchor_all(directory=tmp_path)
    assert services.anchor_all(directory=tmp_path) == 0
    act(anchored)
    (blocked := tmp_path / "blocked").write_text("a file where a directory should be")
    with pytest.raises(FileExistsError):
        services.anchor_all(directory=blocked)
    assert services.anchor_all(directory=tmp_path) == 1  # the failed attempt did not leave half of an anchor
    assert max(queries.outside_anchors(tmp_path)[anchored]) == LENGTH + 1


def test_events_outlive_what_they_name(db):
    house = uuid4()  # of no workspace at all: there is no foreign key
    act(house)
    with in_all_workspaces("a test looks at everything"):
        assert AuditChain.objects.get(workspace_id=house).sequence == 1
