"""What the models cannot state: fences around workspaces, paired keys, append-only tables."""

from pathlib import Path

from django.db import migrations

from kernel import db

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("tenancy", "0001_initial"),
        ("kernel", "0002_fence"),
    ]

    operations = [
        db.pairable("tenancy_role", "tenancy_membership"),
        db.fence("tenancy_workspace", column="id"),
        db.fence("tenancy_role"),
        db.fence("tenancy_rolepermission", references={"role_id": "tenancy_role"}),
        db.fence("tenancy_membership"),
        db.fence(
            "tenancy_membershiprole",
            references={"membership_id": "tenancy_membership", "role_id": "tenancy_role"},
        ),
        db.fence("tenancy_machinekey"),
        db.fence("tenancy_revokedtoken"),
        db.fence("tenancy_verifieddomain"),
        db.fence("tenancy_clientcertificate"),
        db.fence("tenancy_revokedclientcert"),
        db.sql_file(
            SQL / "identify_v1.sql",
            reverse="DROP FUNCTION tenancy_machine_key_v1(text); DROP FUNCTION tenancy_token_v1(uuid, text, text);"
            " DROP FUNCTION tenancy_certificate_v1(bytea, text, text, uuid)",
        ),
    ]
