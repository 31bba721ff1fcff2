"""The services a process needs, for as long as it needs them.

    with running(needs_postgres=True, needs_valkey=True, root=checkout) as urls:
        os.environ.update(urls.environment())

DATABASE_URL and REDIS_URL win: what they name is used as it is and nothing is started for it.

Several processes may do this in the same checkout. The first starts a service, the others adopt it, and it
stops when the last of them has ended, by Ctrl-C, SIGTERM or even `kill -9`. A process that forks without exec
passes its use on to the child.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from config.embedded import postgres, valkey
from config.embedded.attach import Service, attach
from config.embedded.processes import EmbeddedError
from config.embedded.state import State

__all__ = ["EmbeddedError", "ServiceUrls", "running"]


@dataclass(frozen=True, kw_only=True)
class ServiceUrls:
    """Addresses of what was started or adopted; None for what the environment names already."""

    database: str | None = None
    database_owner: str | None = None
    redis: str | None = None

    def environment(self) -> dict[str, str]:
        """The variables that settings read: the runtime role's, the owner's for migrations, and the queue's."""
        variables = {
            "DATABASE_URL": self.database,
            "DATABASE_OWNER_URL": self.database_owner,
            "REDIS_URL": self.redis,
        }
        return {name: value for name, value in variables.items() if value}


@contextmanager
def running(
    needs_postgres: bool, needs_valkey: bool, root: Path, *, is_disposable: bool = False
) -> Iterator[ServiceUrls]:
    """Have the needed services up inside the block. Raises EmbeddedError, a sentence for the operator."""
    with ExitStack() as stack:
        database = owner = redis = None
        if needs_postgres and not os.environ.get("DATABASE_URL"):
            database, owner = postgres.urls(_use(stack, partial(postgres.locate, is_disposable=is_disposable), root))
        if needs_valkey and not os.environ.get("REDIS_URL"):
            redis = valkey.url(_use(stack, valkey.locate, root))
        yield ServiceUrls(database=database, database_owner=owner, redis=redis)


def _use(stack: ExitStack, locate: Callable[[Path], Service], root: Path) -> State:
    try:
        attachment = attach(locate(root.resolve()))
    except PermissionError as error:
        raise EmbeddedError(
            f"{error.filename or root} belongs to another user: start as the user who started here before."
        ) from error
    stack.callback(attachment.release)
    return attachment.state
