"""The state machine of an e-mail (S0-18): what the table permits and nothing else, and a fact for each move."""

import re
from itertools import product
from pathlib import Path

import jsonschema
import psycopg
import pytest
from django.db import connection, transaction
from django.db.utils import IntegrityError

from inbox.events import TRANSITIONS
from inbox.models import Email
from inbox.services import progress
from inbox.types import MOVES, WORK_MOVES, EmailState
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tests.architecture.code import ROOT
from tests.factories.every import make
from tests.factories.inbox import walk
from tests.factories.world import deliver, house, mail
from webhooks.queries import catalogue

S = EmailState


def test_the_table_of_the_code_is_the_table_of_the_database():
    written = (ROOT / Path("inbox/sql/moves_v1.sql")).read_text()
    pairs = set(re.findall(r"'([a-z_]+) ([a-z_]+)'", written))
    assert pairs == {(origin.value, target.value) for origin, target in MOVES}


def test_the_database_permits_the_moves_of_the_table_and_no_other(db, cases):
    """Every pair of states, by plain SQL, as whoever goes around the services would do it."""
    place = house()
    tried, refused = 0, []
    with in_workspace(place.id):
        for origin in EmailState:
            email = make(Email, place.id, inbox=place.inbox, state=origin)
            for target in EmailState:
                if origin == target:
                    continue
                permitted = (origin, target) in MOVES
                try:
                    with transaction.atomic(), connection.cursor() as cursor:
                        cursor.execute("UPDATE inbox_email SET state = %s WHERE id = %s", [target.value, email.id])
                        assert permitted, (origin, target)
                        raise LookupError  # back to where it was
                except LookupError:
                    pass
                except IntegrityError as error:
                    assert not permitted, (origin, target)
                    refused.append(error.__cause__)
                tried += 1
    assert tried == 110
    assert len(refused) == 110 - len(MOVES)
    assert all(isinstance(cause, psycopg.errors.CheckViolation) for cause in refused)
    assert {cause.diag.constraint_name for cause in refused} == {"inbox_email_moves"}
    cases("S0-18", tried)


@pytest.mark.parametrize("state", [state for state in S if state not in (S.RECEIVED, S.STORED)])
def test_no_mail_is_born_in_a_later_state(db, state):
    place = house()
    message = make(Email, place.id, inbox=place.inbox).inbound_message
    with pytest.raises(IntegrityError, match="begins as"), in_workspace(place.id):
        Email.objects.create(
            workspace_id=place.id, inbound_message=message, inbox=place.inbox, message_id="m", state=state,
            received_at=message.received_at,
        )  # fmt: skip


def test_a_change_that_moves_nothing_is_no_move(db):
    place = house()
    email = make(Email, place.id, inbox=place.inbox, state=S.HANDLED)
    with in_workspace(place.id):
        assert Email.objects.filter(id=email.id).update(state=S.HANDLED, state_reason="again") == 1


def facts(place) -> list[tuple[str, str]]:
    """The facts about e-mails so far, in order."""
    with in_workspace(place.id):
        rows = OutboxEvent.objects.filter(workspace_id=place.id, slug__startswith="email.").order_by("id")
        return [(row.slug, row.payload["email_id"]) for row in rows]


def test_each_move_of_the_work_emits_its_public_fact(db, cases):
    place = house()
    tried = 0
    for origin, targets in WORK_MOVES.items():
        for target in targets:
            email = make(Email, place.id, inbox=place.inbox, state=origin)
            before = facts(place)
            with in_workspace(place.id):
                assert progress.move(email_id=email.id, to=target, reason="because"), (origin, target)
                assert not progress.move(email_id=email.id, to=target), "a second time"
            ((slug, email_id),) = facts(place)[len(before) :]
            assert email_id == str(email.id)
            assert slug == ("email.handed_over" if target == S.THREADED else f"email.{target.value}")
            tried += 1
    cases("S0-18", tried)


def test_an_illegal_move_is_refused_by_the_service_and_says_nothing(db):
    place = house()
    for origin, target in product(S, S):
        if (origin, target) in MOVES or target == S.RECEIVED:
            continue
        email = make(Email, place.id, inbox=place.inbox, state=origin)
        before = facts(place)
        with in_workspace(place.id):
            assert not progress.move(email_id=email.id, to=target), (origin, target)
            assert Email.objects.get(id=email.id).state == origin
        assert facts(place) == before


def test_the_moves_of_the_ingest_emit_theirs(db):
    place = house()
    deliver(mail())
    deliver(mail(auto_submitted="auto-replied"))
    deliver(mail(), provider_id="x", envelope_from="spam@spam.test")
    by_mail: dict[str, list[str]] = {}
    for slug, email_id in facts(place):
        by_mail.setdefault(email_id, []).append(slug)
    assert sorted(by_mail.values()) == [
        ["email.stored", "email.parsed", "email.received"],
        ["email.stored", "email.parsed", "email.received"],
        ["email.stored", "email.parsed", "email.received", "email.ignored"],
    ]


def test_every_state_but_the_first_has_a_public_fact_with_a_schema(db):
    described = {row["slug"]: row["schema"] for row in catalogue.describe()}
    assert set(TRANSITIONS) == set(S) - {S.RECEIVED}
    for state, event in TRANSITIONS.items():
        assert event.public
        assert event.state == state
        jsonschema.Draft202012Validator.check_schema(described[event.slug])


def test_what_is_published_fits_its_schema(db):
    from kernel import outbox
    from webhooks.models import SystemEvent

    place = house()
    deliver(mail())
    email = make(Email, place.id, inbox=place.inbox, state=S.QUEUED)
    with in_workspace(place.id):
        progress.move(email_id=email.id, to=S.FAILED, reason="it broke")
    while outbox.drain():
        pass
    described = {row["slug"]: row["schema"] for row in catalogue.describe()}
    import orjson

    with in_workspace(place.id):
        found = list(SystemEvent.objects.all())
    assert {"email.stored", "email.parsed", "email.received", "email.failed"} <= {row.slug for row in found}
    for row in found:
        jsonschema.validate(orjson.loads(row.body), described[row.slug])


def test_the_shortest_ways_reach_every_state(db):
    """The table has no dead end before its ends: whatever state a mail may be in, there is a way to it."""
    place = house()
    for state in S:
        email = make(Email, place.id, inbox=place.inbox)
        with in_workspace(place.id):
            assert walk(email, state).state == state
