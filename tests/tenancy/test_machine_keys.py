"""Machine keys over HTTP: issued, changed, rotated and revoked, and never worth more than who issued them."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client

from audit.models import AuditEvent
from kernel import clock
from kernel.errors import Invalid, NotFound
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tenancy.models import MachineKey, Workspace
from tenancy.services import keys
from tests.factories.every import workspace

KEYS = "/api/v1/machine-keys"


@pytest.fixture
def house(db):
    return workspace()


def ask(
    credential: str,
    path: str = "/api/v1/workspace",
    *,
    method: str = "get",
    body=None,
    address: str = "192.0.2.7",
    **headers,
):
    options = {"content_type": "application/json"} if method != "get" else {}
    answer = getattr(Client(REMOTE_ADDR=address), method)(
        path, data=body, headers={"Authorization": f"Bearer {credential}"} | headers, **options
    )
    return answer.status_code, answer.json() if answer.content else {}


def post(credential: str, path: str, body=None, **options):
    return ask(credential, f"{KEYS}{path}", method="post", body=body or {}, **options)


def iso(moment) -> str:
    return moment.isoformat()


def test_a_key_is_issued_listed_used_and_revoked(house):
    _, owner = keys.issue(workspace_id=house.id, name="owner", scopes=["*"])
    status, made = post(owner, "", {"name": "shop", "scopes": ["workspace.read", "thread.*"]})
    assert status == 201
    assert made["secret"].startswith(f"mk_{made['prefix']}_")
    assert (made["object"], made["state"], made["issued_by"]["kind"]) == ("machine_key", "active", "machine_key")
    assert made["last_used_at"] is None
    assert ask(made["secret"])[1]["id"] == str(house.id)
    assert ask(made["secret"], "/api/v1/inboxes")[0] == 403
    assert ask(made["secret"], "/api/v1/threads")[0] == 200
    listed = ask(owner, KEYS)[1]["data"]
    assert [row["name"] for row in listed] == ["shop", "owner"]
    assert not any("secret" in row for row in listed)
    one = ask(owner, f"{KEYS}/{made['id']}")[1]
    assert one["last_used_at"] is not None
    assert post(owner, f"/{made['id']}/revoke")[1]["revoked"] == [made["id"]]
    assert ask(made["secret"])[0] == 401
    assert post(owner, f"/{made['id']}/revoke") == (200, {"object": "machine_key_revocation", "revoked": []})
    assert ask(owner, f"{KEYS}/{made['id']}")[1]["state"] == "revoked"
    assert post(owner, f"/{made['id']}/rotate")[0] == 409
    assert ask(owner, f"{KEYS}/{made['id']}", method="patch", body={"name": "x"})[0] == 409
    for method in ("put", "delete"):
        assert ask(owner, f"{KEYS}/{made['id']}", method=method, body={})[0] == 405
    with in_workspace(house.id):
        actions = list(AuditEvent.objects.filter(resource_id=made["id"]).values_list("action", "outcome"))
        facts = OutboxEvent.objects.filter(payload__machine_key_id=made["id"]).values_list("slug", flat=True)
        assert set(actions) == {
            ("machine_key.issue", "done"), ("machine_key.revoke", "done"), ("credential.refuse", "denied"),
            ("machine_key.rotate", "failed"), ("machine_key.partial_update", "failed"),
        }  # fmt: skip
        assert set(facts) == {"machine_key.issued", "machine_key.revoked"}


def test_only_hashes_are_kept(house):
    key, secret = keys.issue(workspace_id=house.id, name="shop", scopes=["*"])
    _, second = keys.rotate(workspace_id=house.id, key_id=key.id)
    with in_workspace(house.id):
        row = str(MachineKey.objects.values().get(id=key.id))
        trail = str(list(AuditEvent.objects.values())) + str(list(OutboxEvent.objects.values()))
    for text in (secret, second):
        # `mk_<prefix>_<secret>`, and a secret may hold underscores.
        assert text.split("_", 2)[2] not in row + trail
        assert text not in repr(key)


def test_wrong_keys_are_refused(house):
    _, secret = keys.issue(workspace_id=house.id, name="shop", scopes=["*"])
    head, tail = secret[:16], secret[16:]
    wrong = [
        secret[:-1], secret + "x", secret[:-1] + ("a" if secret[-1] != "a" else "b"), secret.replace("mk_", "mk_z", 1),
        head, f"{head[:-1]}__", secret.upper(), secret.replace("_", "__", 1), "mk_", "mk__", "mk_a_b", "mk_%_b", "mk_é_b",
        f"mk_{tail}", "mk_" + "x" * 9000, f"{secret},{secret}", f"{secret} ", f"mk_' OR 1=1 --_{tail}", secret + "é",
    ]  # fmt: skip
    for text in wrong:
        assert ask(text)[0] == 401, text
    assert ask(secret)[0] == 200


def test_a_rotation_lets_both_secrets_pass_for_a_while(house, settings):
    key, first = keys.issue(workspace_id=house.id, name="shop", scopes=["*"])
    status, body = post(first, f"/{key.id}/rotate", {"overlap_seconds": 600})
    second = body["secret"]
    assert (status, ask(first)[0], ask(second)[0]) == (200, 200, 200)
    assert body["previous_secret_until"] is not None
    with in_workspace(house.id):
        MachineKey.objects.filter(id=key.id).update(previous_until=clock.now())
    assert (ask(first)[0], ask(second)[0]) == (401, 200)
    third = post(second, f"/{key.id}/rotate", {"overlap_seconds": 0})[1]["secret"]
    assert (ask(second)[0], ask(third)[0]) == (401, 200)
    fourth = post(third, f"/{key.id}/rotate")[1]["secret"]
    fifth = post(fourth, f"/{key.id}/rotate")[1]["secret"]
    assert [ask(secret)[0] for secret in (first, second, third, fourth, fifth)] == [401, 401, 401, 200, 200]
    assert post(fifth, f"/{key.id}/rotate", {"overlap_seconds": 10**9})[0] == 422
    keys.revoke(workspace_id=house.id, key_id=key.id)
    assert (ask(fourth)[0], ask(fifth)[0]) == (401, 401)


def test_a_rotated_key_is_the_same_caller(house):
    """A retry under the new secret is still a retry."""
    key, first = keys.issue(workspace_id=house.id, name="shop", scopes=["*"])
    body = {"name": "made once", "scopes": ["email.read"]}
    made = post(first, "", body, **{"Idempotency-Key": "one"})
    _, second = keys.rotate(workspace_id=house.id, key_id=key.id)
    assert post(second, "", body, **{"Idempotency-Key": "one"}) == made
    with in_workspace(house.id):
        assert MachineKey.objects.filter(name="made once").count() == 1


def test_an_end_and_networks_hold(house, settings):
    settings.TRUSTED_PROXIES = ["10.0.0.0/8"]
    _, owner = keys.issue(workspace_id=house.id, name="owner", scopes=["*"])
    made = post(owner, "", {"name": "x", "scopes": ["*"], "allowed_networks": ["203.0.113.0/24", "2001:db8::/32"]})[1]
    for address, forwarded, status in (
        ("203.0.113.9", "", 200), ("::ffff:203.0.113.9", "", 200), ("2001:db8::1", "", 200), ("203.0.114.9", "", 401),
        ("192.0.2.1", "203.0.113.9", 401), ("10.1.1.1", "203.0.113.9", 200), ("10.1.1.1", "203.0.113.9, 10.2.2.2", 200),
        ("10.1.1.1", "203.0.113.9, 198.51.100.7", 401), ("10.1.1.1", "", 401), ("10.1.1.1", "nonsense", 401),
        ("10.1.1.1", "203.0.113.9:80", 401), ("", "203.0.113.9", 401), ("10.1.1.1", "203.0.113.9,", 401),
    ):  # fmt: skip
        headers = {"X-Forwarded-For": forwarded} if forwarded else {}
        assert ask(made["secret"], address=address, **headers)[0] == status, (address, forwarded)
    change = {"allowed_networks": [], "expires_at": iso(clock.now() + timedelta(hours=1))}
    assert ask(owner, f"{KEYS}/{made['id']}", method="patch", body=change)[0] == 200
    assert ask(made["secret"])[0] == 200
    with in_workspace(house.id):
        MachineKey.objects.filter(id=made["id"]).update(expires_at=clock.now())
    assert ask(made["secret"])[0] == 401
    assert ask(owner, f"{KEYS}/{made['id']}")[1]["state"] == "expired"


def test_what_no_key_can_be_is_named(house):
    _, owner = keys.issue(workspace_id=house.id, name="owner", scopes=["*"])
    for body, pointer in (
        ({"scopes": ["email.read"]}, "/name"), ({"name": "x"}, "/scopes"), ({"name": "x", "scopes": ["nope.read"]}, "/scopes"),
        ({"name": "x", "scopes": ["email"]}, "/scopes"), ({"name": "x", "scopes": ["nope.*"]}, "/scopes"),
        ({"name": "x", "scopes": ["**"]}, "/scopes"), ({"name": "x", "scopes": ["*.read"]}, "/scopes"),
        ({"name": "x", "scopes": ["*.*"]}, "/scopes"), ({"name": "x", "scopes": ["email.read.*"]}, "/scopes"),
        ({"name": "x", "scopes": ["*"], "expires_at": iso(clock.now())}, "/expires_at"),
        ({"name": "x", "scopes": ["*"], "allowed_networks": ["10.0.0.1/8"]}, "/allowed_networks"),
        ({"name": "x", "scopes": ["*"], "allowed_networks": ["all"]}, "/allowed_networks"),
        ({"name": "x", "scopes": ["*"], "workspace_id": str(uuid4())}, "/workspace_id"),
        ({"name": "x", "scopes": ["*"], "secret_hash": "x"}, "/secret_hash"),
    ):  # fmt: skip
        status, problem = post(owner, "", body)
        assert status == 422, (body, problem)
        assert problem["errors"][0]["pointer"].startswith(pointer), (body, problem)
    with pytest.raises(Invalid):
        keys.issue(workspace_id=house.id, name="x", scopes=["*"], allowed_networks=["10.0.0.0/8"] * 51)


def test_nobody_gives_more_than_they_have(house):
    """By issuing, by changing, by rotating (which shows a secret), or by an end and networks that are wider."""
    mighty, _ = keys.issue(workspace_id=house.id, name="mighty", scopes=["*"])
    held = ["workspace.*", "email.read"]
    me, mine = keys.issue(workspace_id=house.id, name="me", scopes=held)
    for scopes, status in (
        (["email.read"], 201), (["workspace.manage", "email.read"], 201), (["workspace.*"], 201), ([], 201),
        (["email.send"], 403), (["email.*"], 403), (["*"], 403), (["email.read", "thread.read"], 403),
    ):  # fmt: skip
        assert post(mine, "", {"name": "x", "scopes": scopes})[0] == status, scopes
    assert post(mine, f"/{mighty.id}/rotate")[0] == 403
    assert ask(mine, f"{KEYS}/{me.id}", method="patch", body={"scopes": ["*"]})[0] == 403
    # Bringing another's networks or end in means to answer for all that it may.
    assert ask(mine, f"{KEYS}/{mighty.id}", method="patch", body={"expires_at": None})[0] == 403
    assert ask(mine, f"{KEYS}/{mighty.id}", method="patch", body={"name": "renamed"})[0] == 200
    assert post(mine, f"/{me.id}/rotate")[0] == 200

    soon, later = clock.now() + timedelta(hours=1), clock.now() + timedelta(hours=2)
    bound, theirs = keys.issue(
        workspace_id=house.id, name="bound", scopes=["*"], expires_at=soon, allowed_networks=["192.0.2.0/24"]
    )
    for extra, status in (
        ({}, 201), ({"expires_at": iso(soon)}, 201), ({"allowed_networks": ["192.0.2.128/25"]}, 201),
        ({"expires_at": iso(later)}, 403), ({"allowed_networks": ["192.0.0.0/16"]}, 403),
        ({"allowed_networks": ["192.0.2.0/24", "198.51.100.0/24"]}, 403), ({"allowed_networks": ["2001:db8::/32"]}, 403),
    ):  # fmt: skip
        status_, made = post(theirs, "", {"name": "x", "scopes": ["*"]} | extra)
        assert status_ == status, (extra, made)
        if status == 201:
            assert made["expires_at"] is not None
            assert made["allowed_networks"] == extra.get("allowed_networks", ["192.0.2.0/24"])
    for change in ({"expires_at": None}, {"expires_at": iso(later)}, {"allowed_networks": []}):
        assert ask(theirs, f"{KEYS}/{bound.id}", method="patch", body=change)[0] == 403, change
    assert post(theirs, f"/{mighty.id}/rotate")[0] == 403


def test_a_leaked_key_takes_what_it_issued_with_it(house):
    root, secret = keys.issue(workspace_id=house.id, name="root", scopes=["*"])
    child = post(secret, "", {"name": "child", "scopes": ["*"]})[1]
    grandchild = post(child["secret"], "", {"name": "grandchild", "scopes": ["*"]})[1]
    _, bystander = keys.issue(workspace_id=house.id, name="bystander", scopes=["*"])
    ended = post(bystander, f"/{root.id}/revoke", {"with_issued": True})[1]["revoked"]
    assert set(ended) == {str(root.id), child["id"], grandchild["id"]}
    assert [ask(one)[0] for one in (secret, child["secret"], grandchild["secret"], bystander)] == [401, 401, 401, 200]


def test_keys_of_another_workspace_do_not_exist(house):
    other = workspace("Other")
    theirs, _ = keys.issue(workspace_id=other.id, name="theirs", scopes=["*"])
    _, mine = keys.issue(workspace_id=house.id, name="mine", scopes=["*"])
    for key_id in (theirs.id, uuid4()):
        answers = [
            ask(mine, f"{KEYS}/{key_id}"), ask(mine, f"{KEYS}/{key_id}", method="patch", body={"name": "x"}),
            post(mine, f"/{key_id}/rotate"), post(mine, f"/{key_id}/revoke"),
        ]  # fmt: skip
        assert {status for status, _ in answers} == {404}
        assert {body["detail"] for _, body in answers} == {"No such resource in this workspace."}
    assert [row["name"] for row in ask(mine, KEYS)[1]["data"]] == ["mine"]
    with pytest.raises(NotFound):
        keys.revoke(workspace_id=house.id, key_id=theirs.id)
    with in_workspace(other.id):
        assert MachineKey.objects.get().revoked_at is None


def test_keys_of_a_closed_workspace_are_refused(house):
    _, secret = keys.issue(workspace_id=house.id, name="shop", scopes=["*"])
    for change in ({"status": "suspended"}, {"status": "active", "deleted_at": clock.now()}):
        with in_workspace(house.id):
            Workspace.objects.filter(id=house.id).update(**change)
        assert ask(secret)[0] == 401
