"""L4: a session is known by a hash, sealed, renewed when its power changes, ended everywhere at once, and bound to its forms."""

import itertools
import json
from datetime import timedelta

import pytest
import time_machine
import urllib3
from django.conf import settings as _settings
from django.contrib.sessions.backends.base import UpdateError
from django.db import connection
from django.test import Client
from django.urls import URLResolver, get_resolver

from kernel import clock
from kernel.transactions import in_workspace
from tenancy.models import DeviceSession, User
from tenancy.services import leaving, people
from tenancy.signin.store import SessionStore
from tests.people.conftest import PASSWORD, is_in, knock
from tests.world.serving import serving


def cookie(client: Client) -> str:
    return client.cookies[_settings.SESSION_COOKIE_NAME].value


def test_the_database_knows_neither_the_cookie_nor_what_the_session_holds(office):
    client = knock()
    _token(client)
    session = client.session
    session["note"] = "a-word-that-nobody-reads"
    session.save()
    secrets = [cookie(client), session["_csrftoken"], "a-word-that-nobody-reads"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT t::text, encode(data, 'escape') FROM tenancy_devicesession t")
        found = str(cursor.fetchall())
    assert not [secret for secret in secrets if secret in found or secret.encode().hex() in found]
    assert client.session["note"] == "a-word-that-nobody-reads"
    row = DeviceSession.objects.get(user=office.ada)
    assert (len(row.session_hash), row.address) == (32, "127.0.0.1")
    # The hash is no key: a session is opened by what was hashed.
    intruder = Client()
    intruder.cookies[_settings.SESSION_COOKIE_NAME] = bytes(row.session_hash).hex()[:32]
    assert not is_in(intruder)


def test_another_value_after_each_change_of_power_and_none_that_a_stranger_chose(office):
    client = Client()
    client.cookies[_settings.SESSION_COOKIE_NAME] = "a" * 32
    client.get("/console/login/")
    first = cookie(client)
    assert first != "a" * 32, "a value that we did not make is not adopted"
    knock(client=client)
    second = cookie(client)
    assert second != first
    intruder = Client()
    intruder.cookies[_settings.SESSION_COOKIE_NAME] = first
    assert not is_in(intruder), "who knew the value from before the sign-in has nothing"
    row = DeviceSession.objects.get(user=office.ada)
    body = {"old": PASSWORD, "password": "quite another long phrase"}
    assert client.post("/console/you/password/", body)["Location"] == "/console/you/"
    assert cookie(client) != second
    assert is_in(client)
    assert DeviceSession.objects.get(user=office.ada, revoked_at=None).id == row.id, "the same session goes on"
    assert client.get("/console/you/password/").status_code == 200


def test_a_new_password_ends_every_other_session(office):
    here, there = knock(), knock()
    refused = here.post(
        "/console/you/password/", {"old": "not this one at all", "password": "quite another long phrase"}
    )
    assert b"not your present password" in refused.content
    weak = here.post("/console/you/password/", {"old": PASSWORD, "password": "password1234"})
    assert b"too common" in weak.content
    assert is_in(there)
    here.post("/console/you/password/", {"old": PASSWORD, "password": "quite another long phrase"})
    assert (is_in(here), is_in(there)) == (True, False)
    assert not is_in(knock())
    assert is_in(knock(password="quite another long phrase"))


def test_an_end_holds_at_the_next_request_of_every_process(office):
    """Two servers: what one ends, the other refuses at once."""
    with serving() as first, serving() as second:
        web = urllib3.PoolManager()

        def get(server: str, session: str, path: str = "/console/") -> int:
            headers = {"Cookie": f"sessionid={session}"}
            return web.request("GET", server + path, headers=headers, redirect=False).status

        here, there, third = (cookie(knock()) for _ in range(3))
        assert {get(server, value) for server in (first, second) for value in (here, there, third)} == {200}
        ours = Client()
        ours.cookies[_settings.SESSION_COOKIE_NAME] = there
        ours.post("/console/logout/")
        assert (get(first, there), get(second, there)) == (302, 302)
        ours.cookies[_settings.SESSION_COOKIE_NAME] = here
        assert b"1 other session" in ours.post("/console/you/sessions/others/end/", follow=True).content
        assert (get(first, third), get(second, third)) == (302, 302)
        assert (get(first, here), get(second, here)) == (200, 200)
        leaving.suspend(workspace_id=office.id, membership_id=_second_owner(office).id)
        people.deactivate(user=User.objects.get(email="bo@acme.test"))
        people.deactivate(user=User.objects.get(email="cy@acme.test"))
        assert get(second, here) == 200
        gone = cookie(knock("di@acme.test"))
        assert get(second, gone) == 403, "signed in, and nowhere a member"


def _second_owner(office):
    from tests.console import seed

    seed.person("di@acme.test")
    return seed.member(seed.person("cy@acme.test"), office.workspace)


def test_one_session_is_ended_by_its_person_only(office):
    here, there, stranger = knock(), knock(), knock("bo@acme.test")
    page = here.get("/console/you/sessions/").content.decode()
    assert page.count("this device") == 1
    other = DeviceSession.objects.filter(user=office.ada).exclude(id=here.session.row_id).get()
    path = f"/console/you/sessions/{other.id}/end/"
    assert stranger.post(path).status_code == 404
    assert is_in(there)
    assert here.post(path).status_code == 302
    assert not is_in(there)
    assert here.post(path).status_code == 404
    assert bytes(DeviceSession.objects.get(id=other.id).data) == b""


def test_sessions_end_by_time_idle_and_at_all(office, settings):
    with time_machine.travel(clock.now(), tick=False) as travel:
        idle, busy = knock(), knock()
        for _ in range(20):
            travel.shift(timedelta(hours=8))
            assert is_in(busy)
        assert not is_in(idle)
        travel.shift(timedelta(hours=9))
        assert not is_in(busy), "seven days are over, however busy it was"


def test_work_under_way_does_not_revive_what_has_ended(office):
    client = knock()
    slow = SessionStore(cookie(client))
    slow["note"] = "written late"
    client.post("/console/logout/")
    with pytest.raises(UpdateError):
        slow.save()
    assert not is_in(client)


# --- forms ------------------------------------------------------------------------------------------------------------


def _posts() -> list[str]:
    """Every address of the console, ids made up: what a cookie alone could set off."""
    found = []

    def walk(patterns, before):
        for pattern in patterns:
            text = before + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                walk(pattern.url_patterns, text)
            else:
                found.append(text)

    walk(get_resolver().url_patterns, "")
    return sorted({_filled(path) for path in found if path.startswith("console/")})


def _filled(path: str) -> str:
    import re

    values = {"uuid": "00000000-0000-4000-8000-000000000001", "int": "1"}
    path = re.sub(r"<(?:(\w+):)?\w+>", lambda match: values.get(match[1] or "", "x"), path)
    path = re.sub(r"\(\?P<\w+>[^)]*\)", "x", path)
    return "/" + path.replace("^", "").replace("$", "").replace("\\", "")


@pytest.mark.long
@pytest.mark.parametrize("ways", [1, pytest.param(2, marks=pytest.mark.deep)])
def test_no_form_of_the_console_is_taken_without_the_token_of_its_session(office, cases, ways):
    """With the cookie and without the token, in the disguises that a foreign page can give a request: refused. Each form
    in one of the two ways by turns, or in both."""
    guarded, paths = Client(enforce_csrf_checks=True), _posts()
    plain = knock(client=Client())
    guarded.cookies[_settings.SESSION_COOKIE_NAME] = cookie(plain)
    bo = knock("bo@acme.test", client=Client())
    token = _token(bo)
    tried = 0
    disguises = itertools.cycle(
        [
            ("application/x-www-form-urlencoded", "a=1"),
            ("text/plain", json.dumps({"a": 1})),
            ("application/json", json.dumps({"a": 1})),
        ]
    )
    for turn, (path, (content_type, body)) in enumerate(zip(paths, disguises, strict=False)):
        for way in range(turn, turn + ways):
            if way % 2:
                answer = guarded.generic("POST", path, body, content_type=content_type)
            else:
                # Another session's token, and one that a neighbour planted as a cookie, are none.
                guarded.cookies["csrftoken"] = token
                answer = guarded.post(path, {"csrfmiddlewaretoken": token}, HTTP_X_CSRFTOKEN=token)
            assert answer.status_code in (403, 404), (path, content_type, answer.status_code)
            tried += 1
    assert is_in(plain)
    assert len(paths) > 150, "the walk sees the console"
    own = _token(plain)
    assert guarded.post("/console/you/sessions/others/end/", {"csrfmiddlewaretoken": own}).status_code == 302
    row = DeviceSession.objects.get(user=office.ada, revoked_at=None)
    assert len(row.csrf_hash) == 32
    cases("L4", tried)


def _token(client: Client) -> str:
    return client.get("/console/you/").content.decode().partition('csrfmiddlewaretoken" value="')[2].partition('"')[0]


def test_a_cookie_is_no_credential_of_the_api(office):
    client = knock()
    for method, path in (("get", "/api/v1/members"), ("post", "/api/v1/invitations"), ("delete", "/api/v1/members/1")):
        assert getattr(client, method)(path).status_code in (401, 404)
    with in_workspace(office.id):
        assert client.get("/api/v1/workspace").status_code == 401
