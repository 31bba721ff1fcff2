"""What a caller cannot set, nobody sets by PATCH or POST (G9): the answer is 422 that says why, and nothing changes."""

from typing import Any
from uuid import uuid4

import pytest

from tests.resources.nine import NINE, World, rows, world

# Of the rows beneath: columns that no body shows by these names.
INTERNAL = {
    "workspace": ("ticket_seq", "contact_seq", "realm_id", "settings", "settings_version", "ticket_prefix", "default_country"),
    "inbox": ("address_normalized", "workspace", "agent"),
    "email": ("inbound_message_id", "entry", "hops", "class_reason", "inbound_message", "inbox"),
    "agent": ("current_version", "parent_id", "limits", "created_by", "is_staff", "parent"),
    "webhook": (
        "secret", "secret_sealed", "previous_secret_sealed", "failure_noted_at", "failures_noted", "workspace",
    ),
}  # fmt: skip
EVERYWHERE = ("is_superuser", "permissions_granted", "owner", "created_by", "__class__", "pk", "deleted", "tenant_id")
WORDS = {"metadata": "metadata is set by the system only"}


def values(shown: Any, name: str) -> list[Any]:
    """What an attacker would send: another value of the same kind, and the present one."""
    other: Any = {
        bool: not shown if isinstance(shown, bool) else True,
        int: 99,
        str: str(uuid4()) if name.endswith("id") else "changed",
        list: ["changed"],
        dict: {"changed": True},
        type(None): str(uuid4()) if name.endswith("id") else "2001-01-01T00:00:00Z",
    }.get(type(shown), "changed")
    return [other, shown]


@pytest.mark.parametrize("name", INTERNAL)
def test_no_read_only_field_is_set_by_a_change(acme: World, cases, name):
    resource = NINE[name]
    path = acme.path(name)
    before = acme.call("GET", path).json()
    fixed = [field for field in before if field not in resource.settable]
    # Names may stand for two things: what PATCH sets is not a forgery.
    forged = {field: values(before[field], field) for field in fixed}
    forged |= {field: ["changed", 1] for field in (*INTERNAL[name], *EVERYWHERE) if field not in resource.settable}
    beneath = rows(acme.id, but=_plumbing)
    tried = 0
    for field, tries in forged.items():
        for value in tries:
            answer = acme.call("PATCH", path, {field: value})
            assert answer.status_code == 422, (field, value, answer.content)
            (fault,) = answer.json()["errors"]
            assert fault["pointer"] == f"/{field}"
            assert fault["detail"].startswith(WORDS.get(field, "")), fault
            tried += 1
    # With a good change beside the forgery, neither happens.
    good = {"custom_metadata": {"a": 1}}
    answer = acme.call("PATCH", path, good | dict.fromkeys(forged, "changed"))
    assert answer.status_code == 422
    assert {fault["pointer"] for fault in answer.json()["errors"]} == {f"/{field}" for field in forged}
    assert acme.call("GET", path).json() == before
    assert rows(acme.id, but=_plumbing) == beneath
    assert acme.call("PATCH", path, good).json()["custom_metadata"] == {"a": 1}
    cases("G9", tried + len(forged))


CREATIONS: dict[str, dict[str, Any]] = {
    "inbox": {"address": "new@acme.test"},
    "agent": {"name": "New"},
    "webhook": {"url": "https://example.com/", "slugs": ["*"]},
    "email": {
        "from": {"address": "ada@customer.test"}, "to": [{"address": "support@acme.test"}], "text": "Hello",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CREATIONS)
def test_no_read_only_field_is_set_by_a_creation(acme: World, cases, name):
    resource, good = NINE[name], CREATIONS[name]
    shown = acme.call("GET", acme.path(name)).json()
    may = {*resource.settable, *good, "external_id"} | (
        {"cc", "subject", "html", "message_id", "in_reply_to", "references", "headers"} if name == "email" else set()
    )
    may -= {"active"}  # an inbox is opened active
    may -= set() if resource.has_external_id else {"external_id"}
    forged = [field for field in (*shown, *INTERNAL[name], *EVERYWHERE) if field not in may]
    beneath = rows(acme.id, but=_plumbing)
    for field in forged:
        answer = acme.call("POST", resource.path, good | {field: "changed"})
        assert answer.status_code == 422, (field, answer.content)
        assert f"/{field}" in [fault["pointer"] for fault in answer.json()["errors"]]
    assert rows(acme.id, but=_plumbing) == beneath
    assert acme.call("POST", resource.path, good).status_code in (201, 202)
    cases("G9", len(forged))


@pytest.mark.parametrize("name", ["attachment", "agent_run", "webhook_delivery", "system_event"])
def test_what_only_the_system_writes_takes_nothing_at_all(acme: World, cases, name):
    path = acme.path(name)
    before = acme.call("GET", path).json()
    for field in before:
        assert acme.call("PATCH", path, {field: "changed"}).status_code == 405
    assert acme.call("GET", path).json() == before
    cases("G9", len(before))


@pytest.mark.parametrize(
    "field", ["status", "is_superuser", "metadata", "ref", "workspace_id", "ticket_prefix", "realm_id"]
)
def test_the_account_hook_sets_what_it_says_and_no_more(db, client, settings, field, cases):
    settings.PROVISIONING_TOKEN = "p" * 32
    answer = client.post(
        "/api/v1/provisioning/workspaces",
        {"external_id": str(uuid4()), "name": "Acme", field: "changed"},
        content_type="application/json",
        headers={"authorization": "Bearer " + "p" * 32},
    )
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, f"/{field}")
    cases("G9", 1)


def test_nested_members_are_known_too(acme: World):
    answer = acme.call(
        "POST",
        "/emails",
        {
            "from": {"address": "ada@customer.test", "admin": True},
            "to": [{"address": "support@acme.test", "workspace_id": "x"}],
        },
    )
    assert {fault["pointer"] for fault in answer.json()["errors"]} == {"/from/admin", "/to/0/workspace_id"}


def test_another_workspace_is_not_touched_by_any_of_it(acme: World):
    other = world("globex")
    before = rows(other.id, but=_plumbing)
    for name in INTERNAL:
        acme.call("PATCH", acme.path(name), {"workspace_id": str(other.id), "id": str(other.ids[name])})
    assert rows(other.id, but=_plumbing) == before


def _plumbing(table: str) -> bool:
    """Written by any request: when a key was last used, and the trail of what was refused."""
    return table == "tenancy_machinekey" or table.startswith("audit_")
