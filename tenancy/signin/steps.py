"""Each step of an app's clock opens a door once, in all processes, however its code is written.

A code has many spellings: whoever compares it passes over blanks, dashes and every other mark. So what is used up is the
step of thirty seconds that the code stands for, never the text that somebody has typed.
"""

from allauth.mfa import app_settings
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth
from allauth.mfa.utils import decrypt

from tenancy.services import throttling


def use(authenticator: Authenticator, code: str) -> bool:
    """Use up what a right code of this app stands for; whether it was unused."""
    return use_secret(decrypt(authenticator.data["secret"]), code)


def use_secret(secret: str, code: str) -> bool:
    """The same for an app that is being added. The secret names it: the counter keeps a SHA-256 of its 160 bits only."""
    steps = [step for step in auth.yield_hotp_counters_from_time() if _is_code_of(secret, step, code)]
    # None is left when the code has ended since it was found right. Two steps may have the same code: it uses up both.
    first = [throttling.take_once("used step", f"{secret}\x00{step}", seconds=_lifetime()) for step in steps]
    return bool(first) and all(first)


def _is_code_of(secret: str, step: int, code: str) -> bool:
    right = auth.format_hotp_value(auth.hotp_value(secret, step))
    return bool(auth.compare_user_code(actual=code, expected=right))


def _lifetime() -> float:
    """Of a step, with the drift of clocks that is forgiven before and after, and one more."""
    return float(app_settings.TOTP_PERIOD * (2 * app_settings.TOTP_TOLERANCE + 2))
