"""The operator's commands: sign a token, register a certificate, revoke anything; and how keys are configured."""

import json
from io import StringIO
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from django.core.management import CommandError, call_command
from django.test import Client

from audit.models import AuditEvent
from config import env
from kernel.context import ESTATE
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tenancy.credentials.keys import SHARED
from tenancy.models import ClientCertificate, MachineKey, RevokedClientCert, RevokedSigningKey, RevokedToken
from tenancy.queries import credentials
from tenancy.services import keys
from tests.factories.every import workspace
from tests.tenancy.certificates import certificate, pem, rfc9440
from tests.tenancy.tokens import EC, ED, RSA, documents, jwks
from tests.tenancy.tokens import pem as public_pem


def private_pem(key) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def signing(folder, **made) -> dict:
    entries = []
    for kid, (algorithm, key) in made.items():
        (folder / f"{kid}.pem").write_bytes(private_pem(key))
        entries.append(f"{kid}:{algorithm}:{folder / f'{kid}.pem'}")
    return env.pem_keys(entries, variable="JWT_SIGNING_KEYS", private=True)


@pytest.fixture
def house(db, settings, tmp_path):
    use(settings, signing(tmp_path, first=("EdDSA", ED), second=("RS256", RSA), third=("ES256", EC)))
    return workspace()


def use(settings, keys_) -> None:
    settings.JWT_SIGNING_KEYS = keys_
    settings.JWT_KEYS = env.verifying_keys({"shared": jwks()["shared"]}, signing=keys_)


def run(name: str, *arguments: object) -> str:
    out = StringIO()
    call_command(name, *map(str, arguments), stdout=out, stderr=StringIO())
    return out.getvalue().strip()


def issue(house, *arguments: object) -> dict:
    return json.loads(run("issue_token", "--workspace", house.ref, "--scopes", "workspace.read", "--json", *arguments))


def present(text: str, **headers: str) -> int:
    given = {"Authorization": f"Bearer {text}"} if text else {}
    return Client().get("/api/v1/workspace", headers=given | headers).status_code


def test_a_token_is_signed_and_acts_within_its_scopes(house):
    for name in (house.ref, house.id, house.external_id):
        assert present(run("issue_token", "--workspace", name, "--scopes", "workspace.read")) == 200
    made = issue(house, "--ttl", 60)
    assert (made["kid"], made["workspace_id"], made["scopes"]) == ("first", str(house.id), ["workspace.read"])
    assert present(made["token"]) == 200
    for kid in ("second", "third", "shared"):
        assert present(issue(house, "--kid", kid)["token"]) == 200
    with in_workspace(house.id):
        event = AuditEvent.objects.filter(action="token.issue", resource_id=made["jti"]).get()
        assert (event.actor_kind, event.actor_id) == ("operator", "issue_token")
        assert OutboxEvent.objects.filter(slug="token.issued").count() == 7
        assert made["token"] not in str(list(AuditEvent.objects.values())) + str(list(OutboxEvent.objects.values()))
    before = OutboxEvent.objects.count()
    assert "Would sign" in run("issue_token", "--workspace", house.ref, "--scopes", "*", "--dry-run")
    assert json.loads(run("issue_token", "--workspace", house.ref, "--scopes", "*", "--dry-run", "--json"))["dry_run"]
    assert OutboxEvent.objects.count() == before


def test_what_cannot_be_signed_is_said(house, settings):
    for arguments, words in (
        (["--workspace", "ws_nobody", "--scopes", "*"], "No workspace"), (["--workspace", uuid4(), "--scopes", "*"], "No workspace"),
        (["--workspace", house.ref, "--scopes", "nope"], "Unknown permissions"), (["--workspace", house.ref, "--scopes", "*", "--ttl", 0], "lives from 1"),
        (["--workspace", house.ref, "--scopes", "*", "--ttl", 86401], "JWT_MAX_LIFETIME_SECONDS"),
        (["--workspace", house.ref, "--scopes", "*", "--kid", "nobody"], "No key 'nobody' signs here"),
    ):  # fmt: skip
        with pytest.raises(CommandError, match=words):
            run("issue_token", *arguments)
    with in_workspace(house.id):
        type(house).objects.filter(id=house.id).update(status="suspended")
    with pytest.raises(CommandError, match="suspended"):
        issue(house)
    settings.JWT_SIGNING_KEYS = {}
    with pytest.raises(CommandError, match="Set JWT_SIGNING_KEYS=kid"):
        issue(house)


def test_keys_rotate_with_an_overlap(house, settings, tmp_path):
    """Put the new key first; take the old one out when its tokens have ended, or revoke it when it leaked."""
    old = issue(house)["token"]
    new = ("EdDSA", ed25519.Ed25519PrivateKey.generate())
    use(settings, signing(tmp_path, new=new, first=("EdDSA", ED)))
    made = issue(house)
    assert (made["kid"], present(made["token"]), present(old)) == ("new", 200, 200)
    shown = json.loads(run("revoke", "signing-key", "--kid", "first", "--reason", "leaked", "--json"))
    assert shown == {"kid": "first", "dry_run": False}
    assert (present(made["token"]), present(old)) == (200, 401)
    assert credentials.problems() == [
        "The key 'first' is revoked but still configured: take it out of JWT_KEYS, JWT_PUBLIC_KEYS or JWT_SIGNING_KEYS."
    ]
    with pytest.raises(CommandError, match="revoked: nothing that it signs"):
        issue(house, "--kid", "first")
    use(settings, signing(tmp_path, new=new))
    assert (present(made["token"]), present(old), credentials.problems()) == (200, 401, [])
    with in_workspace(ESTATE):
        assert AuditEvent.objects.filter(action="signing_key.revoke", resource_id="first").count() == 1


def test_everything_can_be_revoked_from_the_command_line(house, settings, tmp_path):
    made, other = issue(house), issue(house)
    rehearsal = json.loads(
        run("revoke", "token", "--workspace", house.ref, "--jti", made["jti"], "--dry-run", "--json")
    )
    assert rehearsal == {"jti": made["jti"], "dry_run": True}
    assert present(made["token"]) == 200
    assert "Refused from now on: jti" in run("revoke", "token", "--workspace", house.ref, "--jti", made["jti"])
    assert (present(made["token"]), present(other["token"])) == (401, 200)
    ahead = run("revoke", "tokens", "--workspace", house.ref, "--issued-before", "2020-01-01T00:00:00Z")
    assert "2020-01-01" in ahead
    assert present(other["token"]) == 200
    run("revoke", "tokens", "--workspace", house.external_id)
    assert present(other["token"]) == 401

    root, secret = keys.issue(workspace_id=house.id, name="root", scopes=["*"])
    made = Client().post(
        "/api/v1/machine-keys", {"name": "x", "scopes": ["*"]}, "application/json", headers={"Authorization": f"Bearer {secret}"}
    ).json()  # fmt: skip
    shown = json.loads(
        run("revoke", "machine-key", "--workspace", house.ref, "--id", root.id, "--with-issued", "--json")
    )
    assert set(shown["machine_keys"]) == {str(root.id), made["id"]}
    assert (present(secret), present(made["secret"])) == (401, 401)

    settings.CLIENT_CERT_PROXIES = ["127.0.0.1/32"]
    files = []
    for number in range(3):
        one, file = certificate(f"machine {number}"), tmp_path / f"{number}.crt"
        file.write_text(pem(one))
        files.append((one, file))
        arguments = ["--workspace", house.ref, "--pem", file, "--name", f"m{number}", "--scopes", "workspace.read"]
        assert "Would register" in run("register_certificate", *arguments, "--dry-run")
        assert json.loads(run("register_certificate", *arguments, "--dry-run", "--json"))["dry_run"]
        shown = json.loads(run("register_certificate", *arguments, "--json"))
        assert shown["workspace_id"] == str(house.id)
        assert present("", **{"Client-Cert": rfc9440(one)}) == 200
        with pytest.raises(CommandError, match="cannot be registered"):
            run("register_certificate", *arguments)
    run("revoke", "certificate", "--workspace", house.ref, "--pem", files[0][1], "--reason", "lost")
    run(
        "revoke",
        "certificate",
        "--workspace",
        house.ref,
        "--serial",
        f"{files[1][0].serial_number:X}",
        "--issuer",
        "CN=Acme CA",
    )
    with in_workspace(house.id):
        printed = ClientCertificate.objects.get(name="m2").fingerprint
    run("revoke", "certificate", "--fingerprint", bytes(printed).hex(":").upper())
    assert [present("", **{"Client-Cert": rfc9440(one)}) for one, _ in files] == [401, 401, 401]
    with in_workspace(house.id):
        assert not ClientCertificate.objects.filter(revoked_at=None).exists()
        assert (RevokedClientCert.objects.count(), RevokedToken.objects.count()) == (2, 1)
        actors = set(AuditEvent.objects.filter(action__contains="revoke").values_list("actor_kind", "actor_id"))
        assert actors == {("operator", "revoke")}
    with in_workspace(ESTATE):
        assert RevokedClientCert.objects.count() == 1


def test_mistakes_at_the_command_line_change_nothing(house, tmp_path):
    key, _ = keys.issue(workspace_id=house.id, name="k", scopes=["*"])
    other = workspace("Other")
    nothing, text = tmp_path / "gone.pem", tmp_path / "text.pem"
    text.write_text("hello")
    for arguments in (
        ["token", "--workspace", house.ref, "--jti", ""], ["token", "--workspace", "ws_x", "--jti", "a"],
        ["tokens", "--workspace", house.ref, "--issued-before", "tomorrow"], ["machine-key", "--workspace", other.ref, "--id", key.id],
        ["certificate", "--workspace", house.ref], ["certificate", "--serial", "1"], ["certificate", "--pem", nothing],
        ["certificate", "--pem", text], ["certificate", "--fingerprint", "xx"], ["certificate", "--fingerprint", "00"],
        ["signing-key", "--kid", ""], ["signing-key", "--kid", "ü"], ["machine-key", "--workspace", house.ref, "--id", "x"],
    ):  # fmt: skip
        with pytest.raises(CommandError):
            run("revoke", *arguments)
    for pem_file in (nothing, text):
        with pytest.raises(CommandError):
            run("register_certificate", "--workspace", house.ref, "--pem", pem_file, "--name", "x", "--scopes", "*")
    with in_workspace(house.id):
        assert MachineKey.objects.get().revoked_at is None
        assert not RevokedToken.objects.exists()
    assert not RevokedSigningKey.objects.exists()


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "{}", '{"keys": 1}', '{"keys": [1]}', '{"keys": [{"kty": "oct", "k": "c2hvcnQ", "kid": "a", "alg": "HS256"}]}',
     '{"keys": [{"kty": "oct", "k": "eA", "alg": "HS256"}]}', '{"keys": [{"kty": "oct", "k": "eA", "kid": "a", "alg": "none"}]}',
     '{"keys": [{"kty": "oct", "k": "eA", "kid": "a"}]}', '{"keys": [{"kty": "RSA", "kid": "a", "alg": "RS512"}]}'],
)  # fmt: skip
def test_unsafe_key_sets_are_refused_at_start(text):
    with pytest.raises(env.ConfigurationError):
        env.jwt_keys(text)


def test_keys_from_files_are_for_one_algorithm_and_one_name(tmp_path):
    public, secret = tmp_path / "public.pem", tmp_path / "private.pem"
    public.write_bytes(public_pem(RSA))
    secret.write_bytes(private_pem(RSA))
    (found,) = env.pem_keys([f"main:RS256:{public}"], variable="JWT_PUBLIC_KEYS").values()
    assert (found.kid, found.algorithm) == ("main", "RS256")
    for entry, private in (
        (f"main:ES256:{public}", False), (f"main:{SHARED}:{public}", False), (f"main:none:{public}", False), (f"main:RS256:{secret}", False),
        (f":RS256:{public}", False), ("main:RS256", False), (f"main:RS256:{public}", True), (f"main:EdDSA:{secret}", True),
    ):  # fmt: skip
        with pytest.raises(env.ConfigurationError):
            env.pem_keys([entry], variable="JWT_PUBLIC_KEYS", private=private)
    with pytest.raises(env.ConfigurationError, match="same kid"):
        env.verifying_keys(env.jwt_keys(json.dumps(documents())), {"x": jwks()["rsa"]}, signing={})
