"""What the models cannot state: fences around workspaces, paired keys, append-only tables."""

from pathlib import Path

from django.db import migrations

from kernel import db

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0001_initial"),
        ("kernel", "0002_fence"),
    ]

    operations = [
        db.fence("audit_auditchain", touch=False),
        db.fence("audit_auditevent", touch=False),
        db.fence("audit_auditpayload", touch=False),
        db.fence("audit_auditanchor", touch=False),
        db.fence("audit_apirequest", touch=False),
        db.append_only("audit_auditevent", "audit_auditanchor", writer="inbox_audit"),
        # The chain's head and the redactable payloads change, but only through the functions of inbox_audit.
        migrations.RunSQL(
            "REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON audit_auditchain, audit_auditpayload FROM inbox_runtime;"
            "REVOKE INSERT ON audit_auditevent, audit_auditanchor FROM inbox_runtime;"
            "GRANT SELECT, INSERT, UPDATE ON audit_auditchain, audit_auditpayload TO inbox_audit;"
            "GRANT USAGE ON SEQUENCE audit_auditanchor_id_seq TO inbox_audit;",
            "GRANT INSERT, UPDATE, DELETE ON audit_auditchain, audit_auditpayload TO inbox_runtime;"
            "REVOKE ALL ON audit_auditchain, audit_auditpayload, audit_auditevent, audit_auditanchor FROM inbox_audit;"
            "REVOKE ALL ON SEQUENCE audit_auditanchor_id_seq FROM inbox_audit;",
        ),
        db.sql_file(
            SQL / "append_v1.sql",
            reverse="DROP FUNCTION audit_redact_v1(uuid, uuid, jsonb); DROP FUNCTION audit_append_v1(uuid, jsonb);"
            " DROP FUNCTION audit_anchor_v1(uuid, bigint)",
        ),
    ]
