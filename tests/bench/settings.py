"""The test settings with the log level, leases and switches of production."""

import os

os.environ.setdefault("LOG_LEVEL", "WARNING")

from config.settings.test import *  # noqa: F403 - settings build on settings

CRASH_POINTS_ENABLED = False
WHITENOISE_AUTOREFRESH = False
INGEST_LEASE_SECONDS = 60.0
INGEST_RETRY_SECONDS = 5.0
OUTBOX_LEASE_SECONDS = 30.0
API_RATE_LIMIT = 1_000_000_000
REQUEST_LOG_FLUSH_SECONDS = 1.0
