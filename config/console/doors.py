"""The pages before and around the console's own: signing in, joining, and what people see and change of themselves.

Those of django-allauth keep the names that it asks for. They come before the admin site's routes, whose own sign-in,
sign-out and change of password nobody reaches.
"""

from allauth.account import views as account
from allauth.socialaccount.providers.openid_connect import urls as openid_connect
from django.urls import include, path

from config.console.views import factors, profile, signing_in

urlpatterns = [
    path("login/", signing_in.SignIn.as_view(), name="account_login"),
    path("login/code/", signing_in.SecondFactor.as_view(), name="mfa_authenticate"),
    path("login/passkey/", signing_in.Passkey.as_view(), name="mfa_login_webauthn"),
    path("logout/", account.LogoutView.as_view(template_name="console/doors/sign_out.html"), name="account_logout"),
    path("inactive/", signing_in.Closed.as_view(), name="account_inactive"),
    path("signup/", signing_in.Closed.as_view(), name="account_signup"),
    path("password/forgotten/", signing_in.forgotten, name="account_reset_password"),
    path("password/new/<str:token>/", signing_in.new_password, name="new_password"),
    path("join/<str:token>/", signing_in.join, name="join"),
    path("sso/error/", signing_in.sso_over, name="socialaccount_login_error"),
    path("sso/cancelled/", signing_in.sso_over, name="socialaccount_login_cancelled"),
    path("sso/signup/", signing_in.Closed.as_view(), name="socialaccount_signup"),
    path("sso/", include(openid_connect)),
    path("you/", profile.profile, name="you"),
    path("you/", profile.profile, name="mfa_index"),
    path("you/", profile.profile, name="socialaccount_connections"),
    path("you/password/", profile.password, name="account_change_password"),
    path("you/sessions/", profile.sessions, name="your_sessions"),
    path("you/sessions/others/end/", profile.end_others, name="end_other_sessions"),
    path("you/sessions/<uuid:session_id>/end/", profile.end, name="end_session"),
    path("you/confirm/", factors.PasswordAgain.as_view(), name="account_reauthenticate"),
    path("you/confirm/code/", factors.CodeAgain.as_view(), name="mfa_reauthenticate"),
    path("you/confirm/passkey/", factors.PasskeyAgain.as_view(), name="mfa_reauthenticate_webauthn"),
    path("you/app/", factors.AddApp.as_view(), name="mfa_activate_totp"),
    path("you/app/remove/", factors.RemoveApp.as_view(), name="mfa_deactivate_totp"),
    path("you/passkeys/", profile.profile, name="mfa_list_webauthn"),
    path("you/passkeys/add/", factors.AddPasskey.as_view(), name="mfa_add_webauthn"),
    path("you/passkeys/<int:pk>/", factors.NamePasskey.as_view(), name="mfa_edit_webauthn"),
    path("you/passkeys/<int:pk>/remove/", factors.RemovePasskey.as_view(), name="mfa_remove_webauthn"),
    path("you/codes/", factors.Codes.as_view(), name="mfa_view_recovery_codes"),
    path("you/codes/new/", factors.NewCodes.as_view(), name="mfa_generate_recovery_codes"),
]
