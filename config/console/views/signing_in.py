"""For whoever is outside: sign in, join by an invitation, choose a new password by a link."""

from typing import Any
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from allauth.account.views import LoginView
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.webauthn.views import LoginWebAuthnView
from allauth.socialaccount.adapter import get_adapter as sso_adapter
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe
from django.views.generic import TemplateView

from config.console import places
from config.console.forms import Account, Address, NewPassword
from config.console.frames import Framed, door
from kernel.errors import DomainError
from tenancy.credentials.devices import origin_of
from tenancy.models import User
from tenancy.services import inviting, mailing, resetting
from tenancy.services.inviting import Offer

both = require_http_methods(["GET", "HEAD", "POST"])


class SignIn(Framed, LoginView):
    """Address and password in one step; or a passkey; or single sign-on, where there is one."""

    template_name = "console/doors/sign_in.html"
    title = "Sign in"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Whether there are other ways than a password."""
        context = super().get_context_data(**kwargs)
        providers = sso_adapter().list_providers(self.request)
        return context | {"providers": providers, "has_mail": mailing.is_configured()}


class SecondFactor(Framed, AuthenticateView):
    """A code or a passkey, after the password."""

    template_name = "console/doors/second_factor.html"
    title = "One more step"


class Passkey(LoginWebAuthnView):
    """A passkey alone."""


class Closed(Framed, TemplateView):
    """Where strangers would sign up elsewhere."""

    template_name = "console/doors/closed.html"
    title = "By invitation only"


@require_safe
def sso_over(request: HttpRequest) -> HttpResponse:
    """Back from single sign-on without a sign-in."""
    messages.error(request, "Single sign-on was not finished. Try again, or sign in with your password.")
    return HttpResponseRedirect(reverse("account_login"))


@both
def forgotten(request: HttpRequest) -> HttpResponse:
    """Ask for a link to a new password. The answer is the same for every address."""
    form = Address(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            resetting.ask(email=form.cleaned_data["email"], origin=origin_of(request.META))
        except DomainError as error:
            form.add_error(None, error.detail)
        else:
            return door(request, "asked", "Look into your mail", minutes=round(settings.RESET_MINUTES))
    return door(request, "forgotten", "Forgot your password?", form=form, has_mail=mailing.is_configured())


@both
def new_password(request: HttpRequest, token: str) -> HttpResponse:
    """Use such a link."""
    if not resetting.is_good(token):
        return door(request, "over", "This link is over", status=404, ask_again=True)
    form = NewPassword(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            resetting.reset(token=token, password=form.cleaned_data["password"])
        except resetting.LinkOver:
            return door(request, "over", "This link is over", status=404, ask_again=True)
        except DomainError as error:
            form.take(error)
        else:
            messages.success(request, "Your new password is set, and you are signed out everywhere. Sign in with it.")
            return HttpResponseRedirect(reverse("account_login"))
    return door(request, "new_password", "Choose a new password", form=form)


@both
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Accept an invitation: with the account that there is, or with one that is made now."""
    try:
        offer = inviting.offered(token)
    except inviting.LinkOver:
        return door(request, "over", "This invitation is over", status=404)
    form = Account(request.POST or None)
    if request.method == "POST":
        try:
            return _joined(request, token, offer, form)
        except inviting.LinkOver:
            return door(request, "over", "This invitation is over", status=404)
        except DomainError as error:
            form.take(error)
    needs_account = not request.user.is_authenticated and not inviting.has_account(offer)
    return door(
        request,
        "join",
        f"Join {offer.workspace}",
        offer=offer,
        form=form,
        needs_account=needs_account,
        is_other=request.user.is_authenticated and request.user.email != offer.email,
        sign_in=f"{reverse('account_login')}?{urlencode({'next': request.path})}",
    )


def _joined(request: HttpRequest, token: str, offer: Offer, form: Account) -> HttpResponse:
    if isinstance(request.user, User):
        inviting.accept(token=token, user=request.user)
        # They may more than before: the session goes on under a new value.
        request.session.cycle_key()
    elif not form.is_valid():
        # The page is shown again, with what is missing.
        raise DomainError("Fill in what is missing.")
    else:
        user = inviting.accept_as_new(token=token, **form.account())
        get_adapter(request).login(request, user)
    request.session[places.SESSION_KEY] = str(offer.workspace_id)
    messages.success(request, f"Welcome to {offer.workspace}.")
    return HttpResponseRedirect(reverse("admin:index"))


def foreign_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form without its session's token: an old page, or a page of somebody else's."""
    return door(request, "csrf", "Please try again", status=403)
