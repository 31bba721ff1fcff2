"""Machine tokens over HTTP: good ones pass, and everything else is refused with one answer (L1)."""

import base64
import hashlib
import hmac
import json
from uuid import uuid4

import jwt
import pytest

from kernel import clock
from kernel.transactions import in_workspace
from tenancy.models import Workspace
from tenancy.types import WorkspaceStatus
from tests.factories.every import workspace
from tests.tenancy.tokens import EC, ED, OTHER_RSA, RSA, SHARED, by_hand, claims, der, part, pem, sign

READ = "workspace.read email.read"
RS = {"alg": "RS256", "kid": "rsa"}


def now(seconds: float = 0) -> float:
    return int(clock.now().timestamp()) + seconds


@pytest.fixture
def house(db):
    return workspace()


def good(house: Workspace, **changes) -> dict:
    return claims(house, **{"scope": READ} | changes)


# --- what passes --------------------------------------------------------------------------------------------------

PASSING = {
    "aud list": {"aud": ["other", "autonomous-inbox"]},
    "nbf long ago": {"nbf": 1},
    "nbf with a fraction": {"nbf": 1.5},
    "iat with a fraction": {"iat": lambda: now() - 0.5},
    "exp with a fraction": {"exp": lambda: now() + 60.5},
    "ended within the leeway": {"iat": lambda: now(-60), "exp": lambda: now(-5)},
    "issued by a clock that is ahead": {"iat": lambda: now(20), "exp": lambda: now(60)},
    "further claims": {"extra": {"deep": [1]}},
    "another workspace in a claim of its own": {"workspace_id": str(uuid4()), "tenant": "x", "azp": "x"},
    "an unknown scope": {"scope": f"{READ} moon.land openid"},
}


def test_good_tokens_pass_and_act_for_their_workspace(house, server):
    other = workspace("Other")
    for kid in ("rsa", "ec", "ed", "shared"):
        answer = server.with_key(sign(good(house), kid=kid))
        assert (answer.status, answer.body.get("id")) == (200, str(house.id)), kid
    for name, changes in PASSING.items():
        content = good(house, **{key: value() if callable(value) else value for key, value in changes.items()})
        answer = server.with_key(sign(content))
        assert (answer.status, answer.body.get("id")) == (200, str(house.id)), (name, answer.body)
    for kind in ("JWT", "jwt", "at+jwt", "application/at+jwt"):
        assert server.with_key(sign(good(house), typ=kind)).status == 200, kind
    assert server.with_key(sign(good(other))).body["id"] == str(other.id)
    upper = good(house, sub=str(house.external_id).upper())
    assert server.with_key(sign(upper)).body["id"] == str(house.id)


def test_scopes_are_permissions_and_no_more(house, server):
    for scope, path, status in (
        ("workspace.read", "workspace", 200), ("workspace.*", "workspace", 200), ("*", "workspace", 200),
        (None, "workspace", 403), ("", "workspace", 403), ("email.read", "workspace", 403), ("workspace", "workspace", 403),
        ("WORKSPACE.READ", "workspace", 403), ("*.read", "workspace", 403), ("*.*", "machine-keys", 403),
        ("workspace.manage", "machine-keys", 200), ("workspace.read", "machine-keys", 403),
    ):  # fmt: skip
        answer = server.with_key(sign(claims(house, scope=scope)), f"/api/v1/{path}")
        assert answer.status == status, (scope, answer.body)
        if status == 403:
            challenge = answer.headers["www-authenticate"]
            assert f'error="insufficient_scope", scope="{answer.body["permission"]}"' in challenge


# --- what does not: claims ----------------------------------------------------------------------------------------

WRONG_CLAIMS = {
    "no exp": {"exp": None}, "no iat": {"iat": None}, "no iss": {"iss": None}, "no aud": {"aud": None},
    "no sub": {"sub": None}, "no jti": {"jti": None},
    "expired": {"iat": lambda: now(-120), "exp": lambda: now(-60)}, "expired long ago": {"exp": 0}, "exp negative": {"exp": -1},
    "exp too far": {"exp": lambda: now(25 * 3600)}, "exp far": {"exp": 10**12}, "exp huge": {"exp": 10**30},
    "exp of 3000 digits": {"exp": 10**3000}, "exp float huge": {"exp": 1e300}, "exp text": {"exp": "soon"},
    "exp number as text": {"exp": lambda: str(now(60))}, "exp list": {"exp": [1]}, "exp object": {"exp": {}},
    "exp true": {"exp": True}, "exp false": {"exp": False}, "exp is iat": {"exp": now, "iat": now},
    "iat future": {"iat": lambda: now(600), "exp": lambda: now(900)}, "iat text": {"iat": "now"}, "iat true": {"iat": True},
    "iat number as text": {"iat": lambda: str(now())}, "iat list": {"iat": [1]}, "iat long ago": {"iat": 0},
    "iat after exp": {"iat": lambda: now(20), "exp": lambda: now(10)}, "nbf future": {"nbf": lambda: now(600)},
    "nbf text": {"nbf": "x"}, "nbf number as text": {"nbf": "1"}, "nbf true": {"nbf": True}, "nbf list": {"nbf": [1]},
    "iss other": {"iss": "other"}, "iss partial": {"iss": "autonomous"},
    "iss longer": {"iss": "autonomous-inbox.evil"}, "iss case": {"iss": "Autonomous-Inbox"}, "iss empty": {"iss": ""},
    "iss list": {"iss": ["autonomous-inbox"]}, "iss number": {"iss": 1}, "iss object": {"iss": {"autonomous-inbox": 1}},
    "iss slash": {"iss": "autonomous-inbox/"}, "aud other": {"aud": "other"},
    "aud case": {"aud": "Autonomous-inbox"}, "aud partial": {"aud": "autonomous"}, "aud empty": {"aud": ""},
    "aud empty list": {"aud": []}, "aud nested": {"aud": [["autonomous-inbox"]]}, "aud number": {"aud": 1},
    "aud object": {"aud": {"autonomous-inbox": 1}}, "aud list with a number": {"aud": ["autonomous-inbox", 1]},
    "sub unknown": {"sub": str(uuid4())}, "sub text": {"sub": "acme"}, "sub braces": {"sub": f"{{{uuid4()}}}"},
    "sub empty": {"sub": ""}, "sub number": {"sub": 1}, "sub list": {"sub": ["x"]}, "sub sql": {"sub": "' OR 1=1 --"},
    "sub nul": {"sub": "\x00"}, "sub true": {"sub": True}, "jti empty": {"jti": ""}, "jti number": {"jti": 1},
    "jti list": {"jti": ["x"]}, "jti true": {"jti": True}, "jti object": {"jti": {}},
    "jti long": {"jti": "x" * 81}, "jti nul": {"jti": "a\x00b"}, "jti space": {"jti": "a b"}, "jti unicode": {"jti": "ü"},
    "scope list": {"scope": ["*"]}, "scope object": {"scope": {"*": 1}}, "scope true": {"scope": True}, "scope number": {"scope": 1},
    "bound to a certificate that is not here": {"cnf": {"x5t#S256": "x" * 43}}, "bound to a key": {"cnf": {"jkt": "x" * 43}},
    "bound to nothing": {"cnf": {}}, "bound to text": {"cnf": "x"}, "bound to a short one": {"cnf": {"x5t#S256": "x"}},
    "bound to two": {"cnf": {"x5t#S256": "x" * 43, "jkt": "x"}},
}  # fmt: skip

# --- and forgeries ------------------------------------------------------------------------------------------------


def _hmac_with(key: bytes, content: dict, kid: str) -> str:
    """HS256 with a public key as the shared secret, which libraries refuse to make."""
    signed = f"{part({'alg': 'HS256', 'kid': kid})}.{part(content)}"
    return f"{signed}.{part(hmac.digest(key, signed.encode(), hashlib.sha256))}"


def _unsigned(algorithm: object, content: dict, kid: object = "rsa") -> str:
    return f"{part({'alg': algorithm, 'kid': kid})}.{part(content)}."


def _jwk() -> bytes:
    return jwt.algorithms.RSAAlgorithm.to_jwk(RSA.public_key()).encode()


def _as_text(content: dict, name: str, value: str) -> bytes:
    return json.dumps(content).replace(str(content[name]), value).encode()


def _doubled(content: dict, name: str, value: object) -> bytes:
    """The same name twice, of which readers take the first or the last."""
    return json.dumps(content).encode()[:-1] + f', "{name}": {json.dumps(value)}}}'.encode()


JWK = {"kty": "oct", "k": base64.urlsafe_b64encode(b"a" * 32).decode()}
HEADERS = {
    "jwk": JWK, "jku": "https://evil.test/keys", "x5u": "https://evil.test/cert", "x5c": ["MII"], "crit": ["exp"],
    "crit empty": [], "b64": False,
}  # fmt: skip
KIDS = {
    "other": "other", "traversal": "../../dev/null", "sql": "rsa' UNION SELECT 'x", "nul": "rsa\x00", "url": "https://evil.test",
    "array": ["rsa"], "object": {"kid": "rsa"}, "null": None, "number": 1, "true": True, "empty": "", "case": "RSA",
    "space": "rsa ", "long": "x" * 3000,
}  # fmt: skip

FORGERIES = {
    "none": lambda c: _unsigned("none", c),
    "None": lambda c: _unsigned("None", c),
    "nOnE": lambda c: _unsigned("nOnE", c),
    "none, signed": lambda c: by_hand({"alg": "none", "kid": "rsa"}, c),
    "no alg": lambda c: by_hand({"kid": "rsa"}, c),
    "alg null": lambda c: by_hand({"alg": None, "kid": "rsa"}, c),
    "alg list": lambda c: by_hand({"alg": ["RS256"], "kid": "rsa"}, c),
    "alg case": lambda c: by_hand({"alg": "rs256", "kid": "rsa"}, c),
    "signature cut": lambda c: sign(c).rpartition(".")[0] + ".",
    "signature halved": lambda c: sign(c)[:-100],
    "signature of zeros": lambda c: f"{sign(c).rpartition('.')[0]}.{part(bytes(256))}",
    "es signature of zeros": lambda c: f"{sign(c, kid='ec').rpartition('.')[0]}.{part(bytes(64))}",
    "signature of another key": lambda c: sign(c, key=OTHER_RSA),
    "signature of another token": lambda c: f"{sign(c).rpartition('.')[0]}.{sign(c | {'jti': 'x'}).rpartition('.')[2]}",
    "content changed": lambda c: ".".join([sign(c).split(".")[0], part(c | {"scope": "*"}), sign(c).split(".")[2]]),
    "header changed": lambda c: f"{part(RS | {'x': 1})}.{sign(c).partition('.')[2]}",
    "hs with rsa pem": lambda c: _hmac_with(pem(RSA), c, "rsa"),
    "hs with rsa der": lambda c: _hmac_with(der(RSA), c, "rsa"),
    "hs with rsa jwk": lambda c: _hmac_with(_jwk(), c, "rsa"),
    "hs with ec pem": lambda c: _hmac_with(pem(EC), c, "ec"),
    "hs with ed pem": lambda c: _hmac_with(pem(ED), c, "ed"),
    "hs with nothing": lambda c: _hmac_with(b"", c, "rsa"),
    "hs with nothing for the shared key": lambda c: _hmac_with(b"", c, "shared"),
    "hs with the kid": lambda c: _hmac_with(b"rsa", c, "rsa"),
    "hs512 for an hs256 key": lambda c: sign(c, kid="shared", key=SHARED + b"s" * 16, algorithm="HS512"),
    "rs384 for an rs256 key": lambda c: sign(c, algorithm="RS384"),
    "ps256 for an rs256 key": lambda c: sign(c, algorithm="PS256"),
    "es for an rs kid": lambda c: sign(c, kid="rsa", key=EC, algorithm="ES256"),
    "rs for an es kid": lambda c: sign(c, kid="ec", key=RSA, algorithm="RS256"),
    "ed for an es kid": lambda c: sign(c, kid="ec", key=ED, algorithm="EdDSA"),
    "rs for the shared kid": lambda c: sign(c, kid="shared", key=RSA, algorithm="RS256"),
    "wrong type": lambda c: sign(c, typ="id+jwt"),
    "logout token": lambda c: sign(c, typ="logout+jwt"),
    "dpop proof": lambda c: sign(c, typ="dpop+jwt"),
    "type not text": lambda c: by_hand(RS | {"typ": ["JWT"]}, c),
    "four parts": lambda c: sign(c) + ".x",
    "five parts": lambda c: "x.x." + sign(c),
    "two parts": lambda c: sign(c).rpartition(".")[0],
    "empty parts": lambda _: "..",
    "one part": part,
    "padded": lambda c: sign(c) + "==",
    "spaces inside": lambda c: sign(c).replace(".", " ."),
    "quoted": lambda c: f'"{sign(c)}"',
    "plain base64": lambda c: sign(c).replace("-", "+").replace("_", "/") + "+",
    "twice": lambda c: f"{sign(c)},{sign(c)}",
    "json serialisation": lambda c: json.dumps(
        {"payload": part(c), "protected": part({"alg": "RS256"}), "signature": "x"}
    ),
    "header no object": lambda c: by_hand(["alg"], c),
    "header deep": lambda c: f"{part(b'[' * 5000)}.{part(c)}.x",
    "header not utf-8": lambda c: f"{part(bytes([0xFF, 0xFE]))}.{part(c)}.x",
    "header with a byte order mark": lambda c: by_hand(b"\xef\xbb\xbf" + json.dumps(RS).encode(), c),
    "content no object": lambda _: by_hand(RS, ["exp"]),
    "content text": lambda _: by_hand(RS, "hello"),
    "content empty": lambda _: by_hand(RS, b""),
    "content deep": lambda _: by_hand(RS, b'{"a":' + b"[" * 4000),
    "exp infinite": lambda c: by_hand(RS, _as_text(c, "exp", "1e999")),
    "exp not a number": lambda c: by_hand(RS, _as_text(c, "exp", "NaN")),
    "exp infinity": lambda c: by_hand(RS, _as_text(c, "exp", "Infinity")),
    "iat infinite": lambda c: by_hand(RS, _as_text(c, "iat", "-1e999")),
    "sub twice": lambda c: by_hand(RS, _doubled(c, "sub", c["sub"])),
    "scope twice": lambda c: by_hand(RS, _doubled(c, "scope", "*")),
    "exp twice": lambda c: by_hand(RS, _doubled(c, "exp", now(86400 * 365))),
    "alg twice": lambda c: by_hand(_doubled({"kid": "rsa", "alg": "none"}, "alg", "RS256"), c),
    "kid twice": lambda c: by_hand(_doubled({"alg": "RS256", "kid": "other"}, "kid", "rsa"), c),
    "longest": lambda c: sign(c | {"pad": "x" * 9000}),
    "one megabyte": lambda _: "a." + "x" * 1_000_000 + ".y",
    "one megabyte signed": lambda c: sign(c | {"pad": "x" * 1_000_000}),
    **{
        f"header {name}": lambda c, n=name, v=value: by_hand(RS | {n.split()[0]: v}, c)
        for name, value in HEADERS.items()
    },
    **{f"kid {name}": lambda c, v=value: by_hand({"alg": "RS256", "kid": v}, c) for name, value in KIDS.items()},
    "no kid": lambda c: by_hand({"alg": "RS256"}, c),
}


def test_wrong_claims_and_forgeries_are_refused_with_one_answer(house, server, cases):
    told = []
    for name, changes in WRONG_CLAIMS.items():
        content = good(house, **{key: value() if callable(value) else value for key, value in changes.items()})
        answer = server.with_key(by_hand(RS, content))
        assert answer.status == 401, (name, answer)
        told.append((answer.told, answer.headers["www-authenticate"], answer.headers["content-type"]))
    for name, forge in FORGERIES.items():
        answer = server.with_key(forge(good(house)))
        assert answer.status == 401 or (answer.status == 431 and "megabyte" in name), (name, answer)
        if answer.status == 401:
            told.append((answer.told, answer.headers["www-authenticate"], answer.headers["content-type"]))
    assert all(one == told[0] for one in told)
    assert told[0][0]["code"] == "authentication_failed"
    assert 'Bearer realm="autonomous-inbox", error="invalid_token"' in told[0][1]
    assert told[0][2] == "application/problem+json"
    # The guard: the same content, honestly signed, passes.
    assert server.with_key(by_hand(RS, good(house))).status == 200
    cases("L1", len(WRONG_CLAIMS) + len(FORGERIES))


@pytest.mark.parametrize("change", [{"status": WorkspaceStatus.SUSPENDED}, {"deleted_at": clock.now()}])
def test_a_token_of_a_closed_workspace_is_refused_at_once(house, server, change, cases):
    token = sign(good(house))
    assert server.with_key(token).status == 200
    with in_workspace(house.id):
        Workspace.objects.filter(id=house.id).update(**change)
    assert server.with_key(token).status == 401
    cases("L1", 1)


def test_the_header_is_read_strictly(house, server, cases):
    token = sign(good(house))
    refused = [
        [("Authorization", token)], [("Authorization", f"Basic {token}")], [("Authorization", f"Token {token}")],
        [("Authorization", f"Bearer, {token}")], [("Authorization", f"Bearer  {token}")], [("Authorization", "Bearer")],
        [("Authorization", f"Bearer {token} x")], [("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {token}")],
        [("Authorization", f"Bearer {token}"), ("Authorization", "Basic eDp4")], [("Authorization", "Bearer mk_")],
    ]  # fmt: skip
    for headers in refused:
        assert server.ask(headers=headers).status == 401, headers
    assert server.ask(headers=[("authorization", f"bearer {token}")]).status == 200
    nowhere_else = [[("Cookie", f"token={token}")], [("X-Authorization", f"Bearer {token}")], []]
    for headers in nowhere_else:
        answer = server.ask(f"/api/v1/workspace?access_token={token}", headers=headers)
        assert (answer.status, answer.body["code"]) == (401, "not_authenticated")
        assert answer.headers["www-authenticate"] == 'Bearer realm="autonomous-inbox"'
    cases("L1", len(refused) + len(nowhere_else))
