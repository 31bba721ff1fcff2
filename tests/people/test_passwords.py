"""L6 and the rest of L3: how passwords are kept, and links to new ones."""

from datetime import timedelta

import pytest
import time_machine
from django.test import Client

from audit.models import AuditEvent
from kernel import clock
from kernel.context import ESTATE
from kernel.transactions import in_workspace
from tenancy.models import ResetToken, User
from tests.people.conftest import PASSWORD, is_in, knock
from tests.tenancy.test_provisioning import together

ANOTHER = "quite another long phrase"


def ask(email: str = "ada@acme.test") -> None:
    assert b"If there is an account" in Client().post("/console/password/forgotten/", {"email": email}).content


def test_hashes_are_argon2id_at_the_configured_cost_and_lifted_to_it_at_a_sign_in(office, settings):
    settings.PASSWORD_HASHERS = ["tenancy.credentials.passwords.Argon2idHasher"]
    settings.PASSWORD_MEMORY_KIB, settings.PASSWORD_PASSES, settings.PASSWORD_LANES = 2048, 2, 1
    office.ada.set_password(PASSWORD)
    office.ada.save(update_fields=["password"])
    assert office.ada.password.startswith("argon2$argon2id$v=19$m=2048,t=2,p=1$")
    settings.PASSWORD_MEMORY_KIB, settings.PASSWORD_PASSES = 4096, 3
    assert not is_in(knock(password="wrong wrong wrong"))
    assert "m=2048,t=2" in User.objects.get(id=office.ada.id).password, "a wrong guess lifts nothing"
    assert is_in(knock())
    assert User.objects.get(id=office.ada.id).password.startswith("argon2$argon2id$v=19$m=4096,t=3,p=1$")
    assert is_in(knock())


def test_production_hashes_at_a_cost_that_hurts():
    from config.settings import base

    assert base.PASSWORD_HASHERS == ["tenancy.credentials.passwords.Argon2idHasher"]
    assert (base.PASSWORD_MEMORY_KIB, base.PASSWORD_PASSES) == (65_536, 3)


def test_a_link_is_good_once_and_ends_every_session(office, post):
    inside = knock()
    ask(" ADA@acme.test")
    path = post.path()
    assert Client().get(path)["Referrer-Policy"] == "no-referrer"
    assert b"too common" in Client().post(path, {"password": "password1234"}).content
    assert Client().post(path, {"password": ANOTHER})["Location"] == "/console/login/"
    assert not is_in(inside)
    assert not is_in(knock())
    assert is_in(knock(password=ANOTHER))
    for answer in (Client().get(path), Client().post(path, {"password": "a third long phrase"})):
        assert (answer.status_code, b"This link is over" in answer.content) == (404, True)
    assert is_in(knock(password=ANOTHER))
    with in_workspace(ESTATE):
        assert AuditEvent.objects.filter(action="user.change_password", resource_id=str(office.ada.pk)).count() == 1


def test_a_link_ends_by_time_and_with_the_use_of_another(office, post):
    ask()
    first = post.path()
    ask()
    second = post.path()
    assert Client().post(second, {"password": ANOTHER}).status_code == 302
    assert Client().get(first).status_code == 404
    ask()
    third = post.path()
    with time_machine.travel(clock.now() + timedelta(minutes=61)):
        assert Client().post(third, {"password": "a third long phrase"}).status_code == 404
    assert is_in(knock(password=ANOTHER))


def test_of_eight_who_use_a_link_at_once_one_does(office, post):
    ask()
    path = post.path()
    answers = together(
        8, lambda number: Client().post(path, {"password": f"the phrase of number {number}"}).status_code
    )
    assert answers == {302: 1, 404: 7}
    assert sum(is_in(knock(password=f"the phrase of number {number}")) for number in range(8)) == 1


def test_nobody_is_flooded_with_letters_and_nobody_is_told(office, post):
    for _ in range(8):
        ask()
    ask("nobody@acme.test")
    assert len(post.letters()) == 5
    assert ResetToken.objects.count() == 9
    office.bo.is_active = False
    office.bo.save(update_fields=["is_active"])
    ask("bo@acme.test")
    assert len(post.letters()) == 5


def test_one_address_does_not_ask_for_ever(office, post, settings):
    settings.LOGIN_ADDRESS_TRIES = 3
    for number in range(3):
        ask(f"nobody{number}@acme.test")
    answer = Client().post("/console/password/forgotten/", {"email": "ada@acme.test"})
    assert b"Too many requests from here" in answer.content


def test_without_mail_the_page_says_whom_to_ask(office):
    assert b"sends no mail to its people" in Client().get("/console/password/forgotten/").content


@pytest.mark.parametrize("token", ["x", "%00", "a" * 500])
def test_what_is_no_link_is_over(office, token):
    assert Client().get(f"/console/password/new/{token}/").status_code == 404
