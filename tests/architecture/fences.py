"""What the database itself says about each table, compared with what a fenced table must have."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

# Tables that belong to no workspace, each with the reason.
GLOBAL = {
    "tenancy_user": "a person; workspaces are reached through memberships (S3-16)",
    "tenancy_user_groups": "Django's, of a global user; not used",
    "tenancy_user_user_permissions": "Django's, of a global user; not used",
    "tenancy_permission": "globally stable names (S3-19)",
    "tenancy_installation": "the singleton of the installation (S3-27)",
    "tenancy_devicesession": "a browser of a person; carries no workspace, which is asked anew each time (S3-22, S3-26)",
    "tenancy_loginevent": "an attempt to be a person; plain values, append-only (S3-23, X-8)",
    "tenancy_resettoken": "a wish for a new password of a person (S3-24)",
    "tenancy_throttle": "counters of attempts; hashes only",
    "account_emailaddress": "of the sign-in library, of a global user",
    "account_emailconfirmation": "of the sign-in library; not used",
    "mfa_authenticator": "a second factor of a person",
    "socialaccount_socialaccount": "a person's identity at the provider of single sign-on",
    "socialaccount_socialapp": "of the sign-in library; not used, the environment names the provider",
    "socialaccount_socialtoken": "of the sign-in library; not used, no token is kept",
    "tenancy_revokedsigningkey": "a key of the installation; it signs for every workspace (S0-5)",
    "contacts_contact": "a person of the realm; reached through a profile (X-3)",
    "contacts_contactidentifier": "one value is one person of the realm (X-3)",
    "kernel_encryptionkey": "check values of the installation's keys (K5)",
    "kernel_outboxclaim": "batches that drains own for seconds: ids of events of several workspaces (S3-45)",
    "kernel_periodicjob": "which slot of time the schedulers have sent a job for (I2)",
    "kernel_heartbeat": "pulse of the installation's processes (FS-9)",
    "auth_group": "Django's; not used",
    "auth_group_permissions": "Django's; not used",
    "auth_permission": "Django's; names of models",
    "django_admin_log": "Django's log of the console; of a global user",
    "django_content_type": "Django's; names of models",
    "django_migrations": "Django's; the schema's history",
}

# Columns that end in _id and hold an id, but refer to no row of a workspace, each with the reason.
NOT_REFERENCES = {
    "actor_id": "audit keeps plain values that outlive the actor (X-7)",
    "resource_id": "audit keeps plain values that outlive the resource (X-8)",
    "request_id": "of a request, not of a row",
    "event_id": "of an outbox event, which is pruned before what names it",
    "external_id": "of the outside world",
    "realm_id": "names a realm; there is no table of realms (X-3)",
    "author_id": "history keeps plain values that outlive the author (X-7)",
    "decided_by_id": "history keeps plain values that outlive the person (X-7)",
    "provider_event_id": "of the provider",
    "provider_message_id": "of the provider",
    "message_id": "of RFC 5322 or of the provider",
    "rfc_message_id": "of RFC 5322",
    "content_id": "of RFC 2392",
}
EXACTLY = {
    ("audit_auditevent", "execution_id"): "audit has no foreign keys (X-8)",
    ("inbox_threadchange", "source_thread_id"): "history; undoing the split that made a thread takes it away",
    ("inbox_threadchange", "target_thread_id"): "history; undoing the split that made a thread takes it away",
    ("tickets_threadcount", "inbox_id"): "what a sum is of; triggers write it from rows that have the key",
    ("tickets_threadcount", "assignee_id"): "what a sum is of; triggers write it from rows that have the key",
    ("tickets_threadcount", "tag_id"): "what a sum is of; triggers write it from rows that have the key",
}

# The column that names the workspace, where it is not workspace_id.
OWN_COLUMN = {"tenancy_workspace": "id"}


def query(database: BaseDatabaseWrapper, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    with database.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchall()


def tables(database: BaseDatabaseWrapper) -> list[str]:
    """Every ordinary and partitioned table of the schema."""
    return [
        row[0]
        for row in query(
            database,
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
            " ORDER BY relname",
        )
    ]


def owned(database: BaseDatabaseWrapper) -> list[str]:
    return [table for table in tables(database) if table not in GLOBAL]


def column_of(table: str) -> str:
    return OWN_COLUMN.get(table, "workspace_id")


def append_only(database: BaseDatabaseWrapper) -> list[str]:
    """The tables whose rows never change, by the trigger that says so."""
    rows = query(
        database,
        "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = split_part(tgrelid::regclass::text, '.', 1) || '_no_change'",
    )
    return sorted(row[0] for row in rows)


def columns(database: BaseDatabaseWrapper) -> dict[str, dict[str, tuple[str, bool]]]:
    """By table and column: its type, and whether it may be null."""
    found: dict[str, dict[str, tuple[str, bool]]] = defaultdict(dict)
    for table, name, kind, required in query(
        database,
        "SELECT c.relname, a.attname, format_type(a.atttypid, NULL), a.attnotnull FROM pg_attribute a"
        " JOIN pg_class c ON c.oid = a.attrelid WHERE c.relnamespace = 'public'::regnamespace"
        " AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped",
    ):
        found[table][name] = (kind, not required)
    return found


def references(database: BaseDatabaseWrapper) -> dict[tuple[str, str], set[tuple[str, int]]]:
    """By table and column: the tables that foreign keys with this column point at, and how many columns these have."""
    found: dict[tuple[str, str], set[tuple[str, int]]] = defaultdict(set)
    for table, target, names in query(
        database,
        "SELECT k.conrelid::regclass::text, k.confrelid::regclass::text, array(SELECT a.attname::text FROM unnest(k.conkey)"
        " AS n JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = n) FROM pg_constraint k"
        " WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace AND k.convalidated",
    ):
        for name in names:
            found[(table, name)].add((target, len(names)))
    return found


def pairs(database: BaseDatabaseWrapper) -> list[tuple[str, str, str]]:
    """Every paired key: table, referring column, target."""
    return sorted(
        (table, name, target)
        for (table, name), keys in references(database).items()
        for target, width in keys
        if width == 2 and name != column_of(table)
    )


def faults(database: BaseDatabaseWrapper) -> list[str]:
    """What is missing from the fences, in words; empty when every table is behind its own."""
    checks: list[Callable[[BaseDatabaseWrapper], Iterator[str]]] = [
        _row_level_security, _policies, _columns, _references, _touch, _views,
    ]  # fmt: skip
    return [fault for check in checks for fault in check(database)]


def _row_level_security(database: BaseDatabaseWrapper) -> Iterator[str]:
    flags = {
        row[0]: row[1:]
        for row in query(
            database,
            "SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class"
            " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')",
        )
    }
    for table in owned(database):
        enabled, forced = flags[table]
        if not enabled:
            yield f"{table}: row-level security is not enabled"
        if not forced:
            yield f"{table}: row-level security is not forced on the owner"


def _policies(database: BaseDatabaseWrapper) -> Iterator[str]:
    found: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for table, *policy in query(
        database,
        "SELECT tablename, permissive, roles::text, cmd, qual, with_check FROM pg_policies WHERE schemaname = 'public'",
    ):
        found[table].append(tuple(policy))
    for table in owned(database):
        if len(found[table]) != 1:
            yield f"{table}: has {len(found[table])} policies instead of one (permissive ones add up)"
            continue
        permissive, roles, command, using, check = found[table][0]
        if (permissive, roles, command) != ("PERMISSIVE", "{public}", "ALL"):
            yield f"{table}: its policy is not for every role and command"
        for word, clause in (("USING", using), ("WITH CHECK", check)):
            if not clause or f"({column_of(table)} = " not in clause or "'app.workspace_id'" not in clause:
                yield f"{table}: the {word} of its policy does not compare {column_of(table)} with the scope"


def _columns(database: BaseDatabaseWrapper) -> Iterator[str]:
    described = columns(database)
    for table in owned(database):
        kind, optional = described[table].get(column_of(table), ("missing", True))
        if kind != "uuid" or optional:
            yield f"{table}: {column_of(table)} must be a uuid NOT NULL; it is {kind}{' NULL' if optional else ''}"


def _references(database: BaseDatabaseWrapper) -> Iterator[str]:
    keys = references(database)
    behind = set(owned(database)) - {"tenancy_workspace"}
    for table in sorted(behind):
        for name, (kind, _) in columns(database)[table].items():
            if name in ("id", "workspace_id") or kind != "uuid":
                continue
            found = keys[(table, name)]
            paired = any(width == 2 for _, width in found)
            elsewhere = any(width == 1 and target not in behind for target, width in found)
            plain = name in NOT_REFERENCES or (table, name) in EXACTLY
            if not (paired or elsewhere or plain):
                yield f"{table}: {name} looks like a reference and has no paired key"
            if any(width == 1 and target in behind for target, width in found):
                yield f"{table}: {name} has a key that sees through the fence; it must be paired with the workspace"


def _touch(database: BaseDatabaseWrapper) -> Iterator[str]:
    touched = {
        row[0]
        for row in query(
            database,
            "SELECT tgrelid::regclass::text FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE p.proname = 'kernel_touch' AND tgenabled <> 'D'",
        )
    }
    unchanging = set(append_only(database))
    for table in owned(database):
        if "updated_at" in columns(database)[table] and table not in touched and table not in unchanging:
            yield f"{table}: updated_at is not kept by the database"


def _views(database: BaseDatabaseWrapper) -> Iterator[str]:
    for view, options in query(
        database,
        "SELECT relname, coalesce(reloptions::text, '') FROM pg_class"
        " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('v', 'm')",
    ):
        if "security_invoker=true" not in options:
            yield f"{view}: a view shows its owner's rows unless it is security_invoker"
