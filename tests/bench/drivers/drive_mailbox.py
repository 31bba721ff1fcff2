"""django-mailbox: `Mailbox.process_incoming_message`, which stores the mail and joins no thread."""

from email import message_from_bytes

import django
from django.conf import settings
from serving import serve
from serving import settings as common

settings.configure(**common(INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django_mailbox"]))
django.setup()

from django.core.management import call_command  # noqa: E402
from django_mailbox.models import Mailbox, Message  # noqa: E402

call_command("migrate", verbosity=0)
box = Mailbox.objects.create(name="bench", from_email="support@bench.test")

serve(lambda raw: box.process_incoming_message(message_from_bytes(raw)), Message.objects.count)
