"""What the models cannot state: fences around workspaces, paired keys, append-only tables."""

from django.db import migrations

from kernel import db


class Migration(migrations.Migration):
    dependencies = [
        ("inbox", "0002_relations"),
        ("kernel", "0002_fence"),
        ("tenancy", "0002_fence"),
        ("files", "0003_fence"),
    ]

    operations = [
        db.pairable(
            "inbox_inbox", "inbox_inboundmessage", "inbox_email", "inbox_thread", "inbox_entry", "inbox_attachment"
        ),
        db.fence("inbox_inbox"),
        db.fence("inbox_inboundmessage"),
        db.fence("inbox_email", references={"inbound_message_id": "inbox_inboundmessage", "inbox_id": "inbox_inbox"}),
        db.fence(
            "inbox_thread",
            references={
                "inbox_id": "inbox_inbox",
                "assignee_id": "tenancy_membership",
                "merged_into_id": "inbox_thread",
            },
        ),
        db.fence("inbox_threadparticipant", references={"thread_id": "inbox_thread"}, touch=False),
        db.fence(
            "inbox_entry",
            references={
                "inbox_id": "inbox_inbox",
                "thread_id": "inbox_thread",
                "email_id": "inbox_email",
                "in_reply_to_id": "inbox_entry",
            },
        ),
        db.fence("inbox_entrydeliveryevent", references={"entry_id": "inbox_entry"}),
        db.fence("inbox_entryrecipient", references={"entry_id": "inbox_entry"}),
        db.fence(
            "inbox_attachment",
            references={"entry_id": "inbox_entry", "email_id": "inbox_email", "file_id": "files_file"},
        ),
        db.fence(
            "inbox_messagereference", references={"inbox_id": "inbox_inbox", "entry_id": "inbox_entry"}, touch=False
        ),
        db.fence("inbox_outboundmessage", references={"entry_id": "inbox_entry", "inbox_id": "inbox_inbox"}),
        db.fence("inbox_autoreplyquota", touch=False),
        db.fence(
            "inbox_threadreadstate", references={"thread_id": "inbox_thread", "membership_id": "tenancy_membership"}
        ),
        db.fence("inbox_draft", references={"thread_id": "inbox_thread"}),
        db.fence("inbox_remoteimage"),
    ]
