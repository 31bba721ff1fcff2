"""Client certificates: only through our proxy, only the registered ones, only in their time (L2)."""

import base64

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from django.test import Client

from audit.models import AuditEvent
from config import env
from kernel.context import ESTATE
from kernel.models import OutboxEvent
from kernel.transactions import in_workspace
from tenancy.models import ClientCertificate, RevokedClientCert
from tenancy.services import certificates as services
from tenancy.services import keys
from tests.factories.every import workspace
from tests.tenancy.certificates import certificate, der, escaped, key, name, pem, rfc9440, thumbprint
from tests.tenancy.conftest import HEADER, STRANGER
from tests.tenancy.tokens import claims, sign

CERTIFICATES = "client-certificates"


@pytest.fixture
def house(db):
    return workspace()


@pytest.fixture
def owner(house):
    return keys.issue(workspace_id=house.id, name="owner", scopes=["*"])[1]


def register(house, one, *, scopes=("workspace.*",), name="shop") -> ClientCertificate:
    return services.register(workspace_id=house.id, pem=pem(one), name=name, scopes=scopes)


def test_a_registered_certificate_acts_within_its_scopes(house, server, owner):
    one = certificate()
    body = {"name": "shop", "certificate": pem(one), "scopes": ["workspace.read"]}
    registered = server.post(CERTIFICATES, body, owner)
    made = registered.body
    assert (registered.status, made["state"], made["subject"], made["issuer"]) == (
        201,
        "active",
        "CN=shop",
        "CN=Acme CA",
    )
    for value in (rfc9440(one), escaped(one), f"  {rfc9440(one)}  "):
        answer = server.ask(headers=[(HEADER, value)])
        assert (answer.status, answer.body.get("id")) == (200, str(house.id))
    assert server.ask("/api/v1/inboxes", headers=[(HEADER, rfc9440(one))]).status == 403
    listed = server.with_key(owner, f"/api/v1/{CERTIFICATES}").body["data"]
    assert [(row["name"], row["last_used_at"] is not None) for row in listed] == [("shop", True)]
    changed = server.with_key(
        owner, f"/api/v1/{CERTIFICATES}/{made['id']}", method="PATCH", body={"scopes": ["inbox.read"]}
    )
    assert changed.body["scopes"] == ["inbox.read"]
    assert server.ask("/api/v1/inboxes", headers=[(HEADER, rfc9440(one))]).status == 200
    revoked = server.post(f"{CERTIFICATES}/{made['id']}/revoke", {"reason": "lost"}, owner)
    assert (revoked.status, revoked.body["state"]) == (200, "revoked")
    assert server.ask("/api/v1/inboxes", headers=[(HEADER, rfc9440(one))]).status == 401
    with in_workspace(house.id):
        actions = set(AuditEvent.objects.values_list("action", flat=True))
        facts = set(OutboxEvent.objects.values_list("slug", flat=True))
    assert {f"client_certificate.{verb}" for verb in ("register", "change", "revoke")} <= actions
    assert {f"client_certificate.{verb}" for verb in ("registered", "changed", "revoked")} <= facts


def test_every_other_certificate_and_every_other_way_is_refused(house, server, owner, cases):
    good = certificate()
    register(house, good)
    denied_by_fingerprint, denied_by_serial, denied_for_all = map(certificate, ("denied", "serial", "estate"))
    for one in (denied_by_fingerprint, denied_by_serial, denied_for_all):
        register(house, one)
    services.deny(workspace_id=house.id, fingerprint=bytes.fromhex(_hex(denied_by_fingerprint)))
    serial = f"0x0{denied_by_serial.serial_number:X}"
    services.deny(workspace_id=house.id, serial=serial, issuer="CN=Acme CA")
    services.deny(workspace_id=ESTATE, fingerprint=bytes.fromhex(_hex(denied_for_all)))
    early = certificate("early", begins=1, ends=2)
    register(house, early)
    # Nobody can register an expired one; this has been here since before its end.
    ended = certificate("ended", begins=-2, ends=-1)
    with in_workspace(house.id):
        ClientCertificate.objects.create(
            workspace_id=house.id, name="ended", fingerprint=bytes.fromhex(_hex(ended)), serial="1", issuer="CN=x",
            subject="CN=x", not_before=ended.not_valid_before_utc, not_after=ended.not_valid_after_utc, scopes=["*"],
        )  # fmt: skip
    suspended = workspace("Suspended")
    closed = certificate("closed")
    register(suspended, closed)
    with in_workspace(suspended.id):
        type(suspended).objects.filter(id=suspended.id).update(status="suspended")
    good_header = rfc9440(good)
    bits = bytearray(der(good))
    bits[-1] ^= 1
    presented = {
        "revoked fingerprint": [(HEADER, rfc9440(denied_by_fingerprint))],
        "revoked serial and issuer": [(HEADER, rfc9440(denied_by_serial))],
        "revoked for the whole estate": [(HEADER, rfc9440(denied_for_all))],
        "expired": [(HEADER, rfc9440(ended))],
        "not yet valid": [(HEADER, rfc9440(early))],
        "never registered": [(HEADER, rfc9440(certificate("stranger")))],
        "another CA": [(HEADER, rfc9440(certificate(ca="Other CA")))],
        "a CA of the same name with another key": [(HEADER, rfc9440(_signed_by_impostor()))],
        "same name, other key": [(HEADER, rfc9440(certificate(of="impostor")))],
        "same serial, other key": [(HEADER, rfc9440(certificate(of="impostor", serial=good.serial_number)))],
        "one bit of the signature": [(HEADER, rfc9440_of(bytes(bits)))],
        "of a suspended workspace": [(HEADER, rfc9440(closed))],
        "the header twice": [(HEADER, good_header), (HEADER, good_header)],
        "the header twice, the first made up": [(HEADER, rfc9440(certificate("x"))), (HEADER, good_header)],
        "another case beside it": [(HEADER, good_header), (HEADER.lower(), good_header)],
        "a list of two": [(HEADER, f"{good_header}, {good_header}")],
        "with a parameter": [(HEADER, f"{good_header};a=1")],
        "without colons": [(HEADER, good_header.strip(":"))],
        "half of it": [(HEADER, good_header[:200] + ":")],
        "more after it": [(HEADER, rfc9440_of(der(good) + b"\x00"))],
        "two in one PEM": [(HEADER, escaped(good) + escaped(good))],
        "not base64": [(HEADER, ":????:")],
        "not a certificate": [(HEADER, rfc9440_of(b"hello"))],
        "a public key": [(HEADER, rfc9440_of(_public_key()))],
        "empty bytes": [(HEADER, "::")],
        "the fingerprint": [(HEADER, _hex(good))],
        "the subject": [(HEADER, "CN=shop")],
        "PEM on one line": [(HEADER, pem(good).replace("\n", " ").strip())],
        "escaped twice": [(HEADER, escaped(good).replace("%", "%25"))],
        "a megabyte": [(HEADER, ":" + "A" * 1_000_000 + ":")],
        "beside a key that does not hold": [(HEADER, good_header), ("Authorization", "Bearer mk_a_b")],
    }
    told = []
    for case, headers in presented.items():
        answer = server.ask(headers=headers)
        assert answer.status == 401 or (answer.status == 431 and case == "a megabyte"), (case, answer)
        if answer.status == 401:
            told.append((answer.told, answer.headers["www-authenticate"]))
    assert all(one == told[0] for one in told)

    # From anybody but the proxy the header is an attempt, whatever else the request brings.
    for headers in (
        [(HEADER, good_header)],
        [(HEADER, "")],
        [(HEADER, good_header), ("Authorization", f"Bearer {owner}")],
    ):
        answer = server.ask(headers=headers, source=STRANGER)
        assert (answer.status, answer.body["code"]) == (401, "authentication_failed"), headers
    forwarded = [(HEADER, good_header), ("X-Forwarded-For", "127.0.0.1"), ("Forwarded", "for=127.0.0.1")]
    assert server.ask(headers=forwarded, source=STRANGER).status == 401
    # Names that resemble it are no header of ours: as if nothing had been presented.
    for other in (
        "Client-Cert",
        "Client_Cert",
        "X-SSL-Client-Cert",
        "X_SSL_CLIENT_CERT",
        "X-ClientCert",
        "SSL_CLIENT_CERT",
    ):
        answer = server.ask(headers=[(other, good_header)])
        assert (answer.status, answer.body["code"]) == (401, "not_authenticated"), other
    # Without a certificate the proxy sets nothing, or an empty value.
    for headers in ([], [(HEADER, "")]):
        assert (server.ask(headers=headers).status, server.ask(headers=headers).body["code"]) == (
            401,
            "not_authenticated",
        )
    cases("L2", len(presented) + 3 + 1 + 6 + 2)
    assert server.ask(headers=[(HEADER, good_header)]).status == 200
    assert server.with_key(owner, source=STRANGER).status == 200


def _hex(one) -> str:
    return one.fingerprint(hashes.SHA256()).hex()


def rfc9440_of(raw: bytes) -> str:
    return f":{base64.b64encode(raw).decode()}:"


def _public_key() -> bytes:
    return (
        key("shop")
        .public_key()
        .public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


def _signed_by_impostor() -> x509.Certificate:
    """Of an issuer that calls itself as ours does."""
    now = certificate()
    return (
        x509.CertificateBuilder()
        .subject_name(now.subject)
        .issuer_name(name("Acme CA"))
        .public_key(key("shop").public_key())
        .serial_number(now.serial_number)
        .not_valid_before(now.not_valid_before_utc)
        .not_valid_after(now.not_valid_after_utc)
        .sign(key("impostor CA"), hashes.SHA256())
    )


def test_all_that_is_presented_must_hold_and_agree(house, server, owner):
    one, other = certificate(), certificate("other")
    register(house, one)
    register(workspace("Other"), other)
    both = lambda bearer, cert: server.ask(headers=[("Authorization", f"Bearer {bearer}"), (HEADER, rfc9440(cert))])  # noqa: E731
    assert both(owner, one).status == 200
    assert both(owner, other).status == 401
    token = claims(house, scope="workspace.read")
    assert both(sign(token), one).status == 200
    assert both(sign(token), other).status == 401
    # A token that is bound to a certificate is worth nothing without it (RFC 8705).
    bound = sign(token | {"cnf": {"x5t#S256": thumbprint(one)}})
    assert both(bound, one).status == 200
    assert server.with_key(bound).status == 401
    assert both(sign(token | {"cnf": {"x5t#S256": thumbprint(other)}}), one).status == 401


def test_registering_is_exact_and_gives_no_more_than_one_has(house, server, owner):
    one = certificate()
    body = {"name": "shop", "certificate": pem(one), "scopes": ["email.read"]}
    for change, pointer in (
        ({"certificate": "x"}, "/certificate"), ({"certificate": pem(one) * 2}, "/certificate"),
        ({"certificate": pem(certificate(begins=-2, ends=-1))}, "/certificate"), ({"scopes": ["nope"]}, "/scopes"),
        ({"fingerprint": "x"}, "/fingerprint"), ({"certificate": pem(certificate(ca=""))}, "/certificate"),
    ):  # fmt: skip
        answer = server.post(CERTIFICATES, body | change, owner)
        assert (answer.status, answer.body["errors"][0]["pointer"]) == (422, pointer), change
    _, small = keys.issue(workspace_id=house.id, name="small", scopes=["workspace.manage"])
    assert server.post(CERTIFICATES, body, small).status == 403
    _, bound = keys.issue(workspace_id=house.id, name="bound", scopes=["*"], allowed_networks=["127.0.0.0/8"])
    assert server.post(CERTIFICATES, body, bound).status == 403
    made = server.post(CERTIFICATES, body, owner)
    assert made.status == 201
    # One certificate acts for one workspace, and never for another later.
    other = workspace("Other")
    _, theirs = keys.issue(workspace_id=other.id, name="theirs", scopes=["*"])
    assert server.post(CERTIFICATES, body, owner).status == 409
    taken = server.post(CERTIFICATES, body, theirs)
    assert (taken.status, taken.body["code"]) == (409, "certificate_not_available")
    server.post(f"{CERTIFICATES}/{made.body['id']}/revoke", {}, owner)
    assert server.post(CERTIFICATES, body, theirs).told == taken.told
    for path in ("", "/revoke"):
        method = "POST" if path else "GET"
        missing = server.with_key(
            theirs, f"/api/v1/{CERTIFICATES}/{made.body['id']}{path}", method=method, body={} if path else None
        )
        assert (missing.status, missing.body["detail"]) == (404, "No such resource in this workspace.")
    assert server.with_key(theirs, f"/api/v1/{CERTIFICATES}").body["data"] == []


def test_denials_come_in_three_forms_and_once_each(house, server, owner):
    path, one = "revoked-client-certificates", certificate("elsewhere")
    row = register(house, one)
    by_pem = server.post(path, {"certificate": pem(one), "reason": "lost"}, owner)
    assert (by_pem.status, by_pem.body["fingerprint"], by_pem.body["reason"]) == (201, _hex(one), "lost")
    assert server.post(path, {"fingerprint": _hex(one).upper()}, owner).body["id"] == by_pem.body["id"]
    by_serial = server.post(path, {"serial": "00:0A:1b", "issuer": "CN=Acme CA"}, owner)
    assert (by_serial.body["serial"], by_serial.body["fingerprint"]) == ("a1b", "")
    assert server.post(path, {"serial": "0xA1B", "issuer": "CN=Acme CA"}, owner).body["id"] == by_serial.body["id"]
    for body in ({}, {"serial": "1"}, {"issuer": "CN=x"}, {"fingerprint": "00"}, {"serial": "x", "issuer": "CN=x"},
                 {"serial": "1", "issuer": "nonsense"}, {"fingerprint": _hex(one), "serial": "1", "issuer": "CN=x"}):  # fmt: skip
        assert server.post(path, body, owner).status == 422, body
    with in_workspace(house.id):
        assert RevokedClientCert.objects.count() == 2
        assert ClientCertificate.objects.get(id=row.id).revoked_at is not None
    assert len(server.with_key(owner, f"/api/v1/{path}").body["data"]) == 2
    assert (
        server.post(
            CERTIFICATES, {"name": "x", "certificate": pem(certificate("new", serial=0xA1B)), "scopes": []}, owner
        ).status
        == 409
    )


def test_the_standard_header_and_how_it_is_configured(house, settings):
    """RFC 9440's name has a hyphen, which an underscore imitates: it is taken from a proxy that drops such names."""
    one = certificate()
    register(house, one)
    settings.CLIENT_CERT_HEADER, settings.CLIENT_CERT_PROXIES = "Client-Cert", ["10.0.0.0/8"]
    for address, status in (("10.0.0.1", 200), ("::ffff:10.0.0.1", 200), ("11.0.0.1", 401), ("", 401)):
        assert (
            Client(REMOTE_ADDR=address).get("/api/v1/workspace", headers={"Client-Cert": rfc9440(one)}).status_code
            == status
        )
    settings.CLIENT_CERT_PROXIES = []
    assert (
        Client(REMOTE_ADDR="10.0.0.1").get("/api/v1/workspace", headers={"Client-Cert": rfc9440(one)}).status_code
        == 401
    )

    def networks(entries, header, drops):
        return env.proxy_networks(entries, variable="CLIENT_CERT_PROXIES", header=header, drops_underscores=drops)

    assert networks(["10.0.0.0/8"], "Client-Cert", True) == ["10.0.0.0/8"]
    assert networks(["10.0.0.0/8"], "ClientCert", False) == ["10.0.0.0/8"]
    assert networks([], "Client-Cert", False) == []
    for entries, header, drops in (
        (["10.0.0.0/8"], "Client-Cert", False), (["10.0.0.0/8"], "Client_Cert", True), (["10.0.0.1/8"], "ClientCert", False),
        (["proxy"], "ClientCert", False), (["10.0.0.0/8"], "", False), (["10.0.0.0/8"], "Client Cert", True),
    ):  # fmt: skip
        with pytest.raises(env.ConfigurationError):
            networks(entries, header, drops)
    assert networks(["::1/128"], "ClientCert", False) == ["::1/128"]
