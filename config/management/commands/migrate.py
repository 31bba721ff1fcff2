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
