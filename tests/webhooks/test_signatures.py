"""Signatures as an independent verifier sees them (E4), and secrets that nobody sees (E7)."""

import base64
import logging
import re
import time

import pytest
from standardwebhooks.webhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError
from svix.webhooks import Webhook as SvixVerifier
from svix.webhooks import WebhookVerificationError as SvixVerificationError

from kernel.transactions import in_all_workspaces
from tenancy.models import Workspace
from tenancy.services import provisioning
from tests.console import seed
from tests.console.conftest import signed_in
from tests.webhooks.conftest import SLUG, Api, as_owner, dispatch, emit, fresh, hook, make_due, rows
from tests.webhooks.receiver import answer, sequence
from webhooks.services import subscribing
from webhooks.transport import signing


def sent(receiver, number: int = 0):
    request = receiver.requests[number]
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    return request.body, {name: request.headers[name] for name in names}


def subscribe(workspace, receiver):
    return subscribing.create(workspace_id=workspace, url=receiver.url(), slugs=[SLUG])


# Two verifiers that others wrote, and how each of them refuses.
VERIFIERS = {
    "standardwebhooks": (Verifier, WebhookVerificationError),
    "svix": (SvixVerifier, SvixVerificationError),
}


@pytest.mark.parametrize("name", VERIFIERS)
def test_what_is_sent_verifies_and_nothing_else_does(workspace, receiver, cases, name):
    verifier, refusal = VERIFIERS[name]
    webhook, old = subscribe(workspace, receiver)
    _, secret = subscribing.rotate_secret(workspace_id=workspace, webhook_id=webhook.id)
    emit(workspace)
    dispatch()
    body, headers = sent(receiver)
    mark, at = headers["webhook-signature"], int(headers["webhook-timestamp"])

    def signed_at(seconds: int) -> dict[str, str]:
        keys = [signing.Signer(base64.b64decode(secret.removeprefix(signing.PREFIX)))]
        return signing.headers(signers=keys, message_id=headers["webhook-id"], timestamp=at + seconds, body=body)

    other = signing.secret_text(signing.new_secret())
    first, second = mark.split(" ")
    good = [
        (body, headers, secret),
        (body, headers, old),
        (body, headers | {"webhook-signature": f"v1a,{first[3:]} {mark}"}, secret),
        (body, headers | {"webhook-signature": f"{second} {first}"}, secret),
        (body, signed_at(-290), secret),
        (body, signed_at(+290), secret),
    ]
    bad = [
        (body + b" ", headers, secret),
        (body[:-1], headers, secret),
        (body.replace(b"workspace.provisioned", b"workspace.destroyed"), headers, secret),
        (body, headers | {"webhook-id": headers["webhook-id"][:-1] + "x"}, secret),
        (body, headers | {"webhook-id": ""}, secret),
        (body, headers | {"webhook-timestamp": str(at + 1)}, secret),
        (body, headers | {"webhook-timestamp": "soon"}, secret),
        (body, headers | {"webhook-signature": mark.replace("v1,", "v2,")}, secret),
        (body, headers | {"webhook-signature": "v1," + base64.b64encode(b"0" * 32).decode()}, secret),
        (body, headers | {"webhook-signature": first[:-4]}, secret),
        (body, {name: value for name, value in headers.items() if name != "webhook-signature"}, secret),
        (body, signed_at(-310), secret),
        (body, signed_at(+310), secret),
        (body, headers, other),
    ]
    for content, given, key in good:
        verifier(key).verify(content, given)
    for number, (content, given, key) in enumerate(bad):
        with pytest.raises(refusal):
            verifier(key).verify(content, given)
            pytest.fail(f"the {number}th was accepted")
    cases("E4", len(good) + len(bad))


def test_a_retry_has_the_same_id_and_bytes_and_a_new_time(workspace, receiver):
    receiver.scripts["/hook"] = sequence(answer(500), answer(200))
    _, secret = subscribe(workspace, receiver)
    emit(workspace)
    dispatch(lambda: rows(attempts=1, status="pending"))
    time.sleep(1.1)
    make_due()
    dispatch(lambda: rows(status="delivered"))
    (body, first), (again, second) = sent(receiver, 0), sent(receiver, 1)
    assert body == again
    assert first["webhook-id"] == second["webhook-id"]
    assert int(first["webhook-timestamp"]) < int(second["webhook-timestamp"])
    for headers in (first, second):
        Verifier(secret).verify(body, headers)


def test_both_secrets_sign_while_they_overlap(workspace, receiver):
    webhook, old = subscribe(workspace, receiver)
    _, new = subscribing.rotate_secret(workspace_id=workspace, webhook_id=webhook.id)
    emit(workspace)
    dispatch()
    body, headers = sent(receiver)
    assert len(headers["webhook-signature"].split(" ")) == 2
    for secret in (old, new):
        Verifier(secret).verify(body, headers)

    as_owner("UPDATE webhooks_webhook SET previous_secret_until = now() - interval '1 second'")
    emit(workspace)
    dispatch()
    body, headers = sent(receiver, 1)
    assert len(headers["webhook-signature"].split(" ")) == 1
    Verifier(new).verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Verifier(old).verify(body, headers)


def test_the_overlap_ends_for_a_dispatcher_that_keeps_running(workspace, receiver, settings):
    from tests.webhooks.conftest import Running

    settings.WEBHOOK_SECRET_OVERLAP_SECONDS = 1.0
    webhook, _ = subscribe(workspace, receiver)
    with Running() as running:
        subscribing.rotate_secret(workspace_id=workspace, webhook_id=webhook.id)
        emit(workspace)
        running.until(lambda: len(receiver.requests) == 1)
        time.sleep(1.1)
        emit(workspace)
        running.until(lambda: len(receiver.requests) == 2)
    assert [len(sent(receiver, n)[1]["webhook-signature"].split(" ")) for n in (0, 1)] == [2, 1]


@pytest.mark.parametrize("length", [1, 24, 32, 63, 64, 65, 200])
@pytest.mark.parametrize("body", [b"", b"{}", b"\xff" * 500, b"x" * 100_000])
def test_the_prepared_hmac_is_the_hmac(length, body):
    import hashlib
    import hmac

    key = bytes(range(length)) if length < 256 else b""
    expected = base64.b64encode(hmac.new(key, body, hashlib.sha256).digest()).decode()
    assert signing.Signer(key).sign(body) == "v1," + expected


def test_the_own_headers_of_an_endpoint_arrive(workspace, receiver):
    hook(workspace, receiver.url(), headers={"Authorization": "Bearer xyz", "X-Team": "blue"})
    emit(workspace)
    dispatch()
    headers = receiver.requests[0].headers
    assert (headers["authorization"], headers["x-team"]) == ("Bearer xyz", "blue")
    assert headers["content-type"] == "application/json"
    assert "cookie" not in headers


def test_a_secret_is_shown_once_and_is_nowhere_else(workspace, receiver, caplog, cases):
    """The canary: not in any table, any answer, any page of the console, any log line (E7)."""
    import os

    import psycopg

    caplog.set_level(logging.DEBUG)
    api = Api(workspace)
    made = api("POST", "/webhooks", {"url": receiver.url(), "slugs": ["*"]}, **{"Idempotency-Key": "once"}).json()
    turned = api("POST", f"/webhooks/{made['id']}/rotate-secret").json()
    emit(workspace)
    dispatch()
    (delivery,) = rows(system_event__slug=SLUG)
    ids = {"webhook": made["id"], "webhookdelivery": delivery.id, "systemevent": delivery.system_event_id}
    answers = [
        api("GET", path).content.decode()
        for path in (
            "/webhooks", f"/webhooks/{ids['webhook']}", f"/webhooks/{ids['webhook']}/statistics", "/webhook-deliveries",
            f"/webhook-deliveries/{ids['webhookdelivery']}", "/system-events", f"/system-events/{ids['systemevent']}",
        )
    ]  # fmt: skip
    owner = seed.person("owner@acme.test")
    with in_all_workspaces("test"):
        provisioning.add_owner(user=owner, workspace=Workspace.objects.get(id=workspace))
    for kind, row_id in ids.items():
        for page in (f"/console/webhooks/{kind}/", f"/console/webhooks/{kind}/{row_id}/change/"):
            shown = signed_in(owner).get(page)
            assert shown.status_code == 200, page
            answers.append(shown.content.decode())
    assert receiver.url() in "".join(answers)  # the pages are about this endpoint
    dump = []
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute("SET app.all_workspaces = 'on'")
        tables = [row[0] for row in owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
        for table in tables:
            dump += [str(row[0]) for row in owner.execute(f'SELECT t::text FROM "{table}" t')]
    haystack = "\n".join([*answers, *dump, caplog.text])
    for secret in (made["secret"], turned["secret"]):
        assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", secret)
        raw = base64.b64decode(secret.removeprefix("whsec_"))
        for form in (secret, secret[6:], raw.hex()):
            assert form not in haystack
    cases("E7", 1)


def test_a_secret_that_no_key_opens_fails_alone_and_visibly(workspace, receiver, settings):
    broken, whole = hook(workspace, receiver.url("/broken")), hook(workspace, receiver.url("/whole"))
    frame = b"\x01" + max(settings.ENCRYPTION_KEYS).to_bytes(4, "big") + b"\0" * 60
    as_owner("UPDATE webhooks_webhook SET secret_sealed = %s WHERE id = %s", frame, broken.id)
    emit(workspace)
    dispatch()
    assert rows(webhook=whole)[0].status == "delivered"
    (row,) = rows(webhook=broken)
    assert (row.status, row.attempts) == ("pending", 1)
    assert "cannot be opened" in row.last_error
    subscribing.rotate_secret(workspace_id=workspace, webhook_id=broken.id)
    make_due()
    dispatch(lambda: rows(webhook=broken, status="delivered"))


def test_a_moved_secret_does_not_open(workspace, receiver):
    first, second = hook(workspace, receiver.url("/a")), hook(workspace, receiver.url("/b"))
    with in_all_workspaces("test"):
        stolen = bytes(fresh(first).secret_sealed)
    as_owner("UPDATE webhooks_webhook SET secret_sealed = %s WHERE id = %s", stolen, second.id)
    emit(workspace)
    dispatch()
    assert "cannot be opened" in rows(webhook=second)[0].last_error
