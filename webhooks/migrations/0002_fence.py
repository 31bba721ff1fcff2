"""What the models cannot state: fences around workspaces, paired keys, append-only tables."""

from pathlib import Path

from django.db import migrations

from kernel import db

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("webhooks", "0001_initial"),
        ("kernel", "0002_fence"),
    ]

    operations = [
        db.pairable("webhooks_webhook", "webhooks_systemevent", "webhooks_webhookdelivery"),
        db.fence("webhooks_webhook"),
        db.fence("webhooks_systemevent", touch=False),
        db.fence(
            "webhooks_webhookdelivery",
            references={"webhook_id": "webhooks_webhook", "system_event_id": "webhooks_systemevent"},
        ),
        db.fence("webhooks_webhookattempt", references={"delivery_id": "webhooks_webhookdelivery"}, touch=False),
        db.append_only("webhooks_systemevent"),
        db.sealed("webhooks_webhook", "secret_sealed", "previous_secret_sealed"),
        db.fence("webhooks_providerevent"),
        # Half of each page stays free for the claims of its rows, which so stay in their page and out of the indexes.
        migrations.RunSQL("ALTER TABLE webhooks_webhookdelivery SET (fillfactor = 50)", migrations.RunSQL.noop),
        db.sql_file(
            SQL / "body_v1.sql", reverse="DROP FUNCTION webhooks_body_v1(text, timestamptz, uuid, uuid, jsonb)"
        ),
    ]
