"""What the models cannot state: fences around workspaces, paired keys, append-only tables."""

from django.db import migrations

from kernel import db


class Migration(migrations.Migration):
    dependencies = [
        ("files", "0001_initial"),
        ("kernel", "0002_fence"),
    ]

    operations = [
        db.pairable("files_file"),
        db.fence("files_file"),
    ]
