"""A revocation holds at the next request, in every process, and is one query; use is noted, but not at every request."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from kernel import clock
from kernel.transactions import in_workspace
from tenancy.models import MachineKey, RevokedToken
from tenancy.queries import principals
from tenancy.services import authenticating, keys, tokens
from tenancy.tasks import prune_tokens
from tests.factories.every import workspace
from tests.tenancy.certificates import certificate, pem, rfc9440
from tests.tenancy.conftest import HEADER, environment
from tests.tenancy.serving import served
from tests.tenancy.tokens import claims, jwks, sign


@pytest.fixture
def house(db, settings):
    settings.JWT_KEYS = jwks()
    return workspace()


def test_what_one_server_revokes_the_other_refuses_at_once(house, cases):
    """Each credential is used first, on both; then one server is told, and the very next request to the other fails."""
    manage = "workspace.read workspace.manage"
    _, owner = keys.issue(workspace_id=house.id, name="owner", scopes=["*"])
    with served(2, **environment()) as (here, there):
        token, early = sign(claims(house, jti="one", scope=manage)), sign(claims(house, jti="early", scope=manage))
        key = here.post("machine-keys", {"name": "k", "scopes": ["workspace.read"]}, owner).body
        one = certificate()
        registered = here.post(
            "client-certificates", {"name": "c", "certificate": pem(one), "scopes": ["workspace.read"]}, owner
        )
        revocations = [
            (lambda s: s.with_key(token), ("revoked-tokens", {"jti": "one"})),
            (lambda s: s.with_key(key["secret"]), (f"machine-keys/{key['id']}/revoke", {})),
            (lambda s: s.ask(headers=[(HEADER, rfc9440(one))]), (f"client-certificates/{registered.body['id']}/revoke", {})),
            (lambda s: s.with_key(early), ("revoked-tokens/issued-before", {"issued_before": (clock.now() + timedelta(seconds=20)).isoformat()})),
        ]  # fmt: skip
        for use, (path, body) in revocations:
            assert [use(server).status for server in (here, there)] == [200, 200], path
            assert here.post(path, body, owner).status in (200, 201), path
            assert [use(server).status for server in (there, here)] == [401, 401], path
        later = sign(claims(house, iat=int(clock.now().timestamp()) + 25, scope=manage))
        other = sign(claims(house, iat=int(clock.now().timestamp()) + 25, scope=manage), kid="ec")
        assert [there.with_key(text).status for text in (later, other)] == [200, 200]
        tokens.revoke_key(kid="rsa", reason="it was in a backup")
        assert [server.with_key(later).status for server in (there, here)] == [401, 401]
        assert there.with_key(other).status == 200
        assert [server.with_key(owner).status for server in (there, here)] == [200, 200]
    # Two tokens and a signing key, a certificate: each refused by both.
    cases("L1", 3 * 2)
    cases("L2", 2)


def present(text: str) -> int:
    return Client().get("/api/v1/workspace", headers={"Authorization": f"Bearer {text}"}).status_code


def test_revoked_tokens_are_of_one_workspace_and_revoked_once(house):
    other = workspace("Other")
    token, twin = sign(claims(house, jti="one", scope="*")), sign(claims(other, jti="one", scope="*"))
    first = tokens.revoke(workspace_id=house.id, jti="one")
    assert tokens.revoke(workspace_id=house.id, jti="one").id == first.id
    assert (present(token), present(twin)) == (401, 200)


def test_a_cutoff_only_moves_forward(house):
    now = clock.now()
    old, new = claims(house, iat=int(now.timestamp()) - 60, scope="*"), claims(house, scope="*")
    moment = tokens.revoke_issued_before(workspace_id=house.id, moment=now - timedelta(seconds=30))
    assert (present(sign(old)), present(sign(new))) == (401, 200)
    back = tokens.revoke_issued_before(workspace_id=house.id, moment=now - timedelta(hours=1))
    assert back == moment
    assert present(sign(old)) == 401
    with pytest.raises(Exception, match="lies ahead"):
        tokens.revoke_issued_before(workspace_id=house.id, moment=now + timedelta(hours=1))


def test_a_revocation_lasts_as_long_as_its_token_may_pass(house, settings):
    """Tokens pass for the leeway after their end; forgetting the revocation at the end would revive them."""
    at = int(clock.now().timestamp())
    ended = sign(claims(house, jti="one", iat=at - 60, exp=at - 5, scope="*"))
    assert present(ended) == 200
    row = tokens.revoke(workspace_id=house.id, jti="one")
    longest = timedelta(seconds=settings.JWT_MAX_LIFETIME_SECONDS + settings.JWT_LEEWAY_SECONDS)
    assert row.expires_at >= clock.now() + longest - timedelta(seconds=60)
    with in_workspace(house.id):
        RevokedToken.objects.filter(id=row.id).update(expires_at=clock.now() - timedelta(seconds=5))
        old = RevokedToken.objects.create(workspace_id=house.id, jti="old", expires_at=clock.now() - timedelta(hours=1))
    prune_tokens()
    assert present(ended) == 401
    with in_workspace(house.id):
        assert not RevokedToken.objects.filter(id=old.id).exists()


def test_to_authenticate_is_one_query_and_leaves_no_open_fence(house, settings):
    settings.CLIENT_CERT_HEADER, settings.CLIENT_CERT_PROXIES = HEADER, ["127.0.0.1/32"]
    _, secret = keys.issue(workspace_id=house.id, name="shop", scopes=["workspace.read"])
    one = certificate()
    from tenancy.services import certificates

    certificates.register(workspace_id=house.id, pem=pem(one), name="c", scopes=["workspace.read"])
    presented = {
        "machine key": {"HTTP_AUTHORIZATION": f"Bearer {secret}"},
        "token": {"HTTP_AUTHORIZATION": f"Bearer {sign(claims(house))}"},
        "certificate": {f"HTTP_{HEADER.upper()}": rfc9440(one)},
    }
    for kind, meta in presented.items():
        meta["REMOTE_ADDR"] = "127.0.0.1"
        # The first use of a minute is noted.
        authenticating.identify(meta)
        with CaptureQueriesContext(connection) as asked:
            for _ in range(3):
                assert authenticating.identify(meta).workspace_id == house.id
        assert len(asked) == 3, (kind, [query["sql"] for query in asked])
        assert all("_v1(" in query["sql"] for query in asked)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(current_setting('app.all_workspaces', true), ''), (SELECT count(*) FROM tenancy_machinekey)"
        )
        assert cursor.fetchone() == ("", 0)
    # Inside a unit of work the look puts back the scope that it found.
    with in_workspace(house.id):
        principals.of_machine_key(secret, address="")
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT current_setting('app.all_workspaces', true), current_setting('app.workspace_id', true)"
            )
            assert cursor.fetchone() == ("", str(house.id))


def test_use_is_noted_to_the_minute(house):
    key, secret = keys.issue(workspace_id=house.id, name="shop", scopes=["workspace.read"])

    def noted():
        with in_workspace(house.id):
            return MachineKey.objects.get(id=key.id).last_used_at

    assert noted() is None
    present(secret)
    first = noted()
    present(secret)
    assert noted() == first is not None
    with in_workspace(house.id):
        MachineKey.objects.filter(id=key.id).update(last_used_at=first - timedelta(minutes=2))
    present(secret[:-1] + ("a" if secret[-1] != "a" else "b"))
    assert noted() == first - timedelta(minutes=2)
    present(secret)
    assert noted() >= first
