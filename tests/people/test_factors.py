"""Second factors and single sign-on: a code is good once, tries are counted, secrets are sealed, and nobody is let in by them alone."""

import re
import string
import threading
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.db import connection, connections
from django.test import Client
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from audit.models import AuditEvent
from config import env
from kernel import clock, crypto, rotation
from kernel.context import ESTATE
from kernel.keys import ring
from kernel.transactions import in_workspace
from tenancy.models import LoginEvent, User
from tests.people.conftest import PASSWORD, is_in, knock


def confirmed(client: Client, path: str) -> str:
    """The page behind the question who it is."""
    there = client.get(path)
    assert there["Location"].startswith("/console/you/confirm/"), "nobody changes this by the session alone"
    assert client.post("/console/you/confirm/", {"password": PASSWORD, "next": path})["Location"] == path
    return client.get(path).content.decode()


def code_of(secret: str, *, step: int = 0) -> str:
    return format_hotp_value(hotp_value(secret, int(clock.now().timestamp()) // 30 + step))


@pytest.fixture
def with_app(office) -> tuple[Client, str, list[str]]:
    """Ada, who is in, the secret of her app, and her recovery codes."""
    client = knock()
    before = client.cookies["sessionid"].value
    page = confirmed(client, "/console/you/app/")
    secret = re.search(r"data-secret>([A-Z2-7]{32})<", page)[1]
    assert b"Incorrect code" in client.post("/console/you/app/", {"code": "000000"}).content
    answer = client.post("/console/you/app/", {"code": code_of(secret)})
    assert answer["Location"] == "/console/you/codes/"
    assert client.cookies["sessionid"].value != before, "what the session may has changed"
    codes = re.findall(
        r"^(?:.*data-secret>)?([0-9]{8})$", client.get("/console/you/codes/").content.decode(), re.MULTILINE
    )
    assert len(codes) == 10
    return client, secret, codes


def test_the_app_is_asked_for_after_the_password_and_each_code_is_good_once(office, with_app):
    inside, secret, codes = with_app
    assert is_in(inside)
    client = knock()
    assert client.answer["Location"] == "/console/login/code/"
    assert not is_in(client), "the password alone opens nothing"
    with time_machine.travel(clock.now() + timedelta(minutes=5), tick=False):
        right = code_of(secret)
        assert b"Incorrect code" in client.post("/console/login/code/", {"code": "123"}).content
        assert client.post("/console/login/code/", {"code": right})["Location"] == "/console/"
        assert is_in(client)
        late = knock()
        assert b"used already" in late.post("/console/login/code/", {"code": f" {right[:3]} {right[3:]} "}).content
        assert not is_in(late)
        assert late.post("/console/login/code/", {"code": codes[0]}).status_code == 302
        assert is_in(late)
        again = knock()
        again.post("/console/login/code/", {"code": codes[0]})
        assert not is_in(again)
    rows = LoginEvent.objects.filter(user_id=office.ada.pk, is_step_up=False).order_by("id")
    assert list(rows.values_list("outcome", "method")) == [
        ("success", "password"), ("wrong_code", "totp"), ("success", "totp"), ("used_code", "totp"), ("success", "recovery_code"),
        ("wrong_code", "totp"),
    ]  # fmt: skip
    assert codes[1] not in inside.get("/console/you/codes/").content.decode(), "they are shown once"


def spellings(code: str) -> list[str]:
    """The same code as people, and those who read over their shoulder, may write it."""
    marks = [*string.punctuation, *string.whitespace, "\u00a0", "\u2003", "\u200b", "\u2010", "\u2013"]
    written = [f"{code[:3]}{mark}{code[3:]}" for mark in marks] + [mark.join(code) for mark in "-. "]
    other_digits = [code.translate({ord("0") + n: zero + n for n in range(10)}) for zero in (0xFF10, 0x0660, 0x0966)]
    return [code, *written, f"-{code}", f"{code}-", f"({code})", *other_digits]


def test_a_code_that_was_used_is_used_in_every_spelling(office, with_app, settings):
    """A text that was remembered has others beside it that compare as equal: what is used up is the step of the clock."""
    settings.LOGIN_TRIES = settings.LOGIN_ADDRESS_TRIES = 10_000
    inside, secret, _ = with_app
    for number, (first, most) in enumerate((("{}", None), ("{}-", 2), ("{} ", 2))):
        with time_machine.travel(clock.now() + timedelta(minutes=5 + number * 5), tick=False):
            right = code_of(secret)
            used, others = knock(), knock()
            used.post("/console/login/code/", {"code": first.format(right)})
            assert is_in(used)
            for written in spellings(right)[:most]:
                answer = others.post("/console/login/code/", {"code": written})
                assert answer.status_code == 200, repr(written)
                again = inside.post("/console/you/confirm/code/", {"code": written, "next": "/console/you/"})
                assert again.status_code == 200, repr(written)
            assert not is_in(others)
            assert others.post("/console/login/code/", {"code": code_of(secret, step=1)})["Location"] == "/console/"
    assert LoginEvent.objects.filter(outcome="used_code", is_step_up=True).count() > 30


def test_the_code_that_proved_a_new_app_opens_nothing_afterwards(office):
    with time_machine.travel(clock.now(), tick=False):
        client = knock()
        secret = re.search(r"data-secret>([A-Z2-7]{32})<", confirmed(client, "/console/you/app/"))[1]
        assert client.post("/console/you/app/", {"code": code_of(secret)})["Location"] == "/console/you/codes/"
        other = knock()
        assert b"used already" in other.post("/console/login/code/", {"code": code_of(secret)}).content
        assert not is_in(other)
        other.post("/console/login/code/", {"code": code_of(secret, step=1)})
        assert is_in(other)


def test_sixteen_who_use_one_code_at_once_are_one(office, with_app):
    _, secret, _ = with_app
    with time_machine.travel(clock.now() + timedelta(minutes=5), tick=False):
        clients, right, start, answers = [knock() for _ in range(8)], code_of(secret), threading.Barrier(8), []

        def use(client: Client) -> None:
            start.wait()
            try:
                answers.append(client.post("/console/login/code/", {"code": right}).status_code)
            finally:
                connections.close_all()

        threads = [threading.Thread(target=use, args=[client]) for client in clients]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert sorted(answers) == [200] * 7 + [302]


def test_guessing_codes_is_counted_and_keeps_nobody_out_of_what_is_open(office, with_app):
    inside, secret, _ = with_app
    client = knock()
    for number in range(10):
        client.post("/console/login/code/", {"code": f"{number:06}"})
    with time_machine.travel(clock.now() + timedelta(minutes=5), tick=False):
        assert b"Too many failed tries" in client.post("/console/login/code/", {"code": code_of(secret)}).content
        assert not is_in(client)
        assert is_in(inside)
        inside.post("/console/you/confirm/code/", {"code": code_of(secret, step=1), "next": "/console/you/"})
        assert LoginEvent.objects.filter(is_step_up=True, method="totp", outcome="success").count() == 1


def test_secrets_of_factors_are_sealed_and_their_changes_recorded(office, with_app):
    client, secret, _ = with_app
    with connection.cursor() as cursor:
        cursor.execute("SELECT data::text FROM mfa_authenticator")
        assert secret not in str(cursor.fetchall())
    client.post("/console/you/codes/new/", {})
    assert client.post("/console/you/app/remove/", {})["Location"] == "/console/you/"
    assert not Authenticator.objects.exists(), "codes without a factor go with it"
    assert is_in(knock())
    with in_workspace(ESTATE):
        rows = AuditEvent.objects.filter(resource_id=str(office.ada.pk)).order_by("sequence")
        assert list(rows.values_list("action", "actor_label")) == [
            ("user.add_factor", "Ada"), ("user.renew_factor", "Ada"), ("user.remove_factor", "Ada"),
        ]  # fmt: skip


def test_secrets_of_factors_move_to_the_newest_key_and_hold_the_old_one_until_then(office, with_app, settings):
    old = max(settings.ENCRYPTION_KEYS)
    settings.ENCRYPTION_KEYS = settings.ENCRYPTION_KEYS | {old + 1: b"n" * 32}
    ring.forget()
    crypto.register_keys()
    with pytest.raises(rotation.KeyInUse):
        rotation.retire(old)
    _, secret, _ = with_app
    done = {batch.column.table: batch.done for batch in rotation.rotate()}
    assert done["mfa_authenticator"] >= 1
    assert old not in rotation.uses()
    rotation.retire(old)
    assert "mfa_authenticator" not in {batch.column.table for batch in rotation.rotate()}
    with time_machine.travel(clock.now() + timedelta(minutes=5), tick=False):
        fresh = knock()
        fresh.post("/console/login/code/", {"code": code_of(secret)})
        assert is_in(fresh), "the secret is the same"


def test_without_proving_again_nothing_is_changed(office, with_app):
    _, secret, _ = with_app
    fresh = knock()
    with time_machine.travel(clock.now() + timedelta(minutes=5), tick=False):
        fresh.post("/console/login/code/", {"code": code_of(secret)})
        assert fresh.get("/console/you/codes/")["Location"].startswith("/console/you/confirm/")
        for path in ("app/remove/", "passkeys/add/", "codes/new/"):
            assert fresh.post(f"/console/you/{path}", {})["Location"].startswith("/console/you/confirm/"), path
    assert Authenticator.objects.filter(type="totp").exists()


def test_who_found_a_session_open_adds_no_factor(office):
    found = knock()
    for path in ("app/", "passkeys/add/"):
        for answer in (found.get(f"/console/you/{path}"), found.post(f"/console/you/{path}", {"code": "000000"})):
            assert (answer.status_code, answer.headers.get("Location", "")[:21]) == (302, "/console/you/confirm/"), path
    assert not Authenticator.objects.exists()


def test_a_proof_is_good_for_a_while_only(office, with_app, settings):
    inside, proven = with_app[0], clock.now()
    for seconds, status in ((settings.STEP_UP_SECONDS - 60, 200), (settings.STEP_UP_SECONDS + 1, 302)):
        with time_machine.travel(proven + timedelta(seconds=seconds), tick=False):
            assert inside.get("/console/you/app/remove/").status_code == status


# --- single sign-on -------------------------------------------------------------------------------------------------


@pytest.fixture
def provider(httpserver: HTTPServer, settings):
    """A real provider of OpenID Connect, next door. `says` is what it tells of the person."""
    base = httpserver.url_for("").rstrip("/")
    says = {"sub": "42", "email": "ada@acme.test", "email_verified": True}
    httpserver.expect_request("/.well-known/openid-configuration").respond_with_json(
        {
            "issuer": base,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
            "userinfo_endpoint": f"{base}/userinfo",
            "jwks_uri": f"{base}/jwks",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }
    )

    def token(request: Request) -> Response:
        good = request.form.get("client_secret") == "s3cret" and request.form.get("code_verifier")
        return Response('{"access_token": "t", "token_type": "Bearer"}' if good else "{}", 200 if good else 401,
                        content_type="application/json")  # fmt: skip

    def person(_: Request) -> Response:
        from json import dumps

        return Response(dumps(says), content_type="application/json")

    httpserver.expect_request("/token", method="POST").respond_with_handler(token)
    httpserver.expect_request("/userinfo").respond_with_handler(person)
    settings.SOCIALACCOUNT_PROVIDERS = env.single_sign_on(base, client_id="us", secret="s3cret", name="Acme ID")
    return says


def come_back(client: Client, **changed: str) -> None:
    """To the provider and back, as a browser goes."""
    there = client.get("/console/sso/oidc/sso/login/")
    asked = {name: values[0] for name, values in parse_qs(urlsplit(there["Location"]).query).items()}
    assert (asked["code_challenge_method"], asked["client_id"]) == ("S256", "us")
    client.answer = client.get(
        "/console/sso/oidc/sso/login/callback/", {"code": "c", "state": asked["state"]} | changed
    )


def test_who_the_provider_vouches_for_is_let_in_and_nobody_else(office, provider):
    assert b"Continue with Acme ID" in Client().get("/console/login/").content
    ada = Client()
    come_back(ada)
    assert ada.answer["Location"] == "/console/"
    assert is_in(ada)
    # Known by what the provider calls her from now on, whatever her address there becomes.
    provider["email"] = "new@elsewhere.test"
    again = Client()
    come_back(again)
    assert is_in(again)
    strangers = (
        {"sub": "43", "email": "stranger@acme.test", "email_verified": True},
        {"sub": "44", "email": "bo@acme.test", "email_verified": False},
        {"sub": "45", "email": "", "email_verified": True},
    )
    for stranger in strangers:
        provider.update(stranger)
        client = Client()
        come_back(client)
        assert client.answer["Location"] == "/console/login/", stranger
        assert b"No account here belongs to this sign-on" in client.get("/console/login/").content
        assert not is_in(client)
    assert User.objects.count() == 2
    forged = Client()
    come_back(forged, state="forged")
    assert not is_in(forged)
    provider.update({"sub": "42", "email": "ada@acme.test"})
    office.ada.is_active = False
    User.objects.filter(id=office.bo.id).update(is_active=True)
    outcomes = list(LoginEvent.objects.filter(method="sso").order_by("id").values_list("outcome", flat=True))
    assert outcomes == ["success", "success", "unknown_sso", "unknown_sso", "unknown_sso", "failed_sso"]


def test_single_sign_on_does_not_pass_by_the_second_factor(office, provider, with_app):
    client = Client()
    come_back(client)
    assert client.answer["Location"] == "/console/login/code/"
    assert not is_in(client)


def test_nobody_signs_up_by_themselves(office):
    for path in ("/console/signup/", "/console/sso/signup/"):
        assert b"owner of a workspace invites people" in Client().get(path).content
        assert Client().post(path, {"email": "x@x.test", "password1": PASSWORD}).status_code == 405
    assert User.objects.count() == 2
