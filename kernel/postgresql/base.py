"""Django's connection to PostgreSQL, with a look at the connection that costs no journey."""

import select
from typing import Any

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """Before each request Django asks whether the connection still lives (`CONN_HEALTH_CHECKS`)."""

    def is_usable(self) -> bool:
        """A server that goes away says so, or closes the socket: then there is something to read. Only then is it asked."""
        connection: Any = self.connection
        if connection is not None and not connection.closed:
            poll = select.poll()
            poll.register(connection.fileno(), select.POLLIN)
            if not poll.poll(0):
                return True
        return bool(super().is_usable())
