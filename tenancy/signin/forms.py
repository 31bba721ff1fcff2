"""The forms of signing in: django-allauth's, in the console's look, with every try counted and noted."""

from collections.abc import Callable
from typing import Any

from allauth.account.forms import LoginForm, ReauthenticateForm
from allauth.core import context
from allauth.mfa.base import forms as codes
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn import forms as passkeys
from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import CHECKBOX_CLASSES, INPUT_CLASSES

from tenancy.credentials.devices import Origin, origin_of
from tenancy.models import User
from tenancy.services import signing_in, throttling
from tenancy.signin import methods, steps
from tenancy.types import LoginMethod, LoginOutcome

_USED = "This code was used already. Wait for the next one."


class Dressed(forms.Form):
    """A form whose fields look like those of the console."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            is_box = isinstance(field.widget, forms.CheckboxInput)
            field.widget.attrs["class"] = " ".join(CHECKBOX_CLASSES if is_box else INPUT_CLASSES)
            field.widget.attrs.pop("placeholder", None)


def here() -> Origin:
    """Where the request at work comes from."""
    return origin_of(context.request.META)


class SignInForm(Dressed, LoginForm):
    """E-mail address and password, in one step."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs |= {"autocomplete": "username", "autofocus": True}
        self.fields["password"].help_text = ""


class PasswordAgainForm(Dressed, ReauthenticateForm):
    """The password once more, before something that matters."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].widget.attrs["autofocus"] = True
        self.fields["password"].help_text = ""


class _CountedCode(Dressed):
    """A code of an app, or a recovery code: counted per person, and good once, in all processes."""

    user: User
    is_step_up = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].widget.attrs |= {"autofocus": True, "inputmode": "text"}

    def clean_code(self) -> str:
        method = LoginMethod.TOTP
        taken = counted(self.user, method, is_step_up=self.is_step_up)
        try:
            code: str = super().clean_code()  # type: ignore[misc]
        except ValidationError:
            signing_in.note(LoginOutcome.WRONG_CODE, method, here(), user=self.user, is_step_up=self.is_step_up)
            raise
        method = methods.of(self.authenticator)  # type: ignore[attr-defined]
        # An app shows a code for longer than it takes to read it over somebody's shoulder. A recovery code is used up
        # where it is kept, under a lock.
        if method == LoginMethod.TOTP and not steps.use(self.authenticator, code):  # type: ignore[attr-defined]
            signing_in.note(LoginOutcome.USED_CODE, method, here(), user=self.user, is_step_up=self.is_step_up)
            raise ValidationError(_USED)
        throttling.give_back(taken)
        if self.is_step_up:
            signing_in.note(LoginOutcome.SUCCESS, method, here(), user=self.user, is_step_up=True)
        return code


class CodeForm(_CountedCode, codes.AuthenticateForm):
    """The second factor of a sign-in."""


class CodeAgainForm(_CountedCode, codes.ReauthenticateForm):
    """A code, before something that matters."""

    is_step_up = True


class _CountedPasskey(Dressed):
    """A passkey whose person is known: counted. The signature cannot be guessed; the work of checking it costs."""

    user: User
    is_step_up = False

    def clean_credential(self) -> Authenticator:
        taken = counted(self.user, LoginMethod.PASSKEY, is_step_up=self.is_step_up)
        found = noted(super().clean_credential, self.user, is_step_up=self.is_step_up)  # type: ignore[misc]
        throttling.give_back(taken)
        if self.is_step_up:
            signing_in.note(LoginOutcome.SUCCESS, LoginMethod.PASSKEY, here(), user=self.user, is_step_up=True)
        return found


class PasskeyForm(_CountedPasskey, passkeys.AuthenticateWebAuthnForm):
    """A passkey as the second factor of a sign-in."""


class PasskeyAgainForm(_CountedPasskey, passkeys.ReauthenticateWebAuthnForm):
    """A passkey, before something that matters."""

    is_step_up = True


class PasskeySignInForm(Dressed, passkeys.LoginWebAuthnForm):
    """A passkey alone. It names its person itself, so counters of a person would let anybody lock them out."""

    def clean_credential(self) -> Authenticator:
        found: Authenticator = noted(super().clean_credential, None)
        if not found.user.is_active:
            signing_in.note(LoginOutcome.INACTIVE, LoginMethod.PASSKEY, here(), user=found.user)
            raise ValidationError("This passkey cannot be used here.")
        return found


class NewTotpForm(Dressed, ActivateTOTPForm):
    """The first code of a new app shows that it works, and with that it is used."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = "Code that the app shows"
        self.fields["code"].widget.attrs |= {"inputmode": "numeric", "autofocus": True}

    def clean_code(self) -> str:
        code: str = super().clean_code()
        if not steps.use_secret(self.secret, code):
            raise ValidationError(_USED)
        return code


class NewPasskeyForm(Dressed, passkeys.AddWebAuthnForm):
    """A name for a new passkey. It signs in by itself unless somebody wants it as a second factor only."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["passwordless"].label = "Sign in with it alone"
        self.fields["passwordless"].initial = True
        self.fields["passwordless"].help_text = "Without it, it is asked for after the password."
        self.initial["name"] = here().device or "Passkey"


class PasskeyNameForm(Dressed, passkeys.EditWebAuthnForm):
    """Another name for a passkey."""


def counted(user: User, method: LoginMethod, *, is_step_up: bool) -> throttling.Taken:
    """Room for a try; a refusal as forms say it."""
    try:
        return signing_in.try_code(user=user, origin=here(), method=method, is_step_up=is_step_up)
    except signing_in.TooManyTries as error:
        raise ValidationError(error.detail) from error


def noted(check: Callable[[], Any], user: User | None, *, is_step_up: bool = False) -> Any:
    """What a passkey's check says; its refusal leaves a LoginEvent."""
    try:
        return check()
    except ValidationError:
        signing_in.note(LoginOutcome.WRONG_PASSKEY, LoginMethod.PASSKEY, here(), user=user, is_step_up=is_step_up)
        raise
