"""Machines that call: good tokens and keys pass, and everything else is refused with one answer (L1)."""

import base64
import hashlib
import hmac
import json
from datetime import timedelta
from uuid import uuid4

import pytest
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.test import APIRequestFactory

from config import env
from kernel import clock
from kernel.errors import Invalid, NotFound
from kernel.transactions import in_workspace
from tenancy.authentication import _REFUSED, MachineAuthentication
from tenancy.models import MachineKey, RevokedToken, Workspace
from tenancy.services import keys
from tenancy.tasks import prune_tokens
from tenancy.types import WorkspaceStatus
from tests.factories.every import workspace
from tests.tenancy.tokens import EC, ED, OTHER_RSA, RSA, SHARED, by_hand, claims, der, jwks, part, pem, sign


@pytest.fixture
def house(db, settings):
    settings.JWT_KEYS = jwks()
    return workspace()


def present(credential: str, *, scheme: str = "Bearer"):
    request = APIRequestFactory().get("/", headers={"Authorization": f"{scheme} {credential}".strip()})
    return MachineAuthentication().authenticate(request)


def refused(credential: str, **options) -> bool:
    try:
        return present(credential, **options) is None
    except AuthenticationFailed as error:
        return str(error.detail) == _REFUSED  # one answer, whatever was wrong


# --- tokens -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kid", ["rsa", "ec", "ed", "shared"])
def test_a_good_token_passes(house, kid):
    principal, _ = present(sign(claims(house, jti="token-1"), kid=kid))
    assert principal.workspace_id == house.id
    assert (principal.actor.kind, principal.actor.id) == ("token", "token-1")
    assert principal.permissions == {"email.read", "thread.read"}


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": ["other", "autonomous-inbox"]},
        {"nbf": 1},
        {"scope": None},
        {"extra": {"deep": [1]}},
        {"workspace_id": "x"},
    ],
)
def test_further_claims_do_not_hurt_and_do_not_help(house, changes):
    principal, _ = present(sign(claims(house, **changes)))
    assert principal.workspace_id == house.id


@pytest.mark.parametrize("kind", ["JWT", "jwt", "at+jwt", "application/at+jwt"])
def test_access_tokens_may_say_that_they_are(house, kind):
    assert present(sign(claims(house), typ=kind))


def now(seconds: float = 0) -> float:
    return int(clock.now().timestamp()) + seconds


WRONG_CLAIMS = {
    "no exp": {"exp": None}, "no iat": {"iat": None}, "no iss": {"iss": None}, "no aud": {"aud": None},
    "no sub": {"sub": None}, "no jti": {"jti": None},
    "expired": {"exp": lambda: now(-60)}, "expired long ago": {"exp": 0}, "exp negative": {"exp": -1},
    "exp too far": {"exp": lambda: now(25 * 3600)}, "exp far": {"exp": 10**12}, "exp huge": {"exp": 10**30},
    "exp float huge": {"exp": 1e300}, "exp text": {"exp": "soon"}, "exp number as text": {"exp": lambda: str(now(60))},
    "exp list": {"exp": [1]}, "exp object": {"exp": {}}, "exp true": {"exp": True}, "exp false": {"exp": False},
    "iat future": {"iat": lambda: now(600), "exp": lambda: now(900)}, "iat text": {"iat": "now"}, "iat true": {"iat": True},
    "iat after exp": {"iat": lambda: now(20), "exp": lambda: now(10)}, "nbf future": {"nbf": lambda: now(600)},
    "nbf text": {"nbf": "x"}, "iss other": {"iss": "other"}, "iss partial": {"iss": "autonomous"},
    "iss longer": {"iss": "autonomous-inbox.evil"}, "iss case": {"iss": "Autonomous-Inbox"}, "iss empty": {"iss": ""},
    "iss list": {"iss": ["autonomous-inbox"]}, "iss number": {"iss": 1}, "aud other": {"aud": "other"},
    "aud case": {"aud": "Autonomous-inbox"}, "aud partial": {"aud": "autonomous"}, "aud empty": {"aud": ""},
    "aud empty list": {"aud": []}, "aud nested": {"aud": [["autonomous-inbox"]]}, "aud number": {"aud": 1},
    "aud object": {"aud": {"autonomous-inbox": 1}}, "sub unknown": {"sub": str(uuid4())}, "sub text": {"sub": "acme"},
    "sub empty": {"sub": ""}, "sub number": {"sub": 1}, "sub list": {"sub": ["x"]}, "sub sql": {"sub": "' OR 1=1 --"},
    "sub nul": {"sub": "\x00"}, "jti empty": {"jti": ""}, "jti number": {"jti": 1}, "jti list": {"jti": ["x"]},
    "jti long": {"jti": "x" * 81}, "jti nul": {"jti": "a\x00b"}, "jti space": {"jti": "a b"}, "jti unicode": {"jti": "ü"},
    "scope list": {"scope": ["*"]}, "scope object": {"scope": {"*": 1}},
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_CLAIMS)
def test_wrong_claims_are_refused(house, name):
    changes = {key: value() if callable(value) else value for key, value in WRONG_CLAIMS[name].items()}
    content = claims(house, **changes)
    assert refused(by_hand({"alg": "RS256", "kid": "rsa"}, content))


def _hmac_with(key: bytes, content: dict, kid: str) -> str:
    """HS256 with a public key as the shared secret, which libraries refuse to make."""
    signed = f"{part({'alg': 'HS256', 'kid': kid})}.{part(content)}"
    return f"{signed}.{part(hmac.digest(key, signed.encode(), hashlib.sha256))}"


def _unsigned(algorithm: object, content: dict, kid: object = "rsa") -> str:
    return f"{part({'alg': algorithm, 'kid': kid})}.{part(content)}."


JWK = {"kty": "oct", "k": base64.urlsafe_b64encode(b"a" * 32).decode()}
HEADERS = {
    "jwk": JWK, "jku": "https://evil.test/keys", "x5u": "https://evil.test/cert", "x5c": ["MII"],
    "crit": ["exp"], "b64": False,
}  # fmt: skip
KIDS = {
    "other": "other", "traversal": "../../dev/null", "sql": "rsa' UNION SELECT 'x", "nul": "rsa\x00", "url": "https://evil.test",
    "array": ["rsa"], "object": {"kid": "rsa"}, "null": None, "number": 1, "true": True, "empty": "", "case": "RSA",
    "space": "rsa ",
}  # fmt: skip

FORGERIES = {
    "none": lambda c: _unsigned("none", c),
    "None": lambda c: _unsigned("None", c),
    "nOnE": lambda c: _unsigned("nOnE", c),
    "no alg": lambda c: f"{part({'kid': 'rsa'})}.{part(c)}.",
    "alg null": lambda c: _unsigned(None, c),
    "alg list": lambda c: _unsigned(["RS256"], c),
    "signature cut": lambda c: sign(c).rpartition(".")[0] + ".",
    "signature of another key": lambda c: sign(c, key=OTHER_RSA),
    "signature of another token": lambda c: f"{sign(c).rpartition('.')[0]}.{sign(c | {'jti': 'x'}).rpartition('.')[2]}",
    "content changed": lambda c: ".".join([sign(c).split(".")[0], part(c | {"scope": "*"}), sign(c).split(".")[2]]),
    "hs with rsa pem": lambda c: _hmac_with(pem(RSA), c, "rsa"),
    "hs with rsa der": lambda c: _hmac_with(der(RSA), c, "rsa"),
    "hs with ec pem": lambda c: _hmac_with(pem(EC), c, "ec"),
    "hs with ed pem": lambda c: _hmac_with(pem(ED), c, "ed"),
    "hs with nothing": lambda c: _hmac_with(b"", c, "rsa"),
    "hs with the kid": lambda c: _hmac_with(b"rsa", c, "rsa"),
    "hs512 for an hs256 key": lambda c: sign(c, kid="shared", key=SHARED + b"s" * 16, algorithm="HS512"),
    "rs384 for an rs256 key": lambda c: sign(c, algorithm="RS384"),
    "ps256 for an rs256 key": lambda c: sign(c, algorithm="PS256"),
    "es for an rs kid": lambda c: sign(c, kid="rsa", key=EC, algorithm="ES256"),
    "rs for an es kid": lambda c: sign(c, kid="ec", key=RSA, algorithm="RS256"),
    "ed for an es kid": lambda c: sign(c, kid="ec", key=ED, algorithm="EdDSA"),
    "wrong type": lambda c: sign(c, typ="id+jwt"),
    "logout token": lambda c: sign(c, typ="logout+jwt"),
    "type not text": lambda c: by_hand({"alg": "RS256", "kid": "rsa", "typ": ["JWT"]}, c),
    "four parts": lambda c: sign(c) + ".x",
    "two parts": lambda c: sign(c).rpartition(".")[0],
    "empty parts": lambda _: "..",
    "one part": part,
    "padded": lambda c: sign(c) + "==",
    "spaces inside": lambda c: sign(c).replace(".", " ."),
    "quoted": lambda c: f'"{sign(c)}"',
    "json serialisation": lambda c: json.dumps(
        {"payload": part(c), "protected": part({"alg": "RS256"}), "signature": "x"}
    ),
    "header no object": lambda c: by_hand(["alg"], c),
    "header deep": lambda c: f"{part(b'[' * 5000)}.{part(c)}.x",
    "header not utf-8": lambda c: f"{part(bytes([0xFF, 0xFE]))}.{part(c)}.x",
    "content no object": lambda _: by_hand({"alg": "RS256", "kid": "rsa"}, ["exp"]),
    "content text": lambda _: by_hand({"alg": "RS256", "kid": "rsa"}, "hello"),
    "content empty": lambda _: by_hand({"alg": "RS256", "kid": "rsa"}, b""),
    "content deep": lambda _: by_hand({"alg": "RS256", "kid": "rsa"}, b'{"a":' + b"[" * 4000),
    "exp infinite": lambda c: by_hand(
        {"alg": "RS256", "kid": "rsa"}, json.dumps(c).replace(str(c["exp"]), "1e999").encode()
    ),
    "exp not a number": lambda c: by_hand(
        {"alg": "RS256", "kid": "rsa"}, json.dumps(c).replace(str(c["exp"]), "NaN").encode()
    ),
    "iat infinite": lambda c: by_hand(
        {"alg": "RS256", "kid": "rsa"}, json.dumps(c).replace(str(c["iat"]), "-1e999").encode()
    ),
    "longest": lambda c: sign(c | {"pad": "x" * 9000}),
    "one megabyte": lambda _: "a." + "x" * 1_000_000 + ".y",
    "one megabyte signed": lambda c: sign(c | {"pad": "x" * 1_000_000}),
    **{
        f"header {name}": lambda c, n=name, v=value: by_hand({"alg": "RS256", "kid": "rsa", n: v}, c)
        for name, value in HEADERS.items()
    },
    **{f"kid {name}": lambda c, v=value: by_hand({"alg": "RS256", "kid": v}, c) for name, value in KIDS.items()},
    "no kid": lambda c: by_hand({"alg": "RS256"}, c),
}


def test_there_are_enough_negatives():
    assert len(FORGERIES) + len(WRONG_CLAIMS) >= 90


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_and_malformed_tokens_are_refused(house, name):
    assert refused(FORGERIES[name](claims(house)))


@pytest.mark.parametrize("change", [{"status": WorkspaceStatus.SUSPENDED}, {"deleted_at": clock.now()}])
def test_a_token_of_a_closed_workspace_is_refused_at_once(house, change):
    token = sign(claims(house))
    _, secret = keys.issue(workspace_id=house.id, name="shop", scopes=["*"])
    assert present(token)
    assert present(secret)
    with in_workspace(house.id):
        Workspace.objects.filter(id=house.id).update(**change)
    assert refused(token)
    assert refused(secret)


def test_a_revoked_token_is_refused_at_the_next_request_and_only_in_its_workspace(house):
    other = workspace("Other")
    token, twin = sign(claims(house, jti="one")), sign(claims(other, jti="one"))
    assert present(token)
    with in_workspace(house.id):
        RevokedToken.objects.create(workspace_id=house.id, jti="one", expires_at=clock.now() + timedelta(hours=1))
    assert refused(token)
    assert present(twin)


def test_a_revocation_lasts_as_long_as_its_token_may_pass(house):
    """Tokens pass for the leeway after their end; forgetting the revocation at the end would revive them."""
    ended = sign(claims(house, jti="one", iat=now(-60), exp=now(-5)))
    assert present(ended)
    with in_workspace(house.id):
        RevokedToken.objects.create(workspace_id=house.id, jti="one", expires_at=clock.now() - timedelta(seconds=5))
        old = RevokedToken.objects.create(workspace_id=house.id, jti="old", expires_at=clock.now() - timedelta(hours=1))
    prune_tokens()
    assert refused(ended)
    with in_workspace(house.id):
        assert not RevokedToken.objects.filter(id=old.id).exists()


def test_two_tokens_of_one_workspace_are_one_account(house):
    first, second = present(sign(claims(house)))[0], present(sign(claims(house)))[0]
    assert first.pk == second.pk
    assert first.actor != second.actor


@pytest.mark.parametrize(
    "text",
    ["{", '{"keys": [{"kty": "oct", "k": "c2hvcnQ", "kid": "a", "alg": "HS256"}]}', '{"keys": [{"kty": "oct", "k": "eA", "alg": "HS256"}]}',
     '{"keys": [{"kty": "oct", "k": "eA", "kid": "a", "alg": "none"}]}', '{"keys": [{"kty": "oct", "k": "eA", "kid": "a"}]}'],
)  # fmt: skip
def test_unsafe_key_sets_are_refused_at_start(text):
    with pytest.raises((env.ConfigurationError, ValueError)):
        env.jwt_keys(text)


# --- machine keys ---------------------------------------------------------------------------------------------------


def test_a_machine_key_acts_within_its_scopes(house):
    key, secret = keys.issue(workspace_id=house.id, name="shop", scopes=["email.read", "thread.*"])
    principal, _ = present(secret)
    assert (principal.workspace_id, principal.actor.kind, principal.actor.id) == (house.id, "machine_key", str(key.id))
    assert principal.allows("email.read")
    assert principal.allows("thread.manage")
    assert not principal.allows("email.create")


def test_only_a_hash_of_the_secret_is_kept(house):
    key, secret = keys.issue(workspace_id=house.id, name="shop", scopes=["*"])
    with in_workspace(house.id):
        row = MachineKey.objects.values().get(id=key.id)
    assert secret.rpartition("_")[2] not in str(row)
    assert secret not in repr(key)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-1],
        lambda text: text + "x",
        lambda text: text[:-1] + ("a" if text[-1] != "a" else "b"),
        lambda text: text.replace("mk_", "mk_z", 1),
        lambda text: text.rsplit("_", 1)[0],
        lambda text: "_".join(text.split("_")[:2]) + "_",
        lambda text: text.upper(),
        lambda text: text.replace("_", "__", 1),
        lambda _: "mk_",
        lambda _: "mk__",
        lambda _: "mk_a_b",
        lambda _: "mk_\x00_b",
        lambda _: "mk_%_b",
        lambda _: "mk_é_b",
        lambda text: text + "\x00",
        lambda text: "mk_" + "x" * 9000,
    ],
)
def test_wrong_keys_are_refused(house, change):
    _, secret = keys.issue(workspace_id=house.id, name="shop", scopes=["*"])
    assert refused(change(secret))
    assert present(secret)


@pytest.mark.parametrize("scheme", ["Basic", "Token", "Bearer,", "mk"])
def test_other_schemes_are_refused(house, scheme):
    _, secret = keys.issue(workspace_id=house.id, name="shop", scopes=["*"])
    assert refused(secret, scheme=scheme)
    assert present(secret, scheme="bearer")


def test_an_empty_credential_is_refused_and_none_at_all_is_anonymous(house):
    assert refused("")
    assert MachineAuthentication().authenticate(APIRequestFactory().get("/")) is None


def test_revoked_and_expired_keys_end_at_the_next_request(house):
    key, secret = keys.issue(workspace_id=house.id, name="shop", scopes=["*"])
    _, brief = keys.issue(
        workspace_id=house.id, name="old", scopes=["*"], expires_at=clock.now() + timedelta(seconds=60)
    )
    assert present(secret)
    assert present(brief)
    keys.revoke(workspace_id=house.id, key_id=key.id)
    with in_workspace(house.id):
        MachineKey.objects.filter(name="old").update(expires_at=clock.now())
    assert refused(secret)
    assert refused(brief)
    with pytest.raises(NotFound):
        keys.revoke(workspace_id=house.id, key_id=key.id)
    with pytest.raises(NotFound):
        keys.revoke(workspace_id=workspace("Other").id, key_id=key.id)


@pytest.mark.parametrize("scopes", [["nope.read"], ["email"], ["nope.*"], [""], ["email.read", "**"], ["*.read"]])
def test_keys_are_issued_for_known_permissions_only(house, scopes):
    with pytest.raises(Invalid):
        keys.issue(workspace_id=house.id, name="shop", scopes=scopes)
