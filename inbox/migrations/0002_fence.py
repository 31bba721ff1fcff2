"""What the models cannot state: fences around workspaces and, inside, around inboxes; paired keys."""

from pathlib import Path

from django.db import migrations

from kernel import db

SQL = Path(__file__).resolve().parent.parent / "sql"
# Members may be narrowed to the inboxes of their teams.
OF_INBOX = f"inbox_id = ANY ({db.INBOXES})"
OF_ENTRY = "inbox_sees_entry_v1(entry_id)"


class Migration(migrations.Migration):
    dependencies = [
        ("inbox", "0001_initial"),
        ("kernel", "0002_fence"),
        ("tenancy", "0002_fence"),
        ("files", "0002_fence"),
    ]

    operations = [
        db.pairable(
            "inbox_inbox",
            "inbox_inboundmessage",
            "inbox_email",
            "inbox_thread",
            "inbox_entry",
            "inbox_attachment",
            "inbox_connection",
            "inbox_connectioncredential",
        ),
        db.sql_file(
            SQL / "sight_v1.sql",
            reverse="DROP FUNCTION inbox_sees_message_v1(uuid); DROP FUNCTION inbox_sees_entry_v1(uuid);"
            " DROP FUNCTION inbox_sees_thread_v1(uuid)",
        ),
        db.fence("inbox_connection"),
        db.fence(
            "inbox_connectioncredential",
            references={"connection_id": "inbox_connection", "rotated_from_id": "inbox_connectioncredential"},
        ),
        db.sealed("inbox_connectioncredential", "secret_sealed"),
        db.fence("inbox_inbox", references={"connection_id": "inbox_connection"}, narrowed=f"id = ANY ({db.INBOXES})"),
        db.fence("inbox_inboundmessage", narrowed="inbox_sees_message_v1(id)"),
        db.fence(
            "inbox_email",
            references={"inbound_message_id": "inbox_inboundmessage", "inbox_id": "inbox_inbox"},
            narrowed=OF_INBOX,
        ),
        db.fence(
            "inbox_thread",
            references={
                "inbox_id": "inbox_inbox",
                "assignee_id": "tenancy_membership",
                "merged_into_id": "inbox_thread",
            },
            narrowed=OF_INBOX,
        ),
        db.fence(
            "inbox_threadparticipant",
            references={"thread_id": "inbox_thread"},
            touch=False,
            narrowed="inbox_sees_thread_v1(thread_id)",
        ),
        db.fence(
            "inbox_entry",
            references={
                "inbox_id": "inbox_inbox",
                "thread_id": "inbox_thread",
                "email_id": "inbox_email",
                "in_reply_to_id": "inbox_entry",
            },
            narrowed=OF_INBOX,
        ),
        db.fence("inbox_entrydeliveryevent", references={"entry_id": "inbox_entry"}, narrowed=OF_ENTRY),
        db.fence("inbox_entryrecipient", references={"entry_id": "inbox_entry"}, narrowed=OF_ENTRY),
        db.fence(
            "inbox_attachment",
            references={"entry_id": "inbox_entry", "email_id": "inbox_email", "file_id": "files_file"},
            narrowed=OF_ENTRY,
        ),
        db.fence(
            "inbox_messagereference",
            references={"inbox_id": "inbox_inbox", "entry_id": "inbox_entry"},
            touch=False,
            narrowed=OF_INBOX,
        ),
        db.fence(
            "inbox_outboundmessage",
            references={"entry_id": "inbox_entry", "inbox_id": "inbox_inbox"},
            narrowed=OF_INBOX,
        ),
        db.fence("inbox_autoreplyquota", touch=False),
        db.fence("inbox_circuitbreaker", references={"inbox_id": "inbox_inbox"}, narrowed=OF_INBOX),
        db.fence("inbox_inboxaddress", references={"inbox_id": "inbox_inbox"}, narrowed=OF_INBOX),
        # What a split has made is in the same inbox, and gone when the split is undone.
        db.fence(
            "inbox_threadchange",
            narrowed="inbox_sees_thread_v1(source_thread_id)"
            " AND (kind = 'split' OR inbox_sees_thread_v1(target_thread_id))",
        ),
        db.fence(
            "inbox_threadreadstate",
            references={"thread_id": "inbox_thread", "membership_id": "tenancy_membership"},
            narrowed="inbox_sees_thread_v1(thread_id)",
        ),
        db.fence("inbox_draft", references={"thread_id": "inbox_thread"}, narrowed="inbox_sees_thread_v1(thread_id)"),
        db.fence("inbox_remoteimage"),
        # tenancy keeps a plain inbox id of teams, since it lies below this app; integrity is the database's.
        db.pair("tenancy_teaminbox", "inbox_id", "inbox_inbox"),
    ]
