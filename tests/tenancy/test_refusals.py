"""Why a credential was refused is in the log and the trail, precisely; a flood of refusals fills neither."""

import logging
from datetime import timedelta

import pytest
from django.test import Client

from audit.models import AuditEvent, AuditPayload
from kernel import clock
from kernel.context import ESTATE
from kernel.transactions import in_workspace
from tenancy.models import MachineKey
from tenancy.services import certificates, keys, refusing, tokens
from tests.factories.every import workspace
from tests.tenancy.certificates import certificate, pem, rfc9440
from tests.tenancy.tokens import OTHER_RSA, by_hand, claims, jwks, sign


@pytest.fixture
def house(db, settings):
    settings.JWT_KEYS = jwks()
    settings.CLIENT_CERT_PROXIES = ["10.0.0.0/8"]
    return workspace()


def present(text: str = "", *, address: str = "10.0.0.1", **headers: str) -> int:
    given = {"Authorization": f"Bearer {text}"} if text else {}
    return Client(REMOTE_ADDR=address).get("/api/v1/workspace", headers=given | headers).status_code


def trail(workspace_id) -> list[tuple]:
    with in_workspace(workspace_id):
        rows = list(AuditEvent.objects.filter(action="credential.refuse").order_by("sequence"))
        payloads = dict(
            AuditPayload.objects.filter(event_id__in=[row.id for row in rows]).values_list("event_id", "payload")
        )
    assert all((row.outcome, row.actor_kind) == ("denied", "anonymous") for row in rows)
    return [(row.resource_kind, row.resource_id, payloads[row.id]) for row in rows]


def test_the_trail_names_the_reason_where_the_owner_looks(house, caplog):
    now = clock.now()
    key, secret = keys.issue(workspace_id=house.id, name="k", scopes=["*"], allowed_networks=["192.0.2.0/24"])
    gone, gone_secret = keys.issue(workspace_id=house.id, name="g", scopes=["*"])
    keys.revoke(workspace_id=house.id, key_id=gone.id)
    over, over_secret = keys.issue(workspace_id=house.id, name="o", scopes=["*"], expires_at=now + timedelta(hours=1))
    with in_workspace(house.id):
        MachineKey.objects.filter(id=over.id).update(expires_at=now)
    tokens.revoke(workspace_id=house.id, jti="revoked")
    one = certificate()
    row = certificates.register(workspace_id=house.id, pem=pem(one), name="c", scopes=["*"])
    certificates.revoke(workspace_id=house.id, certificate_id=row.id)
    tokens.revoke_issued_before(workspace_id=house.id, moment=now - timedelta(minutes=5))
    old = claims(house, jti="old", iat=int(now.timestamp()) - 600)
    ours = [
        (secret, "machine_key", str(key.id), "network_not_allowed"), (secret[:-1] + "!", "machine_key", str(key.id), "wrong_secret"),
        (gone_secret, "machine_key", str(gone.id), "revoked"), (over_secret, "machine_key", str(over.id), "expired"),
        (sign(claims(house, jti="revoked")), "token", "revoked", "revoked"), (sign(old), "token", "old", "issued_before_cutoff"),
    ]  # fmt: skip
    nobodys = [
        ("mk_abc_def", "machine_key", "abc", "unknown"), (sign(claims(house), key=OTHER_RSA), "token", "rsa", "bad_signature"),
        (sign(claims(house, exp=1, iat=0)), "token", "rsa", "expired"), (sign(claims(house, aud="x")), "token", "rsa", "other_audience"),
        (sign(claims(house, iss="x")), "token", "rsa", "other_issuer"), (sign(claims(house, jti=None)), "token", "rsa", "claim_missing"),
        (by_hand({"alg": "RS256", "kid": "what"}, claims(house)), "token", "what", "unknown_key"),
        (by_hand({"alg": "RS256", "kid": "rsa", "jku": "x"}, claims(house)), "token", "", "forbidden_header"),
        (sign(claims(house), algorithm="RS384"), "token", "rsa", "other_algorithm"), ("x", "token", "", "malformed"),
    ]  # fmt: skip
    with caplog.at_level(logging.INFO, logger="tenancy"):
        for text, *_ in (*ours, *nobodys):
            assert present(text) == 401
        assert present(**{"Client-Cert": rfc9440(one)}) == 401
        assert present(address="192.0.2.9", **{"Client-Cert": rfc9440(one)}) == 401
    expected = [(kind, named, reason) for _, kind, named, reason in ours] + [("certificate", str(row.id), "revoked")]
    assert [(kind, named, why["reason"]) for kind, named, why in trail(house.id)] == expected
    expected = [(kind, named, reason) for _, kind, named, reason in nobodys] + [("certificate", "", "not_from_proxy")]
    assert [(kind, named, why["reason"]) for kind, named, why in trail(ESTATE)] == expected
    assert trail(ESTATE)[-1][2]["address"] == "192.0.2.9"
    lines = [record for record in caplog.records if record.getMessage() == "a credential was refused"]
    assert len(lines) == len(ours) + len(nobodys) + 2
    assert {line.reason for line in lines} >= {"network_not_allowed", "bad_signature", "not_from_proxy"}
    shown = str([vars(line) for line in lines]) + str(trail(house.id)) + str(trail(ESTATE))
    assert not any(text.split("_", 2)[2] in shown for text in (secret, gone_secret, over_secret))


def test_a_flood_fills_nothing(house, settings):
    settings.REFUSAL_AUDIT_SECONDS, settings.REFUSAL_AUDIT_MOST = 3600, 3
    for _ in range(25):
        assert present("mk_abc_def") == 401
    assert len(trail(ESTATE)) == 1
    # Other reasons are recorded still, up to the limit of them all.
    for text in ("x", sign(claims(house), key=OTHER_RSA), sign(claims(house, aud="x")), sign(claims(house, iss="x"))):
        assert present(text) == 401
    assert [why["reason"] for _, _, why in trail(ESTATE)] == ["unknown", "malformed", "bad_signature"]
    # The next window tells how many the last one left out.
    settings.REFUSAL_AUDIT_SECONDS = 0
    assert present("mk_abc_def") == 401
    assert trail(ESTATE)[-1][2] == {"reason": "unknown", "address": "10.0.0.1", "not_recorded_before": 24}


def test_whatever_a_stranger_calls_a_key_can_be_recorded(house):
    for kid in ("a\x00b", "\ud800", "\u202e\n", "ü" * 300, "'); --", "{}"):
        refusing.limits.forget()
        assert present(by_hand({"alg": "RS256", "kid": kid}, claims(house))) == 401
    named = [resource for _, resource, _ in trail(ESTATE)]
    assert named[:3] == ["a\\x00b", "\\ud800", "\\u202e\\n"]
    assert (len(named), max(map(len, named))) == (6, 80)


def test_the_memory_of_a_flood_is_bounded(settings):
    settings.REFUSAL_AUDIT_SECONDS, settings.REFUSAL_AUDIT_MOST = 3600, 0
    for number in range(refusing._MOST_GROUPS + 50):
        assert refusing.limits.admit((ESTATE, f"kind {number}", "unknown")) is None
    assert len(refusing.limits._left_out) == refusing._MOST_GROUPS


def test_the_account_hook_challenges_as_well(db):
    answer = Client().post("/api/v1/provisioning/workspaces", data={}, content_type="application/json")
    assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")
    assert answer["WWW-Authenticate"].startswith("Bearer ")
