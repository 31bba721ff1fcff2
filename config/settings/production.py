"""Real deployments: nothing is assumed, and whoever reads these settings is refused what is missing or unsafe."""

from config import env as _env
from config.env import env
from config.settings.base import *
from config.settings.base import (
    DATABASE_OWNER_URL,
    DATABASE_URL,
    KEY_PROVIDER,
    OUTBOUND_ALLOW_HTTP,
    SNS_CERTIFICATE_FILE,
)
from kernel import roles as _roles

if SNS_CERTIFICATE_FILE:
    raise _env.ConfigurationError(
        "SNS_CERTIFICATE_FILE stands in for Amazon's certificate in development only: unset it."
    )
if OUTBOUND_ALLOW_HTTP:
    raise _env.ConfigurationError(
        "OUTBOUND_ALLOW_HTTP sends secrets and mail in the clear, in development only: unset it. A server of your own that"
        " has no public address is opened with OUTBOUND_ALLOWED_NETWORKS."
    )

SECRET_KEY = env.str("SECRET_KEY")
# With KEY_PROVIDER=aws_kms they may be left out; those that are there still open what they sealed.
ENCRYPTION_KEYS = _env.encryption_keys(
    env.str("ENCRYPTION_KEYS", default="") if KEY_PROVIDER == "aws_kms" else env.str("ENCRYPTION_KEYS"),
    may_be_none=KEY_PROVIDER == "aws_kms",
)
REPLY_TOKEN_KEY = env.str("REPLY_TOKEN_KEY")
PROVISIONING_TOKEN = env.str("PROVISIONING_TOKEN", default="")

DATABASES = {
    "default": _env.database(DATABASE_URL, role=_roles.RUNTIME),
    "owner": _env.database(DATABASE_OWNER_URL, role=_roles.OWNER),
}

# Send plain http to https.
SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", default=True)
# Believe X-Forwarded-Proto: only behind a proxy that always sets it.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.bool("BEHIND_TLS_PROXY", default=False) else None
# How long browsers shall insist on https.
SECURE_HSTS_SECONDS = env.int("SECURE_HSTS_SECONDS", default=31_536_000)
# On subdomains, too.
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.bool("SECURE_HSTS_INCLUDE_SUBDOMAINS", default=True)
# Ask browsers to know it beforehand.
SECURE_HSTS_PRELOAD = env.bool("SECURE_HSTS_PRELOAD", default=False)
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SILENCED_SYSTEM_CHECKS = [
    "security.W019",  # the console shows mail in a sandboxed frame of its own origin
    "security.W021",  # whether browsers preload a domain is for its owner to say
]
