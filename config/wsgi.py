"""WSGI entry for granian, gunicorn and others."""

import os

from django.core.wsgi import get_wsgi_application

from config.starting import or_refuse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")

with or_refuse():
    application = get_wsgi_application()

    from kernel import crypto

    crypto.require_keys()
