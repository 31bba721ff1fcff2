"""What the models cannot state: fences around workspaces, paired keys, append-only tables."""

from pathlib import Path

from django.db import migrations

from kernel import db

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("kernel", "0001_initial"),
    ]

    operations = [
        db.fence("kernel_outboxevent", touch=False),
        db.fence("kernel_consumerreceipt", touch=False),
        db.fence("kernel_idempotencyrecord", touch=False),
        db.sql_file(
            SQL / "idempotency_v1.sql",
            reverse="DROP FUNCTION kernel_idempotency_begin_v1(uuid, text, text);"
            " DROP FUNCTION kernel_idempotency_keep_v1(bigint, uuid, text, text, text, bytea, int, bytea, timestamptz)",
        ),
        db.sql_file(
            SQL / "outbox_v1.sql",
            reverse="DROP FUNCTION kernel_outbox_append_v1(jsonb, uuid[], text[], int[], text[], text[])",
        ),
        db.sql_file(
            SQL / "keys_v1.sql",
            reverse="DROP TRIGGER kernel_encryptionkey_keep ON kernel_encryptionkey; DROP FUNCTION kernel_keep_keys_v1();"
            " ALTER TABLE kernel_encryptionkey DROP COLUMN live_version",
        ),
        db.sealed("kernel_idempotencyrecord", "response_body"),
    ]
