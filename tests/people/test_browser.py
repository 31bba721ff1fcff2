"""People at the door, in a real browser on a real server: invitation, password, app, passkey, and signing out the others."""

import re

import pytest
from allauth.mfa.models import Authenticator

from tenancy.models import DeviceSession, LoginEvent
from tests.console.test_browser import CONTRAST, Watch
from tests.people.conftest import PASSWORD, invitation_path
from tests.people.test_factors import code_of

pytestmark = pytest.mark.xdist_group("browser")
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def address(server: str) -> str:
    """By name: a browser has passkeys for names only."""
    return server.replace("127.0.0.1", "localhost")


@pytest.fixture
def visit(chromium, address):
    """Open a page as somebody with a browser of their own."""
    opened = []

    def go(path: str, **options):
        context = chromium.new_context(viewport={"width": 1440, "height": 900}, **options)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.watch = Watch(page, address)
        opened.append(page)
        page.goto(address + path)
        return page

    yield go
    faults = [fault for page in opened for fault in page.watch.faults]
    for page in opened:
        page.context.close()
    assert faults == []


def sign_in(page, email: str = "ada@acme.test", password: str = PASSWORD) -> None:
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def is_home(page) -> None:
    page.get_by_role("heading", name=re.compile("What needs a person|Nothing waits for you")).wait_for()


def confirm(page) -> None:
    page.get_by_role("heading", name="Confirm that it is you").wait_for()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()


@pytest.mark.long
def test_an_owner_invites_somebody_who_joins(office, visit):
    ada = visit("/console/")
    sign_in(ada)
    is_home(ada)
    ada.get_by_role("link", name="Invitations").first.click()
    ada.get_by_title("Add invitation").click()
    ada.get_by_label("Email").fill("noor@acme.test")
    ada.get_by_label(office.agent_role.name).check()
    ada.get_by_role("button", name="Save", exact=True).click()
    ada.get_by_text("This is shown once").wait_for()
    link = ada.locator("[data-secret]").inner_text()
    noor = visit("/" + link.split("/", 3)[3])
    noor.get_by_role("heading", name="Join Acme").wait_for()
    noor.get_by_label("Your name").fill("Noor Haddad")
    noor.get_by_label("Choose a password").fill("a phrase that nobody else has")
    noor.get_by_role("button", name="Join Acme").click()
    is_home(noor)
    ada.get_by_role("link", name="I have kept it").click()
    ada.get_by_text("accepted").first.wait_for()
    ada.get_by_role("link", name="Members").first.click()
    ada.get_by_text("Noor Haddad").first.wait_for()


@pytest.mark.long
def test_an_app_a_passkey_and_signing_out_everywhere_else(office, visit):
    page = visit("/console/")
    sign_in(page)
    is_home(page)
    page.locator(".c-me summary").click()
    page.get_by_role("link", name="You and your sign-in").click()
    _add_app(page)
    elsewhere = _sign_in_with_app(visit)
    _add_passkey(page)
    page.locator(".c-me summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in with a passkey").click()
    is_home(page)
    assert LoginEvent.objects.latest("id").method == "passkey"
    elsewhere.reload()
    is_home(elsewhere)
    page.locator(".c-me summary").click()
    page.get_by_role("link", name="Your sessions").click()
    page.get_by_text("this device").wait_for()
    page.get_by_role("button", name="Sign out all others").click()
    page.get_by_text("Signed out of 1 other session").wait_for()
    elsewhere.reload()
    elsewhere.get_by_role("heading", name="Sign in to").wait_for()
    assert DeviceSession.objects.filter(user=office.ada, revoked_at=None).count() == 1


def _add_app(page) -> None:
    page.locator("li", has_text="Authenticator app").get_by_role("link", name="Add").click()
    confirm(page)
    page.secret = page.locator("[data-secret]").inner_text().strip()
    page.get_by_label("Code that the app shows").fill(code_of(page.secret))
    page.get_by_role("button", name="Add the app").click()
    page.get_by_text("They are shown once").wait_for()
    page.get_by_role("link", name="I have kept them").click()
    page.get_by_text("10 left, each good once").wait_for()


def _sign_in_with_app(visit):
    page = visit("/console/")
    sign_in(page)
    page.get_by_role("heading", name="One more step").wait_for()
    page.get_by_label("Code").fill("000000")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_text("Incorrect code").wait_for()
    secret = Authenticator.objects.get(type="totp").wrap().instance.data["secret"]
    from allauth.mfa.utils import decrypt

    page.get_by_label("Code").fill(code_of(decrypt(secret), step=1))
    page.get_by_role("button", name="Sign in").click()
    is_home(page)
    return page


def _add_passkey(page) -> None:
    cdp = page.context.new_cdp_session(page)
    cdp.send("WebAuthn.enable")
    cdp.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    page.locator("li", has_text="Passkey").get_by_role("link", name="Add").click()
    page.get_by_label("Name").fill("Ada's laptop")
    page.get_by_role("button", name="Add the passkey").click()
    page.get_by_text("Ada's laptop").first.wait_for()


@pytest.mark.parametrize(("width", "theme"), [(390, "light"), pytest.param(1440, "dark", marks=pytest.mark.deep)])
def test_every_page_fits_and_can_be_read(office, chromium, address, width, theme):
    context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=theme)
    page = context.new_page()
    page.set_default_timeout(15_000)
    watch = Watch(page, address)
    outside = ["/console/login/", "/console/password/forgotten/", invitation_path(office, "noor@acme.test")]
    for path in outside:
        _look(page, address, path, width)
    page.goto(f"{address}/console/login/?next=/console/you/app/")
    sign_in(page)
    confirm(page)
    inside = [
        "you/app/", "you/", "you/sessions/", "you/password/", "you/passkeys/add/", "tenancy/membership/", "tenancy/invitation/",
        f"tenancy/membership/{office.member.id}/change/", "tenancy/invitation/add/",
    ]  # fmt: skip
    for path in inside:
        _look(page, address, f"/console/{path}", width)
    assert watch.faults == []
    context.close()


def _look(page, address: str, path: str, width: int) -> None:
    page.goto(address + path)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width, f"{path} is {wide} px wide"
    assert page.evaluate(CONTRAST) == {}, path
