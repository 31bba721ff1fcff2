"""The test suite: fast hashers, short delays, the same roles and services as everywhere."""

import os

os.environ.setdefault("OUTBOUND_ALLOW_HTTP", "true")
# A test that looks at the request log writes it itself: no thread outlives the test whose rows it would write.
os.environ.setdefault("REQUEST_LOG_FLUSH_SECONDS", "0")

from config.settings.dev import *

# Static files are found when they are asked for: each client and each server of a test would look through them all first.
WHITENOISE_AUTOREFRESH = True
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CRASH_POINTS_ENABLED = True
OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.1/32"]
OUTBOX_LEASE_SECONDS = 2.0
INGEST_LEASE_SECONDS = 4.0
INGEST_RETRY_SECONDS = 0.1
RUN_LEASE_SECONDS = 4.0
SEND_LEASE_SECONDS = 4.0
SEND_TIMEOUT_SECONDS = 5.0
SEND_DEADLINE_SECONDS = 3.0
SWEEP_SECONDS = 0.5
API_RATE_LIMIT = int(os.environ.get("API_RATE_LIMIT", "1000000"))
