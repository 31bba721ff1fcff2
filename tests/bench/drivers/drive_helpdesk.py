"""django-helpdesk: `helpdesk.email.extract_email_metadata`, as its command `get_email` calls it for each mail."""

import logging

import django
from django.conf import settings
from serving import serve
from serving import settings as common

settings.configure(
    **common(
        ROOT_URLCONF="urls_helpdesk",
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "django.contrib.sites",
            "django.contrib.messages",
            "django.contrib.admin",
            "django.contrib.humanize",
            "rest_framework",
            "helpdesk",
        ],
        HELPDESK_TEAMS_MODE_ENABLED=False,
    )
)
django.setup()

from django.core.management import call_command  # noqa: E402
from helpdesk.email import extract_email_metadata  # noqa: E402
from helpdesk.models import FollowUp, Queue  # noqa: E402

call_command("migrate", verbosity=0)
queue = Queue.objects.create(
    title="Bench", slug="bench", email_address="support@bench.test", allow_email_submission=True
)
logger = logging.getLogger("helpdesk")

serve(lambda raw: extract_email_metadata(raw.decode(), queue, logger), FollowUp.objects.count)
