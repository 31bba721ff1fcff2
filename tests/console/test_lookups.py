"""A list is narrowed by what its page offers: whoever asks by another column learns nothing of what is in it."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.db.models import Model
from django.test import Client

from kernel.transactions import in_workspace
from tests.console import seed
from tests.console.conftest import signed_in
from tests.console.test_fence import changelist, registered
from webhooks.models import WebhookDelivery

PLAIN = ("", "__exact", "__isnull")
# Lists with views of their own, which hand nothing of the address to the database as a lookup.
OWN = {"thread"}


@pytest.fixture
def operator(world) -> Client:
    """Somebody to whom every list opens."""
    client = signed_in(seed.person("root@x.example", operator=True))
    client.post("/console/workspace/", {"workspace": "all"})
    client.raise_request_exception = False
    return client


def lists(client: Client) -> Iterator[tuple[type[Model], str, Any]]:
    """Every list that opens, with what its page shows."""
    for model, _ in registered():
        shown = client.get(changelist(model)).context
        assert ("cl" in shown) == (model._meta.model_name not in OWN), model
        if "cl" in shown:
            yield model, changelist(model), shown["cl"]


def columns(model: type[Model]) -> Iterator[str]:
    """Every column of a row, and of the rows that it refers to."""
    for field in model._meta.concrete_fields:
        yield field.name
        if field.related_model:
            yield from (f"{field.name}__{other.name}" for other in field.related_model._meta.concrete_fields)


def offered(shown: Any) -> set[str]:
    """The parameters that the page's filters read, as the page itself says."""
    found = {name for spec in shown.filter_specs for name in spec.expected_parameters() if name is not None}
    # A filter with nothing to choose from is not shown; its parameter says nothing either.
    return found | {each + lookup for each in shown.list_filter if isinstance(each, str) for lookup in PLAIN}


@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.deep)])
def test_no_list_is_narrowed_by_a_column_that_its_page_does_not_offer(operator, step):
    refused = 0
    for model, url, shown in lists(operator):
        known = offered(shown)
        for column in list(columns(model))[::step]:
            for lookup in ("__startswith", "__exact") if "__" not in column else ("__startswith",):
                if column + lookup not in known:
                    assert operator.get(url, {column + lookup: "a"}).status_code == 400, (model, column + lookup)
                    refused += 1
    assert refused > 1000 / step


def test_nobody_reads_the_hash_of_a_colleagues_password_by_asking_for_its_letters(world):
    """The row was there, or was not: 'yes' and 'no' to each guess of the next letter."""
    reader = seed.person("reader@x.example")
    seed.member(reader, world.workspace, "workspace.read", "member.read")
    client = signed_in(reader)
    assert world.owner.email in client.get("/console/tenancy/user/", {"q": world.owner.email}).content.decode()
    for stored in (world.owner.password[:12], "nothing like it"):
        for page, column in (("user", "password"), ("membership", "user__password")):
            answer = client.get(f"/console/tenancy/{page}/", {f"{column}__startswith": stored})
            assert (answer.status_code, world.owner.email in answer.content.decode()) == (400, False), (page, stored)


def test_what_a_page_offers_narrows_it(mika, operator, world):
    with in_workspace(world.workspace.id):
        webhook = WebhookDelivery.objects.first().webhook_id
    asked = {
        "inbox/thread": {"view": "all", "inbox": world.inbox.id},
        "inbox/email": {"view": "all", "inbox__id__exact": world.inbox.id, "deleted": "yes", "q": "lamp", "p": 1},
        "inbox/inbox": {"active__exact": 1},
        "agents/agentrun": {"agent__id__exact": world.agent.id, "execution__used_language_model__exact": 0},
        "webhooks/webhookdelivery": {"webhook__id__exact": webhook},
        "tenancy/membership": {"status__exact": "active"},
        "audit/auditevent": {"outcome": "done", "actor_kind": "user"},
    }
    for page, query in asked.items():
        assert mika.get(f"/console/{page}/", query).status_code == 200, page
    assert len(mika.get("/console/tenancy/membership/", {"status__exact": "active"}).context["cl"].result_list) == 1
    assert not mika.get("/console/tenancy/membership/", {"status__exact": "suspended"}).context["cl"].result_list
    tried = 0
    for model, url, shown in lists(operator):
        for spec in shown.filter_specs:
            for name in spec.expected_parameters():
                if name is not None:
                    answer = operator.get(url, {name: "1"})
                    # A value that the column cannot have is put aside, as Django does; the parameter is known.
                    assert answer.status_code in (200, 302), (model, name)
                    tried += 1
    assert tried > 30


def test_every_list_of_the_console_has_the_rule(db):
    from kernel.admin.base import ConsoleAdmin
    from kernel.admin.lists import OfferedChangeList

    for model, page in admin.site._registry.items():
        assert isinstance(page, ConsoleAdmin), model
        assert page.get_changelist(None) is OfferedChangeList, model
