"""G7: every page of the console × roles, against what each page says that it needs; nothing is there that is not asked."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.urls import reverse

from config.console import navigation
from kernel.access import Principal
from kernel.context import Actor
from kernel.transactions import in_workspace
from tenancy.models import Role
from tenancy.permissions import SYSTEM_ROLES
from tenancy.services import roles
from tests.console import seed
from tests.console.conftest import signed_in

# Pages that ask for no permission, each with the reason.
OPEN = {
    "login": "before anybody is known",
    "logout": "the way out",
    "password_change": "one's own",
    "password_change_done": "one's own",
    "jsi18n": "words of the interface",
    "autocomplete": "asks the page of the rows that it names; test_fence walks it",
    "search": "shows what each row's own permission lets; test_fence walks it",
    "choose_workspace": "asks for memberships, not permissions; test_fence walks it",
    "view_on_site": "shows nothing: no model of ours has an address on a site",
    "app_list": "lists what may be opened",
    "toggle_sidebar": "one's own interface",
}
PERSONAS = ["agent", "auditor"]
OTHERS = ["admin", "developer", "manager", "analyst", "owner"]
NEVER = "nobody"
OPERATORS = "operators"


def pages() -> Iterator[tuple[str, str, str]]:
    """Name, address and needed permission of every page; a page that nobody explains fails the walk."""
    for pattern in _flat(admin.site.get_urls()):
        name = pattern.name
        if not name or name in OPEN or getattr(pattern, "url_patterns", None):
            continue
        values = {key: _value(converter) for key, converter in pattern.pattern.converters.items()}
        url = reverse(f"admin:{name}", kwargs=values)
        yield name, url, _needed(pattern)


def _flat(patterns: list[Any]) -> Iterator[Any]:
    for pattern in patterns:
        if hasattr(pattern, "url_patterns"):
            yield from _flat(pattern.url_patterns)
        else:
            yield pattern


def _value(converter: Any) -> Any:
    return uuid.uuid4()


def _needed(pattern: Any) -> str:
    needs = getattr(pattern.callback, "needs", None)
    if needs is not None:
        return str(needs)
    if pattern.name == "index":
        return "workspace.read"
    page, _, kind = pattern.name.rpartition("_")
    for model, found in admin.site._registry.items():
        if f"{model._meta.app_label}_{model._meta.model_name}" == page:
            return _of_page(found, kind)
        custom = getattr(found, pattern.name.removeprefix(f"{model._meta.app_label}_{model._meta.model_name}_"), None)
        if pattern.name.startswith(f"{model._meta.app_label}_{model._meta.model_name}_") and custom is not None:
            return found.view_needs
    raise AssertionError(f"{pattern.name} says nothing of who may open it")


def _of_page(page: ModelAdmin, kind: str) -> str:
    if page.model._meta.model_name in ("revokedsigningkey", "loginevent"):
        return OPERATORS if kind != "delete" else NEVER
    if kind == "delete":
        return NEVER
    return {"add": page.add_needs or NEVER}.get(kind, page.view_needs)


def member_as(world, name: str):
    user = seed.person(f"{name}@x.example", name=name.title())
    membership = seed.member(user, world.workspace, "nothing.yet")
    with in_workspace(world.workspace.id):
        role = Role.objects.get(name=name)
        for link in membership.role_links.all():
            link.delete()
    roles.give(workspace_id=world.workspace.id, role_id=role.id, membership_id=membership.id, may=frozenset({"*"}))
    return signed_in(user)


def _allows(name: str, permission: str) -> bool:
    grants = frozenset(SYSTEM_ROLES[name][1])
    who = Principal(workspace_id=uuid.uuid4(), actor=Actor(kind="test"), permissions=grants)
    return permission not in (NEVER, OPERATORS) and who.allows(permission)


def _walk(world, name: str) -> int:
    client, tried = member_as(world, name), 0
    client.raise_request_exception = False
    for page, url, permission in pages():
        status = client.get(url).status_code
        assert (status != 403) == _allows(name, permission), (name, page, permission, status)
        assert status < 500, (name, page, status)
        tried += 1
    return tried


@pytest.mark.parametrize("name", PERSONAS)
def test_every_page_asks_for_what_it_says(world, name, cases):
    tried = _walk(world, name)
    assert tried >= 100
    cases("G7", tried)


@pytest.mark.deep
@pytest.mark.long
@pytest.mark.parametrize("name", OTHERS)
def test_every_page_asks_every_role_for_what_it_says(world, name, cases):
    cases("G7", _walk(world, name))


@pytest.mark.parametrize("name", PERSONAS)
def test_lists_offer_the_deeds_and_the_filters_that_one_may_use(world, name):
    """A deed that is not offered is not done either: Django takes it from the same list."""
    client, found = member_as(world, name), 0
    for model, page in admin.site._registry.items():
        if not _allows(name, page.view_needs) or model._meta.model_name == "revokedsigningkey":
            continue
        url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        text = client.get(url).content.decode()
        for deed in page.actions or ():
            needed = page.act_needs if "act" in getattr(page, deed).allowed_permissions else OPERATORS
            offered = f'<option value="{deed}"' in text
            assert not offered or _allows(name, needed), (name, model, deed)
            found += offered
    # Only one of the three may do anything to a list: suspend a webhook, or handle a file.
    assert (found > 0) == (name != "auditor")


@pytest.mark.parametrize("name", PERSONAS)
def test_the_sidebar_shows_what_one_may_open(world, name):
    text = member_as(world, name).get("/console/").content.decode()
    for _, items in navigation.GROUPS:
        for item in items:
            link = f'href="{reverse(f"admin:{item.page}")}"'
            shown = item.needs != navigation.INSTALLATION and _allows(name, item.needs)
            assert (link in text) == shown or item.page == "index", (name, item.title)


def test_a_django_superuser_is_nobody(world):
    user = seed.person("django@x.example")
    type(user).objects.filter(id=user.id).update(is_superuser=True)
    client = signed_in(user)
    for path in ("/console/", "/console/workspace/", "/console/inbox/thread/", "/console/tenancy/user/"):
        assert client.get(path).status_code == 403, path
    assert client.post("/console/workspace/", {"workspace": "all"}).status_code == 403


def test_who_may_invite_is_led_there_from_the_members(world, mika):
    """Members come by invitation, so their list has no form of its own; those who may not invite get no way to it."""
    members, form = reverse("admin:tenancy_membership_changelist"), reverse("admin:tenancy_invitation_add")
    assert f'href="{form}"' in mika.get(members).content.decode()
    assert mika.get(form).status_code == 200
    reader = member_as(world, "auditor")
    assert form not in reader.get(members).content.decode()
    assert reader.get(form).status_code == 403
