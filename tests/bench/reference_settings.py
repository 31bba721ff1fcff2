"""The reference view of the bench, behind the usual middleware of an API."""

from tests.bench.settings import *  # noqa: F403 - settings build on settings

ROOT_URLCONF = "tests.bench.reference"
MIDDLEWARE = ["django.middleware.security.SecurityMiddleware", "django.middleware.common.CommonMiddleware"]
