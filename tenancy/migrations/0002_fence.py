"""What the models cannot state: fences around workspaces, paired keys, append-only tables."""

from pathlib import Path

from django.db import migrations

from kernel import db

SQL = Path(__file__).resolve().parent.parent / "sql"


NOT_PEOPLE = """
DROP FUNCTION tenancy_forget_logins_v1(integer);
REVOKE ALL ON tenancy_loginevent FROM inbox_audit;
GRANT UPDATE, DELETE ON tenancy_loginevent TO inbox_runtime;
DROP TRIGGER tenancy_loginevent_no_truncate ON tenancy_loginevent;
DROP TRIGGER tenancy_loginevent_no_change ON tenancy_loginevent;
DROP FUNCTION tenancy_keep_logins_v1();
DROP TRIGGER tenancy_user_keeps_an_owner ON tenancy_user;
DROP TRIGGER tenancy_membershiprole_keeps_an_owner ON tenancy_membershiprole;
DROP TRIGGER tenancy_membership_keeps_an_owner ON tenancy_membership;
DROP FUNCTION tenancy_keep_an_owner_v1();
DROP FUNCTION tenancy_require_owner_v1(uuid);
"""


class Migration(migrations.Migration):
    dependencies = [
        ("tenancy", "0001_initial"),
        ("kernel", "0002_fence"),
    ]

    operations = [
        db.pairable("tenancy_role", "tenancy_membership", "tenancy_team", "tenancy_invitation"),
        db.fence("tenancy_workspace", column="id"),
        db.fence("tenancy_role"),
        db.fence("tenancy_rolepermission", references={"role_id": "tenancy_role"}),
        db.fence("tenancy_membership"),
        db.fence(
            "tenancy_membershiprole",
            references={"membership_id": "tenancy_membership", "role_id": "tenancy_role"},
        ),
        db.fence("tenancy_team"),
        db.fence("tenancy_teammember", references={"team_id": "tenancy_team", "membership_id": "tenancy_membership"}),
        db.fence("tenancy_teaminbox", references={"team_id": "tenancy_team"}),
        db.fence("tenancy_workspacecontrolstate"),
        db.fence("tenancy_invitation"),
        db.fence(
            "tenancy_invitationrole",
            references={"invitation_id": "tenancy_invitation", "role_id": "tenancy_role"},
        ),
        db.fence("tenancy_notice", references={"membership_id": "tenancy_membership"}),
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
        db.sql_file(SQL / "member_v1.sql", reverse="DROP FUNCTION tenancy_member_v1(uuid, uuid)"),
        db.sql_file(
            SQL / "control_v1.sql",
            reverse="DROP TRIGGER tenancy_generation_rises ON tenancy_workspacecontrolstate;"
            " DROP FUNCTION tenancy_generation_v1();"
            " DROP TRIGGER tenancy_workspace_has_control ON tenancy_workspace; DROP FUNCTION tenancy_control_v1()",
        ),
        db.sql_file(
            SQL / "roles_v1.sql",
            reverse="DROP TRIGGER tenancy_grant_of_the_system ON tenancy_rolepermission;"
            " DROP TRIGGER tenancy_role_of_the_system ON tenancy_role; DROP FUNCTION tenancy_system_role_v1()",
        ),
        db.sql_file(SQL / "people_v1.sql", reverse=NOT_PEOPLE),
    ]
