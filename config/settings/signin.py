"""How django-allauth serves the console's sign-in: by e-mail address, with no self sign-up, over our own sessions.

Its own counters stay off: ours hold under parallel tries (docs/people.md).
"""

from django.urls import reverse_lazy

ACCOUNT_ADAPTER = "tenancy.signin.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_NOTIFICATIONS = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_RATE_LIMITS = False
ACCOUNT_LOGOUT_REDIRECT_URL = reverse_lazy("admin:login")
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_FORMS = {
    "login": "tenancy.signin.forms.SignInForm",
    "reauthenticate": "tenancy.signin.forms.PasswordAgainForm",
}

MFA_ADAPTER = "tenancy.signin.adapters.FactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_TOTP_TOLERANCE = 1
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_RATE_LIMITS = False
MFA_FORMS = {
    "authenticate": "tenancy.signin.forms.CodeForm",
    "reauthenticate": "tenancy.signin.forms.CodeAgainForm",
    "login_webauthn": "tenancy.signin.forms.PasskeySignInForm",
    "authenticate_webauthn": "tenancy.signin.forms.PasskeyForm",
    "reauthenticate_webauthn": "tenancy.signin.forms.PasskeyAgainForm",
    "activate_totp": "tenancy.signin.forms.NewTotpForm",
    "add_webauthn": "tenancy.signin.forms.NewPasskeyForm",
    "edit_webauthn": "tenancy.signin.forms.PasskeyNameForm",
}

SOCIALACCOUNT_ADAPTER = "tenancy.signin.adapters.SsoAdapter"
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False
SOCIALACCOUNT_LOGIN_ON_GET = True
SOCIALACCOUNT_STORE_TOKENS = False
