"""What the models cannot state: fences around workspaces, paired keys, append-only tables."""

from django.db import migrations

from kernel import db


class Migration(migrations.Migration):
    dependencies = [
        ("contacts", "0001_initial"),
        ("kernel", "0002_fence"),
    ]

    operations = [
        db.fence("contacts_identifiersighting"),
        db.fence("contacts_contactprofile"),
        db.fence("contacts_suppressionentry"),
    ]
