"""`migrate`, as the owner of the schema: the runtime role may not change it."""

from typing import Any

from django.core.management.base import CommandParser
from django.core.management.commands.migrate import Command as DjangoMigrate


class Command(DjangoMigrate):
    """Django's command with the connection `owner` (DATABASE_OWNER_URL, else DATABASE_URL) as its default."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database="owner")

    def handle(self, *args: Any, **options: Any) -> None:
        from django.db import connections

        from kernel.roles import PREPARE_SQL

        if not options.get("plan") and not options.get("check_unapplied"):
            # Before the first migration, of any app: so that every table is granted to the runtime role.
            with connections[options["database"]].cursor() as cursor:
                cursor.execute(PREPARE_SQL)
        super().handle(*args, **options)
        if not options.get("plan") and not options.get("check_unapplied"):
            _sync(connections[options["database"]])


def _sync(connection: Any) -> None:
    """Permissions and roles of the system follow the code, as far as their tables are there (also after a way back)."""
    from django.db import transaction

    from tenancy.services import seeding

    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        cursor.execute("SELECT to_regproc('tenancy_system_role_v1') IS NOT NULL")
        if cursor.fetchone()[0]:
            seeding.sync(cursor)
