"""Refusals beyond the API (J4): the console, commands and tasks; and that a change and its record are one (J5, J6)."""

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from audit.models import AuditEvent
from config import failures
from config.celery import app
from inbox.models import Inbox
from inbox.services import inboxes
from kernel.context import ESTATE
from kernel.transactions import in_all_workspaces, in_workspace
from tenancy.models import Workspace
from tests.agents import forking
from tests.console import seed
from tests.console.conftest import signed_in
from tests.factories.world import house
from webhooks.models import Webhook


def outcomes(workspace_id) -> list[tuple[str, str, str]]:
    """Action, outcome and actor of what was not done."""
    with in_workspace(workspace_id):
        rows = AuditEvent.objects.exclude(outcome="done").order_by("sequence")
        return [(row.action, row.outcome, row.actor_kind) for row in rows]


@pytest.fixture
def place(db):
    return seed.workspace("Acme", seed.person("owner@acme.example"), "acme.example")


def member(place, *permissions):
    person = seed.person("clerk@acme.example")
    seed.member(person, place.workspace, *permissions)
    return signed_in(person)


def test_the_console_leaves_a_record_of_what_it_refuses(place, cases):
    clerk, owner = member(place, "workspace.read", "inbox.read", "webhook.read"), signed_in(place.owner)
    inbox = place.inbox.id
    denied = [
        (clerk.get, reverse("admin:audit_auditevent_changelist"), {}),
        (clerk.get, reverse("admin:audit_export"), {}),
        (clerk.post, reverse("admin:inbox_inbox_add"), {"address": "x@acme.example"}),
        (clerk.post, reverse("admin:inbox_inbox_changelist"), {"action": "remove", "_selected_action": [str(inbox)]}),
        (clerk.post, reverse("admin:audit_verify"), {}),
    ]
    for number, (ask, url, body) in enumerate(denied):
        before = len(outcomes(place.workspace.id))
        ask(url, body)
        new = outcomes(place.workspace.id)[before:]
        assert [(outcome, kind) for _, outcome, kind in new] == [("denied", "user")], (number, url, new)
    failed = [
        (reverse("admin:inbox_inbox_add"), {"address": "nonsense"}),
        (reverse("admin:inbox_inbox_add"), {}),
        (reverse("admin:inbox_inbox_add"), {"address": "x@elsewhere.example"}),
    ]
    for url, body in failed:
        before = len(outcomes(place.workspace.id))
        assert owner.post(url, body).status_code == 200
        new = outcomes(place.workspace.id)[before:]
        assert new == [("console.inbox_inbox.submit", "failed", "user")], (url, body)
    before = len(outcomes(place.workspace.id))
    assert owner.get(reverse("admin:inbox_inbox_changelist")).status_code == 200
    assert len(outcomes(place.workspace.id)) == before
    cases("J4", len(denied) + len(failed))


def test_a_command_that_is_refused_is_in_the_estates_trail(db, tmp_path, cases):
    tries = [
        ("issue_token", {"workspace": "ws_nobody", "scopes": "email.read"}),
        ("revoke", ["machine-key", "--workspace", "ws_nobody", "--id", "0e1d2c3b-4a59-4687-8f9e-a0b1c2d3e4f5"]),
        ("replay_webhooks", ["--webhook", "0e1d2c3b-4a59-4687-8f9e-a0b1c2d3e4f5", "--since", "2020-01-01T00:00:00Z"]),
        ("rotate_keys", ["--retire", "99"]),
    ]
    for name, arguments in tries:
        with pytest.raises(CommandError):
            call_command(name, *arguments) if isinstance(arguments, list) else call_command(name, **arguments)
    assert outcomes(ESTATE) == [(f"command.{name}", "failed", "operator") for name, _ in tries]
    cases("J4", len(tries))


def test_a_task_that_fails_is_in_the_estates_trail_once_in_a_window(db, settings, cases):
    settings.CELERY_TASK_ALWAYS_EAGER = True
    failures._last.clear()

    @app.task(name="tests.fails")
    def fails(**_):
        raise ZeroDivisionError("a secret text")

    for _ in range(3):
        fails.apply(throw=False)
    assert outcomes(ESTATE) == [("task.tests.fails", "failed", "system")]
    failures._last.clear()
    cases("J4", 1)


POINTS = ("unit.flushing", "unit.flushed")


def test_a_change_and_its_record_live_and_die_together(db, cases):
    """J5: killed while the record is being written, after it, and after the commit; thirty times."""
    acme = house()

    def made() -> tuple[int, int]:
        with in_workspace(acme.id):
            return Inbox.objects.count(), AuditEvent.objects.filter(action="inbox.open").count()

    def open_one(number: int) -> None:
        inboxes.open_inbox(workspace_id=acme.id, address=f"box-{number}@acme.test")

    assert made() == (1, 1)
    for number in range(20):
        forking.killed_at(POINTS[number % 2], lambda n=number: open_one(n))
        assert made() == (1, 1), POINTS[number % 2]
    for number in range(10):
        open_one(number)
        assert made() == (2 + number, 2 + number)
    cases("J5", 30)


def test_the_trail_outlives_whatever_it_names(db, cases):
    """J6: the rows are gone for good, and every event about them is there and in its chain."""
    acme = house()
    from audit import queries
    from tests.factories.every import make

    hooks = [make(Webhook, acme.id) for _ in range(3)]
    from webhooks.services import subscribing

    for hook in hooks:
        subscribing.update(workspace_id=acme.id, webhook_id=hook.id, changes={"label": "x"})
    with in_workspace(acme.id):
        before = list(AuditEvent.objects.order_by("sequence").values_list("id", "hash"))
        Webhook.with_deleted.all().delete()
        Inbox.with_deleted.all().delete()
        assert list(AuditEvent.objects.order_by("sequence").values_list("id", "hash")) == before
    assert queries.verify(acme.id).holds
    with in_all_workspaces("a test looks for the workspace"):
        assert Workspace.objects.filter(id=acme.id).exists()
    cases("J6", 4)
