"""Connections: six states that the database keeps, secrets that go in and never come out, and inboxes that send through them."""

from datetime import timedelta
from itertools import product
from uuid import uuid4

import pytest
from django.db import DatabaseError, transaction

from audit.models import AuditEvent, AuditPayload
from config.demo.sink import Sink
from inbox.models import Connection, ConnectionCredential, OutboundMessage
from inbox.services import sending, trying
from inbox.types import CONNECTION_MOVES, USABLE, ConnectionState
from kernel import clock
from kernel.models import OutboxEvent
from kernel.transactions import in_all_workspaces, in_workspace
from tests.api.conftest import Caller
from tests.factories.every import make
from tests.factories.world import deliver, house, mail
from tests.inbox.mailbox import mailbox
from tests.inbox.test_sending import reply, states
from tests.world.aws import CREDENTIALS, REGION, moto

STATES = list(ConnectionState)

# The library knows of STARTTLS only: where TLS is there from the first byte it sees none.
pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")


@pytest.fixture
def acme(db, settings):
    settings.API_RATE_LIMIT, settings.SEND_RETRY_SECONDS = 0, [0, 0]
    return house()


@pytest.fixture
def server(tmp_path, settings):
    with mailbox(tmp_path) as running:
        settings.MAIL_CA_FILE = str(running.authority)
        yield running


def smtp(server, **given):
    return {"host": "127.0.0.1", "port": server.port, "user": "support", "tls": "starttls"} | given


def try_all() -> None:
    while trying.check_due():
        pass


def connect(caller, server, *, secret="right-password", **given):
    body = {"provider": "smtp", "name": "Support mail", "configuration": smtp(server, **given), "secret": secret}
    answer = caller("POST", "/connections", body)
    assert answer.status_code == 201, answer.content
    return answer.json()


# --- states -------------------------------------------------------------------------------------------------------


def in_state(place, state: ConnectionState) -> Connection:
    """A connection that came there by permitted moves, with a secret where the state has one."""
    row = make(Connection, place.id)
    if state != ConnectionState.UNCONFIGURED:
        make(ConnectionCredential, place.id, connection=row)
    ways = {
        ConnectionState.UNCONFIGURED: [],
        ConnectionState.PENDING_AUTHORIZATION: ["pending_authorization"],
        ConnectionState.CONNECTED: ["pending_authorization", "connected"],
        ConnectionState.DEGRADED: ["pending_authorization", "connected", "degraded"],
        ConnectionState.EXPIRED: ["pending_authorization", "expired"],
        ConnectionState.DISCONNECTED: ["disconnected"],
    }
    with in_workspace(place.id):
        for step in ways[state]:
            Connection.objects.filter(id=row.id).update(state=step)
    return row


def accepted(place, change) -> bool:
    try:
        with in_workspace(place.id), transaction.atomic():
            return bool(change())
    except DatabaseError as error:
        if error.__cause__.sqlstate != "23514":
            raise
        return False


def test_only_the_permitted_moves_are_made(acme, cases):
    tried = 0
    for origin, target in product(STATES, STATES):
        if origin == target:
            continue
        row = in_state(acme, origin)
        moved = accepted(acme, lambda r=row, t=target: Connection.objects.filter(id=r.id).update(state=t))
        assert moved == ((origin, target) in CONNECTION_MOVES), (origin, target)
        tried += 1
    for state in STATES[1:]:
        assert not accepted(acme, lambda s=state: make(Connection, acme.id, state=s)), state
        tried += 1
    cases("S3-65", tried)


def test_nothing_without_a_secret_that_is_good_is_connected(acme, cases):
    """Whatever is done to the row or to its secret, in SQL: missing, revoked, expired, deleted, another's."""
    late = clock.now() - timedelta(seconds=1)
    takings = {
        "revoked": lambda c: c.update(revoked_at=clock.now(), secret_sealed=None),
        "expired": lambda c: c.update(expires_at=late),
        "deleted": lambda c: c.delete()[0],
        "another's": lambda c: c.update(connection=make(Connection, acme.id)),
    }
    tried = 0
    for name, take in takings.items():
        for state in STATES:
            row = in_state(acme, state)
            if state == ConnectionState.UNCONFIGURED:
                continue
            taken = accepted(acme, lambda r=row, t=take: t(ConnectionCredential.objects.filter(connection=r)))
            assert taken == (state not in USABLE), (name, state)
            tried += 1
        row = in_state(acme, ConnectionState.PENDING_AUTHORIZATION)
        with in_workspace(acme.id):
            take(ConnectionCredential.objects.filter(connection=row))
        assert not accepted(acme, lambda r=row: Connection.objects.filter(id=r.id).update(state="connected")), name
        tried += 1
    cases("S3-65", tried)


def test_a_purpose_has_one_live_secret_and_a_revoked_one_is_gone(acme):
    row = in_state(acme, ConnectionState.PENDING_AUTHORIZATION)
    with pytest.raises(DatabaseError, match="one_live_credential_per_purpose"):
        make(ConnectionCredential, acme.id, connection=row)
    for wrong in ({"revoked_at": clock.now()}, {"secret_sealed": None}):
        with pytest.raises(DatabaseError, match="live_credential_has_its_secret"), in_workspace(acme.id):
            ConnectionCredential.objects.filter(connection=row).update(**wrong)


def test_a_secret_whose_time_has_come_makes_the_connection_expired(acme, server):
    caller = Caller(acme.id)
    made = connect(caller, server)
    try_all()
    assert caller.get(f"/connections/{made['id']}").json()["state"] == "connected"
    soon = {"secret": "right-password", "expires_at": (clock.now() + timedelta(seconds=0.4)).isoformat()}
    assert caller("POST", f"/connections/{made['id']}/credentials", soon).status_code == 200
    try_all()
    assert caller.get(f"/connections/{made['id']}").json()["state"] == "connected"
    ends = clock.now() + timedelta(seconds=0.5)
    while clock.now() < ends:
        pass
    # Before anything has noticed: it is told as it is, not as it was.
    shown = caller.get(f"/connections/{made['id']}").json()
    assert (shown["state"], shown["has_secret"]) == ("expired", False)
    try_all()
    with in_workspace(acme.id):
        assert Connection.objects.get().state == ConnectionState.EXPIRED
    past = {"secret": "x", "expires_at": "2020-01-01T00:00:00Z"}
    answer = caller("POST", f"/connections/{made['id']}/credentials", past)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/expires_at")
    assert caller("POST", f"/connections/{made['id']}/test").json()["code"] == "connection_without_secret"


# --- the API ------------------------------------------------------------------------------------------------------


def test_the_life_of_a_connection(acme, server):
    caller = Caller(acme.id)
    bare = caller("POST", "/connections", {"provider": "smtp", "configuration": smtp(server)}).json()
    assert (bare["state"], bare["has_secret"], bare["name"]) == (
        "unconfigured", False, f"support@127.0.0.1:{server.port}",
    )  # fmt: skip
    path = f"/connections/{bare['id']}"
    wrong = caller("POST", f"{path}/credentials", {"secret": "wrong-password"})
    assert wrong.json()["state"] == "pending_authorization"
    try_all()
    shown = caller.get(path).json()
    assert (shown["state"], shown["error_code"]) == ("pending_authorization", "sign_in_refused")
    caller("POST", f"{path}/credentials", {"secret": "right-password"})
    try_all()
    shown = caller.get(path).json()
    assert (shown["state"], shown["error_code"], "auth" in shown["capabilities"]["extensions"]) == (
        "connected",
        "",
        True,
    )
    server.passwords["support"] = "changed"
    assert caller("POST", f"{path}/test").status_code == 202
    try_all()
    assert caller.get(path).json()["state"] == "degraded"
    server.passwords["support"] = "right-password"
    caller("POST", f"{path}/test")
    try_all()
    assert caller.get(path).json()["state"] == "connected"
    assert (
        caller("PATCH", path, {"configuration": smtp(server, user="other")}).json()["state"] == "pending_authorization"
    )
    gone = caller("POST", f"{path}/disconnect").json()
    assert (gone["state"], gone["has_secret"]) == ("disconnected", False)
    assert caller("POST", f"{path}/disconnect").json() == gone
    assert caller("POST", f"{path}/test").status_code == 409
    assert caller("DELETE", path).status_code == 405
    with in_workspace(acme.id):
        kept = list(ConnectionCredential.objects.order_by("created_at"))
        actions = list(AuditEvent.objects.filter(resource_kind="connection").values_list("action", flat=True))
        slugs = set(OutboxEvent.objects.filter(slug__startswith="connection.").values_list("slug", flat=True))
    assert [(row.secret_sealed, row.revoked_at is not None) for row in kept] == [(None, True)] * 2
    assert kept[1].rotated_from_id == kept[0].id
    assert {"connection.create", "connection.authorize", "connection.test", "connection.connected",
            "connection.degraded", "connection.change", "connection.disconnect"} == set(actions)  # fmt: skip
    assert slugs == {f"connection.{verb}" for verb in ("created", "updated", "connected", "degraded", "disconnected")}


def test_a_secret_is_in_no_answer_no_trail_and_no_fact(acme, server):
    caller = Caller(acme.id)
    secret = "right-password"
    answers = [caller("POST", "/connections", {"provider": "smtp", "configuration": smtp(server), "secret": secret})]
    path = f"/connections/{answers[0].json()['id']}"
    answers += [caller.get(path), caller.get("/connections"), caller("POST", f"{path}/credentials", {"secret": secret})]
    try_all()
    answers += [caller.get(path), caller("POST", f"{path}/disconnect"), caller.get("/inboxes?expand=agent")]
    assert not [answer for answer in answers if secret.encode() in answer.content]
    with in_all_workspaces("a test looks for a secret"):
        for model in (AuditEvent, AuditPayload, OutboxEvent, Connection):
            assert not [row for row in model._base_manager.values() if secret in str(row)], model


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"provider": "pop3", "configuration": {}}, "/provider"),
        ({"provider": "smtp", "configuration": {}}, "/configuration/host"),
        ({"provider": "smtp", "configuration": {"host": "a b"}}, "/configuration/host"),
        ({"provider": "smtp", "configuration": {"host": "a.test", "port": "587"}}, "/configuration/port"),
        ({"provider": "smtp", "configuration": {"host": "a.test", "port": 70000}}, "/configuration/port"),
        ({"provider": "smtp", "configuration": {"host": "a.test"}}, "/configuration/user"),
        ({"provider": "smtp", "configuration": {"host": "a.test", "user": "u", "tls": "none"}}, "/configuration/tls"),
        ({"provider": "smtp", "configuration": {"host": "a.test", "user": "u", "password": "p"}}, "/configuration/password"),
        ({"provider": "ses", "configuration": {"region": "mars"}}, "/configuration/region"),
        ({"provider": "ses", "configuration": {"region": REGION, "access_key_id": "!"}}, "/configuration/access_key_id"),
        ({"provider": "smtp", "configuration": {"host": "a.test", "user": "u"}, "secret": "x" * 4097}, "/secret"),
        ({"provider": "smtp", "configuration": {"host": "a.test", "user": "u"}, "state": "connected"}, "/state"),
    ],
)  # fmt: skip
def test_what_cannot_be_connected_is_named(acme, body, pointer):
    answer = Caller(acme.id)("POST", "/connections", body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)


def test_an_account_is_connected_once_and_by_those_who_may(acme, server):
    caller, reader = Caller(acme.id), Caller(acme.id, "connection.read")
    made = connect(caller, server)
    again = caller("POST", "/connections", {"provider": "smtp", "configuration": smtp(server, user="SUPPORT")})
    assert (again.status_code, again.json()["code"]) == (409, "already_connected")
    assert reader.get(f"/connections/{made['id']}").status_code == 200
    for method, path in (
        ("POST", ""), ("PATCH", f"/{made['id']}"), ("POST", f"/{made['id']}/credentials"),
        ("POST", f"/{made['id']}/test"), ("POST", f"/{made['id']}/disconnect"),
    ):  # fmt: skip
        answer = reader(method, f"/connections{path}", {})
        assert (answer.status_code, answer.json()["permission"]) == (403, "connection.manage"), path
    theirs = Caller(house("globex").id)
    for method, path in (("GET", ""), ("PATCH", ""), ("POST", "/disconnect"), ("POST", "/test")):
        assert theirs(method, f"/connections/{made['id']}{path}", None if method == "GET" else {}).status_code == 404
    assert theirs.get("/connections").json()["data"] == []


# --- sending ------------------------------------------------------------------------------------------------------


def answer_through(acme, caller, connection_id) -> None:
    """A mail comes in, its answer is queued, and the inbox sends through the connection."""
    used = caller("PUT", f"/inboxes/{acme.inbox.id}/connection", {"connection_id": connection_id})
    assert used.json() == {"object": "inbox_connection", "inbox_id": str(acme.inbox.id), "connection_id": connection_id}
    (accepted,) = deliver(mail(message_id=f"<{uuid4().hex}@customer.test>"))
    reply(acme, accepted.email_id, key=uuid4().hex, automatic=False)
    while sending.send_due():
        pass


@pytest.mark.parametrize("implicit", [False, True])
def test_an_inbox_sends_through_its_connection_with_sign_in_and_tls(acme, tmp_path, settings, implicit):
    with mailbox(tmp_path, implicit=implicit) as server, Sink() as estate:
        settings.MAIL_CA_FILE = str(server.authority)
        settings.MAIL_SMTP_PORT, settings.MAIL_SMTP_TLS, settings.MAIL_SMTP_HOST = estate.port, "none", "127.0.0.1"
        caller = Caller(acme.id)
        made = connect(caller, server, tls="implicit" if implicit else "starttls")
        try_all()
        answer_through(acme, caller, made["id"])
        assert [taken.recipients for taken in server.ledger.messages] == [("ada@customer.test",)]
        assert set(server.asked) == {("support", True)}
        assert estate.ledger.messages == []
        # Without a connection it is the installation's own again.
        answer_through(acme, caller, None)
        assert (len(server.ledger.messages), len(estate.ledger.messages)) == (1, 1)
    assert states(acme) == [("sent", "sent")] * 2


def test_a_server_whose_certificate_nobody_vouches_for_gets_neither_password_nor_mail(acme, server, settings):
    caller = Caller(acme.id)
    settings.MAIL_CA_FILE = ""
    made = connect(caller, server)
    try_all()
    shown = caller.get(f"/connections/{made['id']}").json()
    assert (shown["state"], shown["error_code"]) == ("pending_authorization", "unreachable")
    assert "certificate" in shown["error_detail"]
    assert server.asked == []


def test_a_connection_that_cannot_be_used_sends_nothing_by_any_other_way(acme, server, settings):
    """A refused sign-in degrades it at once; a disconnected one keeps its mail back, and never goes by the default."""
    with Sink() as estate:
        settings.MAIL_SMTP_PORT, settings.MAIL_SMTP_TLS, settings.MAIL_SMTP_HOST = estate.port, "none", "127.0.0.1"
        caller = Caller(acme.id)
        made = connect(caller, server)
        try_all()
        server.passwords["support"] = "changed"
        answer_through(acme, caller, made["id"])
        shown = caller.get(f"/connections/{made['id']}").json()
        assert (shown["state"], shown["error_code"]) == ("degraded", "sign_in_refused")
        caller("POST", f"/connections/{made['id']}/disconnect")
        answer_through(acme, caller, made["id"])
        assert (server.ledger.messages, estate.ledger.messages) == ([], [])
    with in_workspace(acme.id):
        errors = set(OutboundMessage.objects.values_list("state", "last_error"))
    assert errors == {
        ("failed", "signing in failed: 535"),
        ("failed", "not sent: the connection “Support mail” is disconnected"),
    }


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "169.254.169.254", "10.0.0.1"])
def test_a_workspace_cannot_have_our_own_network_called(acme, settings, host):
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    caller = Caller(acme.id)
    body = {"provider": "smtp", "configuration": {"host": host, "user": "u"}, "secret": "s"}
    made = caller("POST", "/connections", body).json()
    try_all()
    shown = caller.get(f"/connections/{made['id']}").json()
    assert (shown["error_code"], "not public" in shown["error_detail"]) == ("unreachable", True)


def test_an_inbox_takes_no_connection_of_another_workspace(acme, server):
    theirs = connect(Caller(house("globex").id), server)
    for unknown in (theirs["id"], str(uuid4())):
        answer = Caller(acme.id)("PUT", f"/inboxes/{acme.inbox.id}/connection", {"connection_id": unknown})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/connection_id")


def test_an_account_of_ses_is_tried_and_sends(acme, settings, monkeypatch):
    import boto3

    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with moto() as endpoint:
        settings.AWS_ENDPOINT_URL = endpoint
        boto3.client("ses", region_name=REGION, endpoint_url=endpoint).verify_domain_identity(Domain="acme.test")
        caller = Caller(acme.id)
        body = {
            "provider": "ses",
            "configuration": {"region": REGION, "access_key_id": "testing"},
            "secret": "testing",
        }
        made = caller("POST", "/connections", body).json()
        try_all()
        shown = caller.get(f"/connections/{made['id']}").json()
        assert (shown["state"], shown["capabilities"]["max_per_second"]) == ("connected", 1.0)
        answer_through(acme, caller, made["id"])
        assert states(acme) == [("sent", "sent")]
        with in_workspace(acme.id):
            assert OutboundMessage.objects.get().provider_ref
