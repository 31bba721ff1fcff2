"""What is true everywhere. Values come from the environment; docs/configuration.md lists them (generated)."""

from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.urls import reverse_lazy

from config import env as _env
from config.env import ROOT, VAR, env
from config.settings.limits import *
from config.settings.unfold import UNFOLD as UNFOLD
from kernel.logging import configuration as _logging

BASE_DIR = ROOT
DEBUG = False
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "tenancy.User"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"

INSTALLED_APPS = [
    "config.apps.ConfigConfig",
    "unfold.apps.BasicAppConfig",  # our own site is set below; Unfold would put its own in its place
    "unfold.contrib.filters",
    "config.apps.ConsoleConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "csp",
    "django_linear_migrations",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "kernel",
    "audit",
    "tenancy",
    "files",
    "webhooks",
    "contacts",
    "inbox",
    "tickets",
    "agents",
]

MIDDLEWARE = [
    "config.health.answering",
    "kernel.middleware.request_context",
    "audit.middleware.refusals",
    "audit.middleware.request_log",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "kernel.middleware.ContentPolicy",
    "tenancy.signin.middleware.DeviceSessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "config.console.middleware.workspace_fence",
]

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ],
            "libraries": {"console": "config.console.tags"},
        },
    }
]

# --- the outside world: what an operator sets -------------------------------------------------------------------

# Where people and providers reach this installation.
PUBLIC_URL = env.str("PUBLIC_URL", default="http://127.0.0.1:8000")
# Host names that requests may ask for.
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])  # Origins of forms, with scheme, behind a proxy.
LOG_LEVEL = env.str("LOG_LEVEL", default="INFO")  # DEBUG, INFO, WARNING or ERROR.

DATABASE_URL = env.str("DATABASE_URL", default="")  # PostgreSQL for the application; empty: the embedded one.
# PostgreSQL for migrations; empty: DATABASE_URL.
DATABASE_OWNER_URL = env.str("DATABASE_OWNER_URL", default="") or DATABASE_URL
REDIS_URL = env.str("REDIS_URL", default="")  # Redis or Valkey; empty: the embedded one.

MAIL_SMTP_HOST = env.str("MAIL_SMTP_HOST", default="127.0.0.1")  # The server that takes mail from us.
MAIL_SMTP_PORT = env.int("MAIL_SMTP_PORT", default=25)  # Its port.
MAIL_SMTP_USER = env.str("MAIL_SMTP_USER", default="")  # Empty: no sign-in.
MAIL_SMTP_PASSWORD = env.str("MAIL_SMTP_PASSWORD", default="")  # Of that user.
MAIL_SMTP_TLS = env.str("MAIL_SMTP_TLS", default="starttls")  # starttls, implicit or none
# PEM of a private authority that mail servers may be certified by, beside the public ones.
MAIL_CA_FILE = env.str("MAIL_CA_FILE", default="")
MAIL_TRANSPORT = env.str("MAIL_TRANSPORT", default="smtp")  # smtp or ses
# Sender of mail to staff, invitations and new passwords: `Acme Inbox <inbox@acme.example>`. Empty: none is sent, and who
# invites is shown the link, once.
STAFF_MAIL_FROM = env.str("STAFF_MAIL_FROM", default="")
MAIL_LISTEN_HOST = env.str("MAIL_LISTEN_HOST", default="127.0.0.1")  # Where our own SMTP server listens.
MAIL_LISTEN_PORT = env.int("MAIL_LISTEN_PORT", default=2525)  # Its port.
MAIL_LISTEN_LMTP = env.bool("MAIL_LISTEN_LMTP", default=False)  # Speak LMTP instead of SMTP.
MAIL_MAX_BYTES = env.int("MAIL_MAX_BYTES", default=40 * 1024 * 1024)  # Larger messages are refused at the door.
AWS_REGION = env.str("AWS_REGION", default="eu-central-1")  # Of SES, SNS and S3.
AWS_ENDPOINT_URL = env.str("AWS_ENDPOINT_URL", default="")  # Another endpoint of these; empty: Amazon's.
SES_CONFIGURATION_SET = env.str("SES_CONFIGURATION_SET", default="")  # Sent along, for delivery events.
SNS_TOPIC_ARNS = env.list("SNS_TOPIC_ARNS", default=[])  # Topics that may hand in mail and events.
SES_BUCKETS = env.list("SES_BUCKETS", default=[])  # Buckets that mail may be fetched from.
# Waits until stored mail that could not be fetched is asked for again.
S3_RETRY_SECONDS = env.list("S3_RETRY_SECONDS", cast=float, default=[10, 60, 300, 1800, 7200])
# What inboxes do with mail unless their own policy says otherwise, as JSON: {"quarantine_unscanned": true}
INBOX_POLICY = env.json("INBOX_POLICY", default={})
SOFT_BOUNCE_LIMIT = env.int("SOFT_BOUNCE_LIMIT", default=3)  # Mails that come back for now until an address rests.
SOFT_BOUNCE_DAYS = env.int("SOFT_BOUNCE_DAYS", default=7)  # They count so long, and the address rests so long.
PROVIDER_EVENT_KEEP_DAYS = env.int("PROVIDER_EVENT_KEEP_DAYS", default=90)  # Callbacks of providers are kept so long.
# A local stand-in for the certificate host, for development and tests only; production refuses to start with it.
SNS_CERTIFICATE_FILE = env.str("SNS_CERTIFICATE_FILE", default="")

# Where keys for secrets come from: environment (ENCRYPTION_KEYS) or aws_kms, which wraps data keys of ours.
KEY_PROVIDER = env.str("KEY_PROVIDER", default="environment")
KMS_KEY_ID = env.str("KMS_KEY_ID", default="")  # The key of AWS KMS that wraps ours: ARN, id or alias.
# Between two looks for keys that another process has made.
KEY_REFRESH_SECONDS = env.float("KEY_REFRESH_SECONDS", default=60)

AI_PROVIDER = env.str(
    "AI_PROVIDER", default=""
)  # openai, anthropic, bedrock or local. Empty: openai or anthropic by the key that is set, else local.
AI_MODEL = env.str("AI_MODEL", default="")  # Empty: the provider's default.
AI_BASE_URL = env.str("AI_BASE_URL", default="")  # Of a server that speaks OpenAI's protocol.
OPENAI_API_KEY = env.str("OPENAI_API_KEY", default="")  # Makes OpenAI the provider.
ANTHROPIC_API_KEY = env.str("ANTHROPIC_API_KEY", default="")  # Makes Anthropic the provider.

# Keys that sign the tokens of `manage.py issue_token`: kid:algorithm:/path/of/private.pem, the first of them signs.
JWT_SIGNING_KEYS = _env.pem_keys(env.list("JWT_SIGNING_KEYS", default=[]), variable="JWT_SIGNING_KEYS", private=True)
JWT_KEYS = _env.verifying_keys(
    # A JWKS document of public keys, each with its kid; a shared secret (kty oct, HS256) is taken from here only.
    _env.jwt_keys(env.str("JWT_KEYS", default="")),
    # Public keys in PEM: kid:algorithm:/path/of/public.pem.
    _env.pem_keys(env.list("JWT_PUBLIC_KEYS", default=[]), variable="JWT_PUBLIC_KEYS"),
    signing=JWT_SIGNING_KEYS,
)
JWT_JWKS_URL = env.str("JWT_JWKS_URL", default="")  # Where an identity provider publishes its public keys.
JWT_JWKS_SECONDS = env.float("JWT_JWKS_SECONDS", default=300)  # After it, the keys behind the URL are asked for anew.
# Between two requests to the URL, however many unknown keys are named and however often it fails.
JWT_JWKS_COOLDOWN_SECONDS = env.float("JWT_JWKS_COOLDOWN_SECONDS", default=15)
# While the URL fails, the keys that it last gave are used so long.
JWT_JWKS_STALE_SECONDS = env.float("JWT_JWKS_STALE_SECONDS", default=24 * 3600)
JWT_JWKS_TIMEOUT_SECONDS = env.float("JWT_JWKS_TIMEOUT_SECONDS", default=5)  # For one request to the URL.
JWT_ISSUER = env.str("JWT_ISSUER", default="autonomous-inbox")  # Required `iss` of machine tokens.
JWT_AUDIENCE = env.str("JWT_AUDIENCE", default="autonomous-inbox")  # Required `aud` of machine tokens.
JWT_SCOPE_CLAIM = env.str("JWT_SCOPE_CLAIM", default="scope")  # The claim that names permissions, with spaces between.
# Tokens that live longer are refused.
JWT_MAX_LIFETIME_SECONDS = env.int("JWT_MAX_LIFETIME_SECONDS", default=24 * 3600)
JWT_LEEWAY_SECONDS = env.int("JWT_LEEWAY_SECONDS", default=30)  # Clock skew that is forgiven.
JWT_MAX_BYTES = env.int("JWT_MAX_BYTES", default=8192)  # Longer tokens and keys are refused unread.

# The proxies in front of us drop header names with an underscore, as nginx does by default.
PROXY_DROPS_UNDERSCORES = env.bool("PROXY_DROPS_UNDERSCORES", default=False)
TRUSTED_PROXIES = _env.proxy_networks(
    # Networks of proxies whose X-Forwarded-For is believed.
    env.list("TRUSTED_PROXIES", default=[]),
    variable="TRUSTED_PROXIES",
    header="X-Forwarded-For",
    drops_underscores=PROXY_DROPS_UNDERSCORES,
)
# The header in which a proxy hands a client certificate on: `:base64:` (RFC 9440), or PEM with escapes.
CLIENT_CERT_HEADER = env.str("CLIENT_CERT_HEADER", default="Client-Cert")
CLIENT_CERT_PROXIES = _env.proxy_networks(
    # Networks of proxies that end TLS, verify client certificates and hand them on; empty: no certificates.
    env.list("CLIENT_CERT_PROXIES", default=[]),
    variable="CLIENT_CERT_PROXIES",
    header=CLIENT_CERT_HEADER,
    drops_underscores=PROXY_DROPS_UNDERSCORES,
)

OIDC_SERVER_URL = env.str("OIDC_SERVER_URL", default="")  # Of the provider of single sign-on; empty: there is none.
OIDC_CLIENT_ID = env.str("OIDC_CLIENT_ID", default="")  # What we are called there.
OIDC_CLIENT_SECRET = env.str("OIDC_CLIENT_SECRET", default="")  # What we prove that with.
OIDC_NAME = env.str("OIDC_NAME", default="single sign-on")  # What people call it, on the button.
# Take its word for addresses that it does not call verified; only where all of its addresses are its own.
OIDC_TRUST_EMAIL = env.bool("OIDC_TRUST_EMAIL", default=False)

MCP_PORT = env.int("MCP_PORT", default=8001)  # Where the server for outside agents listens.
MCP_THREADS = env.int("MCP_THREADS", default=4)  # Calls of outside agents at the same time.
# Origins, beside PUBLIC_URL's own, whose pages may call the server for outside agents.
MCP_ALLOWED_ORIGINS = env.list("MCP_ALLOWED_ORIGINS", default=[])

OUTBOUND_ALLOW_HTTP = env.bool("OUTBOUND_ALLOW_HTTP", default=False)  # Call plain http; development only.
OUTBOUND_ALLOWED_NETWORKS = env.list("OUTBOUND_ALLOWED_NETWORKS", default=[])  # Private networks that may be called.

CLAMD_HOST = env.str(
    "CLAMD_HOST", default=""
)  # A ClamAV daemon that scans mail and files; empty: none, unless by socket.
CLAMD_PORT = env.int("CLAMD_PORT", default=3310)  # Its port.
CLAMD_SOCKET = env.str("CLAMD_SOCKET", default="")  # Its socket on this machine, instead of host and port.

FILES_ROOT = Path(env.str("FILES_ROOT", default=str(VAR / "files")))  # Where attachments are kept.
# Where audit anchors are written; copy it elsewhere.
ANCHOR_DIRECTORY = Path(env.str("ANCHOR_DIRECTORY", default=str(VAR / "anchors")))
# A bucket that they are written to as well, perhaps with a prefix: bucket/prefix. Best one that nobody can delete from.
ANCHOR_S3 = env.str("ANCHOR_S3", default="")

# Named crash points for tests (`tests/world/crash.py` sets it); a start-up check refuses it in production.
CRASH_POINTS_ENABLED = False

# --- web --------------------------------------------------------------------------------------------------------

LOGGING_CONFIG = "logging.config.dictConfig"
LOGGING = _logging(level=LOG_LEVEL)

STATIC_URL = "/static/"
STATICFILES_DIRS = [ROOT / "static"]
# There is no STATIC_ROOT, and nothing to collect: the web server finds the files in the apps when it starts.
WHITENOISE_USE_FINDERS = True
STORAGES = {
    # Another one writes a file whole or not at all, too, and over one that is there.
    "default": {"BACKEND": "files.transport.disk.Disk", "OPTIONS": {"location": FILES_ROOT}},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
DATA_UPLOAD_MAX_MEMORY_SIZE = MAIL_MAX_BYTES + 1024 * 1024
X_FRAME_OPTIONS = "SAMEORIGIN"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
# Nothing is kept in one process that others should know: codes that were used are in the database.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
SESSION_ENGINE = "tenancy.signin.store"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = SESSION_MAX_SECONDS
# Bound to the session: a token of another session, or one planted as a cookie, is none.
CSRF_USE_SESSIONS = True
CSRF_FAILURE_VIEW = "config.console.views.signing_in.foreign_form"
LOGIN_URL = reverse_lazy("admin:login")
LOGIN_REDIRECT_URL = reverse_lazy("admin:index")
AUTHENTICATION_BACKENDS = ["tenancy.signin.backend.People"]
PASSWORD_HASHERS = ["tenancy.credentials.passwords.Argon2idHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

from config.settings.signin import *  # noqa: E402

ACCOUNT_REAUTHENTICATION_TIMEOUT = STEP_UP_SECONDS
SOCIALACCOUNT_PROVIDERS = _env.single_sign_on(
    OIDC_SERVER_URL, client_id=OIDC_CLIENT_ID, secret=OIDC_CLIENT_SECRET, name=OIDC_NAME
)

EMAIL_BACKEND = "config.staff_mail.Backend"

# The console makes no request to any other host and has no inline script. Unfold's Alpine evaluates expressions,
# hence 'unsafe-eval'; it and Unfold's theme colours need inline styles.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, "'unsafe-eval'"],
        "style-src": [SELF, "'unsafe-inline'"],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "frame-src": [SELF],
        "frame-ancestors": [SELF],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
    }
}

from config.openapi import SPECTACULAR_SETTINGS as SPECTACULAR_SETTINGS  # noqa: E402

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["tenancy.authentication.MachineAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["kernel.api.rendering.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["kernel.api.rendering.JSONParser"],
    "EXCEPTION_HANDLER": "kernel.api.problems.handle",
    "DEFAULT_SCHEMA_CLASS": "kernel.api.schema.Schema",
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "kernel.api.rendering.OneForm",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,  # there is one format, and no parameter for it
}

# --- queue: a wake-up, never the record (decision X-25) -----------------------------------------------------------

CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_TRANSPORT = "kernel.broker:Transport"
CELERY_TASK_IGNORE_RESULT = True
CELERY_RESULT_BACKEND = None
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    "unacked_restore_throttle": 1,
    # Whoever sends a wake-up over a connection whose other end has vanished waits so long, and not until TCP gives up.
    "socket_connect_timeout": 5,
    "socket_timeout": 30,
    "socket_keepalive": True,
}
