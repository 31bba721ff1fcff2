"""Credentials in the console: issued, rotated and revoked by who may, and no further than they may."""

from django.test import Client
from django.urls import reverse

from audit.models import AuditEvent
from kernel.transactions import in_workspace
from tenancy.models import ClientCertificate, MachineKey, RevokedClientCert, RevokedSigningKey, RevokedToken
from tests.console import seed
from tests.console.conftest import signed_in
from tests.tenancy.certificates import certificate, pem

KEYS = "/console/tenancy/machinekey/"
BLANK_END = {"expires_at_0": "", "expires_at_1": ""}


def secret_of(response) -> str:
    return response.content.decode().partition("data-secret>")[2].partition("<")[0]


def works(secret: str) -> bool:
    return Client().get("/api/v1/workspace", headers={"Authorization": f"Bearer {secret}"}).status_code == 200


def act(client, page: str, action: str, *rows) -> object:
    return client.post(
        page, {"action": action, "_selected_action": [str(row.pk) for row in rows], "index": "0"}, follow=True
    )


def test_a_key_is_issued_rotated_and_revoked(mika, world):
    body = {"name": "CI", "scopes": ["workspace.read"], "allowed_networks": "127.0.0.0/8\n203.0.113.0/24"} | BLANK_END
    first = secret_of(mika.post(f"{KEYS}add/", body))
    with in_workspace(world.workspace.id):
        key = MachineKey.objects.get(name="CI")
    assert key.allowed_networks == ["127.0.0.0/8", "203.0.113.0/24"]
    assert (key.issued_by_kind, key.issued_by_label) == ("user", "Mika Lindgren")
    assert works(first)
    second = secret_of(act(mika, KEYS, "rotate", key))
    assert second.startswith("mk_")
    assert (works(first), works(second)) == (True, True)
    page = mika.get(KEYS).content.decode()
    assert first not in page
    assert second not in page
    assert b"ended" in act(mika, KEYS, "revoke_with_issued", key).content
    assert (works(first), works(second)) == (False, False)
    assert b"revoked for good" in act(mika, KEYS, "rotate", key).content
    bad = mika.post(f"{KEYS}add/", body | {"allowed_networks": "everywhere"})
    assert b"is not a network" in bad.content
    assert mika.get(reverse("admin:tenancy_machinekey_change", args=[key.pk])).status_code == 200


def test_nobody_learns_the_secret_of_a_mightier_key(mika, world):
    first = secret_of(
        mika.post(f"{KEYS}add/", {"name": "Mighty", "scopes": ["email.send"], "allowed_networks": ""} | BLANK_END)
    )
    user = seed.person("keys@x.example")
    seed.member(user, world.workspace, "workspace.read", "workspace.manage")
    with in_workspace(world.workspace.id):
        key = MachineKey.objects.get(name="Mighty")
    refused = act(signed_in(user), KEYS, "rotate", key)
    assert b"email.send" in refused.content
    assert secret_of(refused) == ""
    with in_workspace(world.workspace.id):
        assert MachineKey.objects.get(name="Mighty").previous_hash is None
    assert first.startswith("mk_")


def test_a_certificate_is_registered_and_revoked(mika, world):
    page = "/console/tenancy/clientcertificate/"
    body = {"name": "Shop", "certificate": pem(certificate()), "scopes": ["workspace.read"]}
    assert b"Shop" in mika.post(f"{page}add/", body, follow=True).content
    assert b"cannot be registered here" in mika.post(f"{page}add/", body).content
    assert b"not one certificate in PEM" in mika.post(f"{page}add/", body | {"certificate": "x"}).content
    with in_workspace(world.workspace.id):
        row = ClientCertificate.objects.get()
    assert mika.get(reverse("admin:tenancy_clientcertificate_change", args=[row.pk])).status_code == 200
    assert b"ended" in act(mika, page, "revoke", row).content
    denials = "/console/tenancy/revokedclientcert/"
    assert b"SHA-256" in mika.get(denials).content
    body = {"certificate": "", "serial": "0A:1B", "issuer": "CN=Acme CA", "reason": "lost"}
    assert b"serial a1b" in mika.post(f"{denials}add/", body, follow=True).content
    assert b"Name the certificate" in mika.post(f"{denials}add/", body | {"issuer": ""}).content
    with in_workspace(world.workspace.id):
        row.refresh_from_db()
        assert row.state == "revoked"
        assert RevokedClientCert.objects.count() == 2
        for denial in RevokedClientCert.objects.all():
            assert mika.get(reverse("admin:tenancy_revokedclientcert_change", args=[denial.pk])).status_code == 200


def test_tokens_are_revoked_one_or_all(mika, world):
    page = "/console/tenancy/revokedtoken/"
    assert b"Refused from now on: leaked-1" in mika.post(f"{page}add/", {"jti": "leaked-1"}, follow=True).content
    assert b"visible ASCII" in mika.post(f"{page}add/", {"jti": ""}).content
    assert b"every token until now" in mika.post(f"{page}add/", {"jti": "", "every": "on"}, follow=True).content
    with in_workspace(world.workspace.id):
        row = RevokedToken.objects.get()
        world.workspace.refresh_from_db()
        assert world.workspace.tokens_valid_from is not None
        who = AuditEvent.objects.filter(action="token.revoke_all").values_list("actor_kind", "actor_label").get()
    assert who == ("user", "Mika Lindgren")
    assert mika.get(reverse("admin:tenancy_revokedtoken_change", args=[row.pk])).status_code == 200


def test_only_who_runs_the_installation_revokes_its_signing_keys(mika, world):
    page = "/console/tenancy/revokedsigningkey/"
    assert mika.get(page).status_code == 403
    assert mika.post(f"{page}add/", {"kid": "main", "reason": ""}).status_code == 403
    assert not RevokedSigningKey.objects.exists()
    root = signed_in(seed.person("root@x.example", operator=True))
    root.post("/console/workspace/", {"workspace": "all"})
    assert b"main" in root.post(f"{page}add/", {"kid": "main", "reason": "leaked"}, follow=True).content
    assert RevokedSigningKey.objects.get().reason == "leaked"
    assert root.get(reverse("admin:tenancy_revokedsigningkey_change", args=["main"])).status_code == 200
