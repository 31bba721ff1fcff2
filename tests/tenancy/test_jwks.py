"""The key set of an identity provider: a real server that rotates, fails, redirects, floods and lies."""

import json
import threading

import pytest
from django.test import Client
from jwt.algorithms import RSAAlgorithm
from werkzeug import Response

from tenancy.credentials import jwks
from tenancy.queries import credentials
from tests.agents.forking import wait_until
from tests.factories.every import workspace
from tests.tenancy.tokens import ED, OTHER_RSA, RSA, claims, documents, sign
from tests.tenancy.tokens import jwks as configured


@pytest.fixture
def house(db, settings):
    settings.JWT_KEYS = {}
    return workspace()


class Provider:
    """What the server answers, and how often it was asked."""

    def __init__(self, server):
        self.server, self.asked, self.keys, self.answer, self.open = server, 0, [], None, threading.Event()
        self.open.set()
        server.expect_request("/keys").respond_with_handler(self._handle)
        self.url = self.at("/keys")

    def at(self, path):
        """By address: the guarded client calls no `localhost`."""
        return f"http://127.0.0.1:{self.server.port}{path}"

    def _handle(self, request):
        self.asked += 1
        self.open.wait(timeout=20)
        return self.answer or Response(json.dumps({"keys": self.keys}), content_type="application/jwk-set+json")


@pytest.fixture
def provider(httpserver, settings):
    one = Provider(httpserver)
    one.keys = [document("rsa")]
    settings.JWT_JWKS_URL = one.url
    settings.JWT_JWKS_COOLDOWN_SECONDS = 0
    jwks.of.cache_clear()
    yield one
    jwks.of.cache_clear()


def document(of: str, /, **changes) -> dict:
    found = next(key for key in documents()["keys"] if key["kid"] == of)
    return {name: value for name, value in (found | changes).items() if value is not None}


def present(text: str) -> int:
    return Client().get("/api/v1/workspace", headers={"Authorization": f"Bearer {text}"}).status_code


def token(house, **options) -> str:
    return sign(claims(house, scope="workspace.read"), **options)


def test_keys_are_fetched_once_and_again_for_an_unknown_name(house, provider):
    assert [present(token(house)) for _ in range(3)] == [200, 200, 200]
    assert provider.asked == 1
    # A rotation: the new key is found at its first token, while the old one goes on.
    provider.keys = [document("rsa"), document("ed", kid="new")]
    assert present(token(house, kid="new", key=ED, algorithm="EdDSA")) == 200
    assert present(token(house)) == 200
    assert provider.asked == 2
    # The alg of a key that names none is the only one that its type is used for.
    provider.keys = [document("ec", alg=None)]
    assert present(token(house, kid="ec")) == 200
    # What the provider took out is gone.
    assert present(token(house)) == 401


def test_made_up_names_do_not_turn_us_against_the_provider(house, provider, settings):
    assert present(token(house)) == 200
    settings.JWT_JWKS_COOLDOWN_SECONDS = 60
    for number in range(20):
        assert present(token(house, kid=f"made-up-{number}", key=RSA, algorithm="RS256")) == 401
    assert provider.asked == 1
    assert present(token(house)) == 200


def test_while_the_provider_fails_its_last_keys_are_good_for_a_while(house, provider, settings):
    assert present(token(house)) == 200
    provider.answer = Response("down", status=503)
    settings.JWT_JWKS_SECONDS = 0
    assert [present(token(house)) for _ in range(3)] == [200, 200, 200]
    wait_until(lambda: provider.asked >= 2)
    settings.JWT_JWKS_STALE_SECONDS = 0
    assert present(token(house)) == 401
    provider.answer = None
    settings.JWT_JWKS_STALE_SECONDS = 60
    assert present(token(house)) == 200


def test_old_keys_are_renewed_beside_the_requests(house, provider, settings):
    """Nobody waits for a slow provider whose keys we have."""
    assert present(token(house)) == 200
    settings.JWT_JWKS_SECONDS = 0
    provider.open.clear()
    assert [present(token(house)) for _ in range(3)] == [200, 200, 200]
    provider.keys = [document("ed", kid="other")]
    provider.open.set()
    settings.JWT_JWKS_SECONDS = 60
    wait_until(lambda: jwks.of(provider.url).find("other") is not None)
    assert present(token(house)) == 401


def test_many_who_wait_are_one_request(house, provider, settings):
    settings.JWT_JWKS_COOLDOWN_SECONDS = 60
    provider.open.clear()
    found = []
    threads = [threading.Thread(target=lambda: found.append(jwks.of(provider.url).find("rsa"))) for _ in range(12)]
    for thread in threads:
        thread.start()
    wait_until(lambda: provider.asked == 1)
    provider.open.set()
    for thread in threads:
        thread.join()
    assert (len(found), all(found), provider.asked) == (12, True, 1)


def test_what_is_no_key_set_gives_no_keys(house, provider):
    keys = [document("rsa")]
    elsewhere = []
    provider.server.expect_request("/elsewhere").respond_with_handler(
        lambda _: elsewhere.append(1) or Response(json.dumps({"keys": keys}))
    )
    answers = [
        Response(status=302, headers={"Location": provider.at("/elsewhere")}), Response("not json"), Response("[]"),
        Response('{"keys": {}}'), Response('{"keys": []}'), Response('{"keys": [1, null, "x", [], {}]}'), Response(status=204),
        Response("denied", status=403), Response(json.dumps({"keys": keys, "pad": "x" * 70_000})),
        Response(json.dumps({"keys": [document("rsa", kid=f"k{n}") for n in range(51)]})),
        Response(json.dumps({"keys": keys}).encode("utf-16")), Response("[" * 60_000),
    ]  # fmt: skip
    for number, answer in enumerate(answers, 1):
        jwks.of.cache_clear()
        provider.answer = answer
        assert present(token(house)) == 401
        assert provider.asked == number
        assert elsewhere == []
    assert any("JWT_JWKS_URL" in problem for problem in credentials.problems())
    provider.answer = Response(json.dumps({"keys": keys}))
    assert present(token(house)) == 200
    assert credentials.problems() == []


def test_unusable_keys_are_left_out_and_the_others_are_used(house, provider):
    private = RSAAlgorithm.to_jwk(OTHER_RSA, as_dict=True) | {"kid": "private", "alg": "RS256"}
    provider.keys = [
        document("rsa"), document("shared"), private, document("rsa", kid=None), document("rsa", kid=""),
        document("rsa", kid=7), document("rsa", kid="x" * 300), document("rsa", kid="enc", use="enc"),
        document("rsa", kid="ops", key_ops=["sign"]), document("rsa", kid="none", alg="none"), document("rsa", kid="hs", alg="HS256"),
        document("rsa", kid="ps", alg="PS256"), document("rsa", kid="es", alg="ES256"), document("ec", kid="curve", crv="P-384"),
        document("ec", kid="point", x="AAAA"), document("rsa", kid="weak", n="AQAB"), document("rsa", kid="no n", n=None),
        document("ed", kid="twice"), document("rsa", kid="twice"),
    ]  # fmt: skip
    assert set(jwks.fetch(provider.url)) == {"rsa"}
    assert present(token(house)) == 200
    assert present(token(house, kid="private", key=OTHER_RSA, algorithm="RS256")) == 401
    assert present(token(house, kid="shared")) == 401
    assert present(token(house, kid="twice", key=RSA, algorithm="RS256")) == 401


def test_configured_keys_come_first_and_the_guarded_client_is_used(house, provider, settings):
    settings.JWT_KEYS = configured()
    provider.keys = [RSAAlgorithm.to_jwk(OTHER_RSA.public_key(), as_dict=True) | {"kid": "rsa"}]
    assert present(token(house)) == 200
    assert present(token(house, key=OTHER_RSA)) == 401
    assert provider.asked == 0
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    with pytest.raises(jwks.Unavailable, match="is not called"):
        jwks.fetch(provider.url)
