"""What the models cannot state: fences around workspaces, paired keys, counters that the database keeps."""

from pathlib import Path

from django.db import migrations

from kernel import db

SQL = Path(__file__).resolve().parent.parent / "sql"
# Members may be narrowed to the inboxes of their teams.
OF_INBOX = f"inbox_id = ANY ({db.INBOXES})"
OF_THREAD = "inbox_sees_thread_v1(thread_id)"


class Migration(migrations.Migration):
    dependencies = [
        ("tickets", "0001_initial"),
        ("inbox", "0002_fence"),
    ]

    operations = [
        db.pairable("tickets_tag"),
        db.fence("tickets_tag"),
        db.fence(
            "tickets_threadtag",
            references={"thread_id": "inbox_thread", "tag_id": "tickets_tag"},
            narrowed=OF_THREAD,
        ),
        db.fence(
            "tickets_annotation",
            references={"thread_id": "inbox_thread", "entry_id": "inbox_entry"},
            narrowed=OF_THREAD,
        ),
        db.fence("tickets_cannedanswer"),
        db.fence("tickets_savedview", references={"owner_id": "tenancy_membership"}),
        db.fence("tickets_threadcount", touch=False, narrowed=OF_INBOX),
        db.sql_file(
            SQL / "counts_v1.sql",
            reverse="DROP FUNCTION tickets_fold_counts_v1(); DROP TRIGGER tickets_count_tag ON tickets_threadtag;"
            " DROP FUNCTION tickets_count_tag_v1(); DROP TRIGGER tickets_count_thread ON inbox_thread;"
            " DROP FUNCTION tickets_count_thread_v1()",
        ),
    ]
