"""HyperKitty: `hyperkitty.lib.incoming.add_to_list` in a transaction and in batch mode, as its import command does."""

from email import message_from_bytes, policy

import django
from django.conf import settings
from serving import serve
from serving import settings as common

settings.configure(
    **common(
        ROOT_URLCONF="hyperkitty.urls",
        INSTALLED_APPS=[
            "hyperkitty",
            "django_mailman3",
            "django.contrib.admin",
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "django.contrib.sites",
            "django.contrib.messages",
            "django.contrib.humanize",
            "rest_framework",
            "django_gravatar",
            "compressor",
            "haystack",
            "django_extensions",
            "django_q",
            "allauth",
            "allauth.account",
            "allauth.socialaccount",
        ],
        MIDDLEWARE=["allauth.account.middleware.AccountMiddleware"],
        MAILMAN_REST_API_URL="http://127.0.0.1:1",
        MAILMAN_REST_API_USER="nobody",
        MAILMAN_REST_API_PASS="nothing",
        MAILMAN_ARCHIVER_KEY="nothing",
        MAILMAN_ARCHIVER_FROM=("127.0.0.1",),
        HAYSTACK_CONNECTIONS={"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}},
        Q_CLUSTER={"name": "bench", "orm": "default", "timeout": 30, "retry": 60},
        HYPERKITTY_BATCH_MODE=True,
    )
)
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import transaction  # noqa: E402
from hyperkitty.lib.incoming import add_to_list  # noqa: E402
from hyperkitty.models import Email  # noqa: E402

call_command("migrate", verbosity=0)


def work(raw: bytes) -> None:
    message = message_from_bytes(raw, policy=policy.default)
    with transaction.atomic():
        add_to_list("support@bench.test", message, from_import=True)


serve(work, Email.objects.count)
