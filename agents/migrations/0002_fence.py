"""What the models cannot state: fences around workspaces, paired keys, append-only tables."""

from pathlib import Path

from django.db import migrations

from kernel import db

SQL = Path(__file__).resolve().parent.parent / "sql"
# What was done about a mail is seen by those who see its inbox.
OF_EXECUTION = "agents_sees_execution_v1(execution_id)"


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0001_initial"),
        ("kernel", "0002_fence"),
        ("inbox", "0002_fence"),
    ]

    operations = [
        db.pairable(
            "agents_agent",
            "agents_agentversion",
            "agents_execution",
            "agents_actionintent",
            "agents_knowledgesource",
        ),
        db.sql_file(
            SQL / "sight_v1.sql",
            reverse="DROP FUNCTION agents_sees_intent_v1(uuid); DROP FUNCTION agents_sees_execution_v1(uuid)",
        ),
        db.fence("agents_agent", references={"parent_id": "agents_agent"}),
        db.fence("agents_agentversion", references={"agent_id": "agents_agent"}, touch=False),
        db.append_only("agents_agentversion"),
        db.fence(
            "agents_execution",
            references={"agent_id": "agents_agent", "version_id": "agents_agentversion"},
            narrowed="agents_sees_execution_v1(id)",
        ),
        db.fence("agents_executionstep", references={"execution_id": "agents_execution"}, narrowed=OF_EXECUTION),
        db.fence(
            "agents_actionintent",
            references={"execution_id": "agents_execution", "entry_id": "inbox_entry"},
            narrowed=OF_EXECUTION,
        ),
        db.fence(
            "agents_approvalrequest",
            references={"intent_id": "agents_actionintent"},
            narrowed="agents_sees_intent_v1(intent_id)",
        ),
        db.fence(
            "agents_agentrun",
            references={
                "email_id": "inbox_email",
                "agent_id": "agents_agent",
                "version_id": "agents_agentversion",
                "execution_id": "agents_execution",
            },
            narrowed=OF_EXECUTION,
        ),
        db.fence("agents_knowledgesource"),
        db.fence("agents_knowledgechunk", references={"source_id": "agents_knowledgesource"}),
        # inbox keeps a plain agent id, since it lies below this app; integrity is the database's.
        db.pair("inbox_inbox", "agent_id", "agents_agent"),
        db.sql_file(
            SQL / "binding_v1.sql",
            reverse="DROP TRIGGER inbox_binds_live_agent ON inbox_inbox;"
            " DROP TRIGGER inbox_opens_with_live_agent ON inbox_inbox; DROP FUNCTION agents_bind_v1()",
        ),
    ]
