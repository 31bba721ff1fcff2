"""Delays and limits. Every one is a setting, so that tests run in seconds."""

from config.env import env

OUTBOX_BATCH = env.int("OUTBOX_BATCH", default=500)  # Facts taken at once.
OUTBOX_LEASE_SECONDS = env.float("OUTBOX_LEASE_SECONDS", default=30)  # After it, a claim of a dead drain is free.
OUTBOX_BACKOFF_SECONDS = env.float("OUTBOX_BACKOFF_SECONDS", default=2)  # Wait after the first failure; doubles.
OUTBOX_BACKOFF_MAX_SECONDS = env.float("OUTBOX_BACKOFF_MAX_SECONDS", default=900)  # Longest wait.
OUTBOX_MAX_ATTEMPTS = env.int("OUTBOX_MAX_ATTEMPTS", default=12)  # Failures until a fact is parked.
OUTBOX_MAX_CLAIMS = env.int("OUTBOX_MAX_CLAIMS", default=3)  # Dead workers until a fact is parked.
OUTBOX_KEEP_DAYS = env.int("OUTBOX_KEEP_DAYS", default=14)  # Published facts are kept so long.
SWEEP_SECONDS = env.float("SWEEP_SECONDS", default=5)  # Between two looks for forgotten work.
IDEMPOTENCY_HOURS = env.float("IDEMPOTENCY_HOURS", default=24)  # Answers are kept so long.
# After a rotation, the old secret of a machine key is good so long.
MACHINE_KEY_OVERLAP_SECONDS = env.int("MACHINE_KEY_OVERLAP_SECONDS", default=24 * 3600)
SESSION_IDLE_SECONDS = env.int("SESSION_IDLE_SECONDS", default=12 * 3600)  # A session unused so long ends.
SESSION_MAX_SECONDS = env.int("SESSION_MAX_SECONDS", default=7 * 86400)  # A session ends after it, however busy.
SESSION_ANONYMOUS_SECONDS = env.int("SESSION_ANONYMOUS_SECONDS", default=86_400)  # Before anybody has signed in.
STEP_UP_SECONDS = env.int("STEP_UP_SECONDS", default=300)  # Who proved again who they are need not again for so long.
LOGIN_TRIES = env.int("LOGIN_TRIES", default=10)  # Failed tries to sign in to one account in a window.
LOGIN_ADDRESS_TRIES = env.int("LOGIN_ADDRESS_TRIES", default=100)  # Failed tries from one address in a window.
LOGIN_WINDOW_SECONDS = env.int("LOGIN_WINDOW_SECONDS", default=900)  # Length of that window.
LOGIN_EVENT_KEEP_DAYS = env.int("LOGIN_EVENT_KEEP_DAYS", default=365)  # Sign-ins are remembered so long, 30 at least.
INVITATION_HOURS = env.float("INVITATION_HOURS", default=168)  # An invitation can be accepted so long.
RESET_MINUTES = env.float("RESET_MINUTES", default=60)  # The link to a new password is good so long.
RESETS_PER_WINDOW = env.int(
    "RESETS_PER_WINDOW", default=5
)  # Letters with such a link to one address in a login window.
# Between attempts at a letter to staff; after the last, it has failed.
STAFF_MAIL_RETRY_SECONDS = env.list("STAFF_MAIL_RETRY_SECONDS", cast=float, default=[30, 300, 1800])
STAFF_MAIL_LEASE_SECONDS = env.float("STAFF_MAIL_LEASE_SECONDS", default=120)  # After it, another worker tries.
PASSWORD_MEMORY_KIB = env.int("PASSWORD_MEMORY_KIB", default=65_536)  # Argon2id: memory of one hash.
PASSWORD_PASSES = env.int("PASSWORD_PASSES", default=3)  # Argon2id: passes over it.
PASSWORD_LANES = env.int("PASSWORD_LANES", default=2)  # Argon2id: threads.
REFUSAL_AUDIT_SECONDS = env.float("REFUSAL_AUDIT_SECONDS", default=60)  # Window of the audit's limits for refusals.
# Refused credentials that one process records in a window, over all workspaces; of each workspace and reason only one.
REFUSAL_AUDIT_MOST = env.int("REFUSAL_AUDIT_MOST", default=30)

API_RATE_LIMIT = env.int("API_RATE_LIMIT", default=6_000)  # Requests of one caller in a window; 0: as many as it likes.
API_RATE_WINDOW_SECONDS = env.int("API_RATE_WINDOW_SECONDS", default=60)  # Length of that window.
# Between two writings of the request log; 0: it is not written.
REQUEST_LOG_FLUSH_SECONDS = env.float("REQUEST_LOG_FLUSH_SECONDS", default=1)
# Lines of it that wait in a process; more are lost.
REQUEST_LOG_BUFFER = env.int("REQUEST_LOG_BUFFER", default=20_000)
REQUEST_LOG_KEEP_DAYS = env.int("REQUEST_LOG_KEEP_DAYS", default=30)  # Lines of it are kept so long.

INGEST_BATCH = env.int("INGEST_BATCH", default=50)  # Messages taken at once.
INGEST_THREADS = env.int("INGEST_THREADS", default=2)  # messages that one worker reads at the same time
INGEST_LEASE_SECONDS = env.float("INGEST_LEASE_SECONDS", default=60)  # After it, a claim of a dead worker is free.
INGEST_MAX_ATTEMPTS = env.int("INGEST_MAX_ATTEMPTS", default=3)  # Attempts until a message is quarantined.
INGEST_RETRY_SECONDS = env.float("INGEST_RETRY_SECONDS", default=5)  # Wait between attempts.

CLAMD_TIMEOUT_SECONDS = env.float("CLAMD_TIMEOUT_SECONDS", default=20)  # For each step of one scan.
CLAMD_RETRY_SECONDS = env.float("CLAMD_RETRY_SECONDS", default=60)  # Wait until a file is scanned anew.
CLAMD_MAX_ATTEMPTS = env.int("CLAMD_MAX_ATTEMPTS", default=5)  # Attempts until a file counts as not scannable.

# What people ask for of a mail's remote images.
IMAGE_MAX_BYTES = env.int("IMAGE_MAX_BYTES", default=5 * 1024 * 1024)  # Of one image; larger ones are not shown.
IMAGE_TIMEOUT_SECONDS = env.float("IMAGE_TIMEOUT_SECONDS", default=10)  # For fetching it, redirects among it.
IMAGE_FETCHES = env.int("IMAGE_FETCHES", default=8)  # At the same time, in one process.
IMAGE_KEEP_SECONDS = env.int("IMAGE_KEEP_SECONDS", default=24 * 3600)  # A fetched image is kept so long.
IMAGE_LINK_SECONDS = env.int("IMAGE_LINK_SECONDS", default=3600)  # A link to an image is good so long.

SEND_LEASE_SECONDS = env.float("SEND_LEASE_SECONDS", default=120)  # After it, a send without an end is uncertain.
SEND_TIMEOUT_SECONDS = env.float("SEND_TIMEOUT_SECONDS", default=30)  # For one answer of the mail server.
# For a whole conversation with it; shorter than the lease, and than the time that a worker has to stop.
SEND_DEADLINE_SECONDS = env.float("SEND_DEADLINE_SECONDS", default=45)
# Waits after refusals that may pass.
SEND_RETRY_SECONDS = env.list("SEND_RETRY_SECONDS", cast=float, default=[30, 300, 1800, 7200])

# Between two looks whether a connection still lets us in.
CONNECTION_CHECK_SECONDS = env.float("CONNECTION_CHECK_SECONDS", default=3600)

AUTO_REPLY_HOURS = env.float("AUTO_REPLY_HOURS", default=24)  # Window of one automatic answer per thread.
AUTO_REPLY_SENDER_PER_HOUR = env.int("AUTO_REPLY_SENDER_PER_HOUR", default=5)  # Automatic answers to one sender.
AUTO_REPLY_INBOX_PER_HOUR = env.int("AUTO_REPLY_INBOX_PER_HOUR", default=200)  # Automatic answers of one inbox.
# Automatic answers of one workspace.
AUTO_REPLY_WORKSPACE_PER_HOUR = env.int("AUTO_REPLY_WORKSPACE_PER_HOUR", default=1000)
# A breaker that a cap has opened rests so long, of a sender or conversation.
AUTO_REPLY_BREAKER_HOURS = env.float("AUTO_REPLY_BREAKER_HOURS", default=24)
# The same of an inbox or workspace.
AUTO_REPLY_WIDE_BREAKER_HOURS = env.float("AUTO_REPLY_WIDE_BREAKER_HOURS", default=1)
MAX_HOPS = env.int("MAX_HOPS", default=5)  # Own answers that a mail may have passed.

RUN_LEASE_SECONDS = env.float("RUN_LEASE_SECONDS", default=120)  # After it, a run of a dead worker is resumed.
# Waits after failures of a provider.
RUN_RETRY_SECONDS = env.list("RUN_RETRY_SECONDS", cast=float, default=[5, 30, 120, 600])
RUN_MAX_STEPS = env.int("RUN_MAX_STEPS", default=12)  # A run ends after this many steps.
APPROVAL_HOURS = env.float("APPROVAL_HOURS", default=72)  # A question to a person ends after it.

# Waits between attempts (Standard Webhooks).
WEBHOOK_RETRY_SECONDS = env.list(
    "WEBHOOK_RETRY_SECONDS", cast=float, default=[5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]
)
WEBHOOK_RETRY_JITTER = env.float("WEBHOOK_RETRY_JITTER", default=0.1)  # Share of a wait that is random.
WEBHOOK_TIMEOUT_SECONDS = env.float("WEBHOOK_TIMEOUT_SECONDS", default=15)  # For one attempt, all of it.
# After it, a claim of a dead dispatcher is free.
WEBHOOK_LEASE_SECONDS = env.float("WEBHOOK_LEASE_SECONDS", default=45)
WEBHOOK_BATCH = env.int("WEBHOOK_BATCH", default=800)  # Deliveries taken at once.
WEBHOOK_CONCURRENCY = env.int("WEBHOOK_CONCURRENCY", default=64)  # Attempts at the same time.
WEBHOOK_PER_ENDPOINT = env.int("WEBHOOK_PER_ENDPOINT", default=8)  # Of these, to one endpoint.
WEBHOOK_POLL_SECONDS = env.float("WEBHOOK_POLL_SECONDS", default=1)  # Between two looks for due deliveries.
# An endpoint that fails so long is switched off.
WEBHOOK_DISABLE_AFTER_SECONDS = env.float("WEBHOOK_DISABLE_AFTER_SECONDS", default=5 * 86400)
# Longest Retry-After that is honoured.
WEBHOOK_RETRY_AFTER_MAX_SECONDS = env.float("WEBHOOK_RETRY_AFTER_MAX_SECONDS", default=86400)
WEBHOOK_SECRET_OVERLAP_SECONDS = env.float(
    "WEBHOOK_SECRET_OVERLAP_SECONDS", default=24 * 3600
)  # An old secret still signs so long.
WEBHOOK_STOP_SECONDS = env.float("WEBHOOK_STOP_SECONDS", default=10)  # For attempts under way, when asked to stop.
WEBHOOK_ATTEMPT_KEEP_DAYS = env.int("WEBHOOK_ATTEMPT_KEEP_DAYS", default=30)  # Attempts are kept so long.
