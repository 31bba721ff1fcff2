"""One machine, no configuration: secrets are made on first use and kept in var/. The default of manage.py."""

from importlib.util import find_spec as _find_spec

from config import env as _env
from config.env import env
from config.settings.base import *
from config.settings.base import DATABASE_OWNER_URL, DATABASE_URL, INSTALLED_APPS
from kernel import roles as _roles

_local = _env.local_secrets()

# Signs sessions and links.
SECRET_KEY = env.str("SECRET_KEY", default=_local["SECRET_KEY"])
# `1:<base64 of 32 bytes>,2:…`; the highest number encrypts, older ones still open what they sealed.
ENCRYPTION_KEYS = _env.encryption_keys(env.str("ENCRYPTION_KEYS", default=_local["ENCRYPTION_KEYS"]))
# Signs the Message-IDs of our own mail, by which answers find their thread.
REPLY_TOKEN_KEY = env.str("REPLY_TOKEN_KEY", default=_local["REPLY_TOKEN_KEY"])
# What the account hook presents; empty: there is no hook.
PROVISIONING_TOKEN = env.str("PROVISIONING_TOKEN", default=_local["PROVISIONING_TOKEN"])

_UNSET = "postgres://nobody@127.0.0.1:1/unset"
DATABASES = {
    "default": _env.database(DATABASE_URL or _UNSET, role=_roles.RUNTIME),
    "owner": _env.database(DATABASE_OWNER_URL or _UNSET, role=_roles.OWNER),
}

# Passkeys on http://localhost; elsewhere browsers offer none without https.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = True

# `manage.py lintmigrations`, where the development packages are installed.
if _find_spec("django_migration_linter"):
    INSTALLED_APPS = [*INSTALLED_APPS, "django_migration_linter"]
    MIGRATION_LINTER_OPTIONS = {
        "include_apps": ["kernel", "audit", "tenancy", "files", "webhooks", "contacts", "inbox", "tickets", "agents"],
        # They make the tables of the first release: nothing runs yet that their locks could stop.
        "ignore_name": ["0001_initial", "0002_fence"],
    }
