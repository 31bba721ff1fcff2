"""What the models cannot state: fences around workspaces, paired keys, append-only tables."""

from django.db import migrations

from kernel import db


class Migration(migrations.Migration):
    dependencies = [
        ("kernel", "0001_initial"),
    ]

    operations = [
        db.fence("kernel_outboxevent", touch=False),
        db.fence("kernel_consumerreceipt", touch=False),
        db.fence("kernel_idempotencyrecord", touch=False),
    ]
