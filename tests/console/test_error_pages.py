"""What stands in for a page that cannot be shown: readable, in our clothes, and needing nothing that may have failed."""

import pytest
from django.test import Client

from kernel.api.fallback import ANSWERS
from tests.architecture.code import ROOT


def broken(monkeypatch) -> None:
    from tenancy.signin import middleware

    monkeypatch.setattr(middleware, "origin_of", lambda _: 1 / 0)


@pytest.mark.parametrize("path", ["/console/", "/somewhere", "/"])
def test_a_host_that_is_not_ours_is_a_readable_400(settings, path):
    """The host is looked at before there is a session, a person or a workspace."""
    settings.ALLOWED_HOSTS = ["inbox.example.com"]
    answer = Client(SERVER_NAME="10.0.0.7").get(path)
    assert answer.status_code == 400
    assert "ALLOWED_HOSTS" in answer.content.decode()


def test_a_host_that_is_not_ours_is_a_problem_to_programs(settings):
    settings.ALLOWED_HOSTS = ["inbox.example.com"]
    answer = Client(SERVER_NAME="10.0.0.7").get("/api/v1/emails")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")


def test_an_address_that_is_not_there_is_a_page_with_a_way_back(db):
    answer = Client().get("/nowhere/at/all")
    page = answer.content.decode()
    assert (answer.status_code, 'href="/console/"' in page) == (404, True)
    assert answer["X-Request-Id"] in page


def test_a_fault_of_ours_is_a_page_with_its_number_and_no_more(db, monkeypatch):
    broken(monkeypatch)
    answer = Client(raise_request_exception=False).get("/console/")
    page = answer.content.decode()
    assert (answer.status_code, answer["X-Request-Id"] in page) == (500, True)
    assert "ZeroDivision" not in page
    assert "Traceback" not in page


def test_the_pages_ask_nothing_of_the_outside():
    template = (ROOT / "templates/error.html").read_text() + (ROOT / "static/console/error.css").read_text()
    assert "//" not in template.replace("<!doctype", "")
    assert all(said.advice_for_people.endswith(".") for said in ANSWERS)
