"""What people see and change of themselves: profile, password, second factors, sessions and sign-ins."""

from typing import Any
from uuid import UUID

from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from config.console.forms import ChangedPassword, Profile
from config.console.pages import page
from kernel.errors import DomainError, NotFound
from kernel.transactions import unit_of_work
from tenancy.credentials.devices import origin_of
from tenancy.models import User
from tenancy.queries import people as of_person
from tenancy.services import passwords, people, signing_in
from tenancy.services import sessions as ending

both = require_http_methods(["GET", "HEAD", "POST"])
LATEST = 25


def _person(request: HttpRequest) -> User:
    user = request.user
    if not isinstance(user, User):
        raise Http404
    return user


def _session_id(request: HttpRequest) -> UUID | None:
    found: UUID | None = request.session.row_id  # type: ignore[attr-defined]
    return found


@both
@login_required
def profile(request: HttpRequest) -> HttpResponse:
    """Name, time zone, and ways to sign in."""
    user = _person(request)
    form = Profile(request.POST or None, initial={"name": user.name, "timezone": user.timezone})
    if request.method == "POST" and form.is_valid():
        try:
            people.change_profile(user=user, **form.cleaned_data)
        except DomainError as error:
            form.take(error)
        else:
            messages.success(request, "Saved.")
            return HttpResponseRedirect(reverse("you"))
    factors: dict[str, list[Any]] = {}
    for row in Authenticator.objects.filter(user=user).order_by("created_at", "id"):
        factors.setdefault(row.type, []).append(row)
    codes = factors.get(Authenticator.Type.RECOVERY_CODES, [])
    return page(
        request,
        "people/profile",
        "You",
        form=form,
        app=next(iter(factors.get(Authenticator.Type.TOTP, [])), None),
        passkeys=factors.get(Authenticator.Type.WEBAUTHN, []),
        codes_left=len(codes[0].wrap().get_unused_codes()) if codes else None,
        has_password=user.has_usable_password(),
        sessions=of_person.open_sessions(user).count(),
    )


@both
@login_required
def password(request: HttpRequest) -> HttpResponse:
    """A new password, by who knows the old one. Every other session ends."""
    user = _person(request)
    form = ChangedPassword(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            if _change_password(request, user, form):
                messages.success(request, "Your password is changed, and you are signed out everywhere else.")
                return HttpResponseRedirect(reverse("you"))
            form.add_error("old", "This is not your present password.")
        except DomainError as error:
            form.take(error)
    return page(request, "people/password", "Change your password", form=form, has_password=user.has_usable_password())


def _change_password(request: HttpRequest, user: User, form: ChangedPassword) -> bool:
    """False when the old one is wrong, which is counted."""
    if not signing_in.by_password_again(user=user, password=form.cleaned_data["old"], origin=origin_of(request.META)):
        return False
    with unit_of_work():
        passwords.change(user=user, password=form.cleaned_data["password"], how="by hand")
        ending.end_others(user=user, but=_session_id(request))
    # This session goes on, under a new value.
    update_session_auth_hash(request, user)
    return True


@require_safe
@login_required
def sessions(request: HttpRequest) -> HttpResponse:
    """Where one is signed in, and how sign-ins went."""
    user = _person(request)
    return page(
        request,
        "people/sessions",
        "Your sessions",
        sessions=list(of_person.open_sessions(user)),
        here=_session_id(request),
        sign_ins=list(of_person.sign_ins(user)[:LATEST]),
    )


@require_POST
@login_required
def end(request: HttpRequest, session_id: UUID) -> HttpResponse:
    """Sign out somewhere."""
    try:
        ending.end(user=_person(request), session_id=session_id)
    except NotFound as error:
        raise Http404(error.detail) from error
    messages.success(request, "Signed out there.")
    return HttpResponseRedirect(reverse("your_sessions"))


@require_POST
@login_required
def end_others(request: HttpRequest) -> HttpResponse:
    """Sign out everywhere else."""
    ended = ending.end_others(user=_person(request), but=_session_id(request))
    messages.success(request, f"Signed out of {ended} other session{'' if ended == 1 else 's'}.")
    return HttpResponseRedirect(reverse("your_sessions"))
