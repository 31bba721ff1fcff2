"""The states of connections and the moves of an e-mail; the ingest's three statements: accept (store first), prepare (look), file; news of deliveries;
conversations put together and taken apart; further addresses."""

from pathlib import Path

from django.db import migrations

from kernel import db

SQL = Path(__file__).resolve().parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [
        ("inbox", "0002_fence"),
        ("contacts", "0002_fence"),
        ("audit", "0002_fence"),
        ("webhooks", "0002_fence"),
    ]

    operations = [
        db.sql_file(
            SQL / "connections_v1.sql",
            reverse="DROP TRIGGER inbox_credential_is_needed ON inbox_connectioncredential;"
            " DROP TRIGGER inbox_connection_has_a_secret ON inbox_connection;"
            " DROP TRIGGER inbox_connection_moves ON inbox_connection;"
            " DROP TRIGGER inbox_connection_begins ON inbox_connection;"
            " DROP FUNCTION inbox_connected_v1(); DROP FUNCTION inbox_connection_move_v1()",
        ),
        db.sql_file(
            SQL / "moves_v1.sql",
            reverse="DROP TRIGGER inbox_email_moves ON inbox_email; DROP TRIGGER inbox_email_begins ON inbox_email;"
            " DROP FUNCTION inbox_email_move_v1()",
        ),
        db.sql_file(
            SQL / "accept_v1.sql",
            reverse="DROP FUNCTION inbox_accept_v1(text, text, bytea, bytea, text, text[], text[], text[], text[], jsonb,"
            " jsonb, uuid, text)",
        ),
        db.sql_file(
            SQL / "prepare_v1.sql",
            reverse="DROP FUNCTION inbox_prepare_v1(jsonb); DROP FUNCTION inbox_merged_end_v1(uuid)",
        ),
        db.sql_file(
            SQL / "file_v1.sql",
            reverse="DROP FUNCTION inbox_file_v1(jsonb, jsonb); DROP FUNCTION inbox_hold_threads_v1(jsonb);"
            " DROP FUNCTION inbox_contacts_v1(jsonb, jsonb); DROP FUNCTION inbox_attach_v1(uuid, uuid, uuid, jsonb)",
        ),
        db.sql_file(
            SQL / "delivery_v1.sql",
            reverse="DROP FUNCTION inbox_take_news_v1(text, text, bytea, text, text, text, uuid, uuid, jsonb, jsonb, text, text);"
            " DROP TRIGGER inbox_recipient_delivery_goes_on ON inbox_entryrecipient;"
            " DROP TRIGGER inbox_entry_delivery_goes_on ON inbox_entry;"
            " DROP FUNCTION inbox_refuse_regress_v1(); DROP FUNCTION inbox_delivery_rank_v1(text)",
        ),
        db.sql_file(
            SQL / "threads_v1.sql",
            reverse="DROP FUNCTION inbox_recount_thread_v1(uuid); DROP FUNCTION inbox_turn_v1(uuid);"
            " DROP TRIGGER inbox_thread_merges ON inbox_thread;"
            " DROP FUNCTION inbox_merge_v1()",
        ),
        db.sql_file(
            SQL / "addresses_v1.sql",
            reverse="DROP FUNCTION inbox_route_v1(text, text, text); DROP FUNCTION inbox_further_v1(text, text, text);"
            " DROP TRIGGER inbox_further_address_free ON inbox_inboxaddress;"
            " DROP TRIGGER inbox_inbox_address_free ON inbox_inbox; DROP FUNCTION inbox_address_free_v1()",
        ),
        db.sql_file(
            SQL / "desk_v1.sql",
            reverse="DROP TRIGGER inbox_direction_stays ON inbox_entry; DROP FUNCTION inbox_direction_stays_v1();"
            " DROP TRIGGER inbox_only_outbound_leaves ON inbox_outboundmessage;"
            " DROP FUNCTION inbox_only_outbound_leaves_v1();"
            " DROP TRIGGER inbox_reading_goes_on ON inbox_threadreadstate; DROP FUNCTION inbox_read_on_v1()",
        ),
    ]
