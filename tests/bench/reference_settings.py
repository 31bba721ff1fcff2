"""The reference view of the bench, behind the usual middleware of an API."""

from tests.bench.settings import *  # noqa: F403 - settings build on settings

ROOT_URLCONF = "tests.bench.reference"
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "allauth.account.middleware.AccountMiddleware",  # its app insists on the two; nothing is ever loaded or kept
]
SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
