"""The embedded services: what they offer, who may do what, and that nothing outlives its users."""

import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config.embedded import attach, locations, postgres, processes, valkey
from config.embedded.services import EmbeddedError, running
from tests.config.harness import eventually, hold, kill, nothing_left, processes_at, query, state

pytestmark = pytest.mark.xdist_group("embedded")

AS_ROOT = os.geteuid() == 0


def forget(root: Path) -> None:
    """Remove a temporary checkout and the folder outside it, if root needed one."""
    if (root / "var" / "embedded" / "postgres.json").exists():
        shutil.rmtree(state(root)["home"], ignore_errors=True)
    shutil.rmtree(root)


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    """A checkout any account may pass through, with data already made, so that starts are quick."""
    folder = Path(tempfile.mkdtemp(prefix="embedded shared "))  # the blanks are on purpose
    folder.chmod(0o755)
    with hold(folder) as first:
        assert "DATABASE_URL" in first.said()
        assert first.finish() == 0
    yield folder
    assert nothing_left(folder)
    forget(folder)


@pytest.fixture
def private() -> Iterator[Path]:
    """A checkout nobody else may look into."""
    folder = Path(tempfile.mkdtemp(prefix="embedded-private-"))
    yield folder
    assert nothing_left(folder)
    forget(folder)


@pytest.fixture(autouse=True)
def no_services_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)


class TestWhatIsOffered:
    def test_named_services_win_and_nothing_is_started(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DATABASE_URL", "postgresql://elsewhere/inbox")
        monkeypatch.setenv("REDIS_URL", "redis://elsewhere")
        with running(needs_postgres=True, needs_valkey=True, root=tmp_path) as urls:
            assert urls.environment() == {}
        assert list(tmp_path.iterdir()) == []

    def test_only_what_is_needed_is_started(self, root: Path) -> None:
        with running(needs_postgres=False, needs_valkey=True, root=root) as urls:
            assert list(urls.environment()) == ["REDIS_URL"]
            assert not [line for line in processes_at(root) if "postgres" in line]

    def test_data_and_passwords_survive_a_restart_and_are_private(self, root: Path) -> None:
        with running(needs_postgres=True, needs_valkey=False, root=root) as urls:
            owner = urls.database_owner or ""
            query(owner, "CREATE TABLE kept AS SELECT 42 AS answer")
        with running(needs_postgres=True, needs_valkey=False, root=root) as urls:
            assert query(urls.database_owner or "", "SELECT answer FROM kept") == 42
            query(urls.database_owner or "", "DROP TABLE kept")
        assert (root / "var" / "embedded" / "postgres.json").stat().st_mode & 0o777 == 0o600

    def test_postgres_is_durable_and_speaks_unicode(self, root: Path) -> None:
        expected = {
            "fsync": "on", "synchronous_commit": "on", "jit": "off", "TimeZone": "UTC", "max_connections": "200",
            "server_encoding": "UTF8", "listen_addresses": "127.0.0.1",
        }  # fmt: skip
        with running(needs_postgres=True, needs_valkey=False, root=root) as urls:
            url = urls.database or ""
            assert {name: query(url, f"SHOW {name}") for name in expected} == expected
            assert query(url, "SELECT upper('ä')") == "Ä"
            assert query(url, "SELECT to_tsvector('simple', 'GRÖSSE')::text") == "'grösse':1"

    def test_a_wrong_password_is_refused(self, root: Path) -> None:
        with running(needs_postgres=True, needs_valkey=True, root=root) as urls:
            password = state(root)["secrets"]["inbox_runtime"]
            with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
                query((urls.database or "").replace(password, "guessed"), "SELECT 1")
            service = valkey.locate(root)
            known = state(root, "valkey")
            assert service.answers(attach.State(**known))
            assert not service.answers(attach.State(**known | {"secrets": {"valkey": "guessed"}}))

    def test_valkey_never_forgets_accepted_work_and_writes_nothing(self, root: Path) -> None:
        import redis

        with running(needs_postgres=False, needs_valkey=True, root=root) as urls:
            client = redis.Redis.from_url(urls.redis or "", decode_responses=True)
            names = ("maxmemory-policy", "save", "appendonly", "bind", "protected-mode")
            answers = {name: client.config_get(name)[name] for name in names}
            client.close()
        assert list(answers.values()) == ["noeviction", "", "no", "127.0.0.1", "yes"]


class TestRoles:
    @pytest.fixture
    def urls(self, root: Path) -> Iterator[tuple[str, str]]:
        with running(needs_postgres=True, needs_valkey=False, root=root) as urls:
            yield urls.database or "", urls.database_owner or ""

    def test_nobody_but_the_maintenance_account_is_superuser(self, urls: tuple[str, str]) -> None:
        found = query(urls[0], "SELECT string_agg(rolname, ',') FROM pg_roles WHERE rolsuper OR rolbypassrls")
        assert found == "postgres"

    def test_the_runtime_role_creates_nothing(self, urls: tuple[str, str]) -> None:
        for statement in (
            "CREATE TABLE mine ()",
            "CREATE DATABASE mine",
            "SET ROLE inbox_owner",
            "SET ROLE inbox_audit",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                query(urls[0], statement)

    def test_the_owner_migrates_and_makes_databases_that_have_the_extensions(
        self, urls: tuple[str, str]
    ) -> None:
        owner = urls[1]
        query(owner, "CREATE DATABASE test_inbox")
        test = owner.removesuffix("/inbox") + "/test_inbox"
        for url in (owner, test):
            for extension in ("vector", "pg_trgm", "btree_gin"):
                query(url, f"CREATE EXTENSION IF NOT EXISTS {extension}")
            query(url, "CREATE TABLE things (id int, place vector(3))")
            query(url, "GRANT SELECT ON things TO inbox_runtime")
            assert query(url, "SELECT count(*) FROM things") == 0
            query(url, "DROP TABLE things")
        query(owner, "DROP DATABASE test_inbox")

    def test_the_owner_hands_objects_over_to_the_audit_role(self, urls: tuple[str, str]) -> None:
        owner = urls[1]
        query(owner, "CREATE FUNCTION seal() RETURNS int LANGUAGE sql AS 'SELECT 1'")
        query(owner, "ALTER FUNCTION seal() OWNER TO inbox_audit")
        query(owner, "CREATE TABLE sealed ()")
        query(owner, "ALTER TABLE sealed OWNER TO inbox_audit")
        query(owner, "DROP FUNCTION seal(); DROP TABLE sealed")

    def test_a_half_made_cluster_is_completed(self, root: Path) -> None:
        with running(needs_postgres=True, needs_valkey=False, root=root):
            memory = attach.State(**state(root))
            memory.prepared = 0
            postgres.locate(root).finish(memory)
            assert memory.prepared == 1


class TestNothingIsLeft:
    @pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
    def test_when_the_starter_is_ended(self, root: Path, signum: signal.Signals) -> None:
        with hold(root, "valkey") as holder:
            url = holder.said()["DATABASE_URL"]
            open_session = psycopg.connect(url)
            open_session.execute("SELECT 1")
            holder.send(signum)
            if signum != signal.SIGKILL:
                assert not processes_at(root), "an orderly end waits for the services"
            open_session.close()
        assert nothing_left(root)

    def test_when_the_guards_are_killed(self, root: Path) -> None:
        with hold(root, "valkey") as holder:
            holder.said()
            kill([state(root)["guard"], state(root, "valkey")["guard"]])
            assert eventually(
                lambda: not [line for line in processes_at(root) if "json" not in line and "-c" not in line]
            )
            holder.finish()
        assert nothing_left(root)

    def test_when_everything_is_killed_and_the_next_start_works(self, root: Path) -> None:
        with hold(root) as holder:
            holder.said()
            kill(int(line.split()[0]) for line in processes_at(root / "var" / "postgres"))
            holder.send(signal.SIGKILL)
        stale = root / "var" / "postgres" / "data" / "postmaster.pid"
        stale.write_text(stale.read_text().replace(stale.read_text().split()[0], "1", 1))  # a living process
        with running(needs_postgres=True, needs_valkey=False, root=root) as urls:
            assert query(urls.database or "", "SELECT 1") == 1

    def test_when_a_first_start_is_killed_at_any_moment_and_the_next_completes_it(
        self, private: Path
    ) -> None:
        for delay in (0.4, 0.7, 0.9):  # in initdb, between, while roles and databases are made
            with hold(private) as holder:
                time.sleep(delay)
                holder.process.kill()
        with hold(private) as holder:
            url = holder.said()["DATABASE_OWNER_URL"]
            assert (
                query(
                    url,
                    "SELECT count(*) FROM pg_extension WHERE extname IN ('vector', 'pg_trgm', 'btree_gin')",
                )
                == 3
            )
            assert holder.finish() == 0


class TestSeveralUsers:
    def test_the_second_adopts_and_the_last_one_stops(self, root: Path) -> None:
        with hold(root, "valkey") as first, hold(root, "valkey") as second:
            urls = first.said()
            assert second.said() == urls
            starter, adopter = (
                (first, second) if state(root)["guard"] in children(first.process.pid) else (second, first)
            )
            starter.send(signal.SIGKILL)
            assert query(urls["DATABASE_URL"], "SELECT 1") == 1
            with running(needs_postgres=True, needs_valkey=True, root=root) as third:
                assert third.environment() == urls
            assert query(urls["DATABASE_URL"], "SELECT 1") == 1
            adopter.send(signal.SIGTERM)
            assert not processes_at(root), "the last one waits, whoever started them"

    def test_a_starter_leaves_without_waiting_for_adopters(self, root: Path) -> None:
        with hold(root) as starter:
            starter.said()
            with hold(root) as adopter:
                urls = adopter.said()
                assert starter.finish() == 0
                assert query(urls["DATABASE_URL"], "SELECT 1") == 1

    def test_simultaneous_first_starts_share_one_service(self, private: Path) -> None:
        holders = [hold(private, "valkey") for _ in range(3)]
        try:
            first, *others = [holder.said() for holder in holders]
            assert first["DATABASE_URL"]
            assert others == [first, first]
            assert [holder.finish() for holder in holders] == [0, 0, 0]
        finally:
            for holder in holders:
                holder.__exit__()

    def test_a_start_right_after_a_kill_waits_for_the_old_service(self, root: Path) -> None:
        for _ in range(3):
            with hold(root) as holder:
                assert query(holder.said()["DATABASE_URL"], "SELECT 1") == 1
                holder.process.kill()


class TestPorts:
    def test_the_port_is_kept_but_a_taken_one_is_no_problem(self, root: Path) -> None:
        with running(needs_postgres=True, needs_valkey=True, root=root):
            before = [state(root)["port"], state(root, "valkey")["port"]]
        with running(needs_postgres=True, needs_valkey=True, root=root):
            assert [state(root)["port"], state(root, "valkey")["port"]] == before
        with (
            socket.create_server(("127.0.0.1", before[0])),
            socket.create_server(("127.0.0.1", before[1])),
            running(needs_postgres=True, needs_valkey=True, root=root) as urls,
        ):
            assert query(urls.database or "", "SELECT 1") == 1
            assert state(root)["port"] != before[0]
            assert state(root, "valkey")["port"] != before[1]

    def test_a_port_taken_at_the_last_moment_is_tried_anew(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with socket.socket() as thief:
            thief.bind(("127.0.0.1", 0))
            taken = thief.getsockname()[1]
            real = processes.free_port
            lost: list[int] = []

            def beaten(preferred: int | None) -> int:
                if len(lost) % 2:
                    lost.append(0)
                    return real(preferred)
                lost.append(taken)
                return int(taken)

            monkeypatch.setattr(processes, "free_port", beaten)
            with running(needs_postgres=True, needs_valkey=True, root=root) as urls:
                assert query(urls.database or "", "SELECT 1") == 1
            assert len(lost) == 4


class TestRefusals:
    """Each is one sentence that says what to do, and nothing is touched."""

    @pytest.fixture
    def data(self, tmp_path: Path) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="embedded-refused-"))
        folder.chmod(0o755)
        data = folder / "var" / "postgres" / "data"
        data.mkdir(parents=True)
        (folder / "var" / "embedded").mkdir()
        (folder / "var" / "embedded" / "postgres.json").write_text("{}")
        yield data
        shutil.rmtree(folder)

    def refusal(self, data: Path) -> str:
        with (
            pytest.raises(EmbeddedError) as refused,
            running(needs_postgres=True, needs_valkey=False, root=data.parents[2]),
        ):
            pass
        return str(refused.value)

    def test_data_of_another_version(self, data: Path) -> None:
        (data / "PG_VERSION").write_text("17\n")
        assert "was made by PostgreSQL 17 but PostgreSQL 18 is installed: dump it" in self.refusal(data)

    def test_a_folder_that_holds_something_else(self, data: Path) -> None:
        (data / "holiday.jpg").touch()
        assert "is not a PostgreSQL data folder: delete it" in self.refusal(data)
        assert (data / "holiday.jpg").exists()

    def test_data_without_their_passwords(self, data: Path) -> None:
        (data / "PG_VERSION").write_text("18\n")
        (data.parents[1] / "embedded" / "postgres.json").unlink()
        assert "is missing: restore it" in self.refusal(data)
        assert data.exists()

    def test_a_damaged_memory(self, data: Path) -> None:
        (data.parents[1] / "embedded" / "postgres.json").write_text("{")
        assert "is damaged" in self.refusal(data)

    def test_damaged_data(self, data: Path) -> None:
        (data / "PG_VERSION").write_text("18\n")
        if AS_ROOT:
            shutil.chown(data, "nobody")
        data.chmod(0o700)
        refusal = self.refusal(data)
        assert "PostgreSQL did not start (" in refusal
        assert "postgresql.conf" in refusal


class TestAccounts:
    @pytest.mark.skipif(not AS_ROOT, reason="only root has to become somebody else")
    def test_root_serves_a_private_checkout_without_opening_it(self, private: Path) -> None:
        with hold(private, "valkey") as holder:
            url = holder.said()["DATABASE_URL"]
            assert query(url, "SELECT 1") == 1
            home = Path(state(private)["home"])
            assert not home.is_relative_to(private)
            assert (home / "data").stat().st_uid != 0
            assert private.stat().st_mode & 0o777 == 0o700
            holder.send(signal.SIGKILL)
        assert nothing_left(private, home)
        (home / "data" / "mark").touch()
        shutil.rmtree(private / "var")  # whoever empties var wants an empty database
        with hold(private) as holder:
            assert query(holder.said()["DATABASE_URL"], "SELECT 1") == 1
            assert not (home / "data" / "mark").exists()
            holder.finish()

    @pytest.mark.skipif(not AS_ROOT, reason="only root may copy for all")
    def test_programs_out_of_reach_are_copied_for_all(
        self, private: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(locations, "_passable", lambda _path: False)
        runs_as = locations.account(private)
        copied = locations.programs(runs_as)
        assert copied.is_relative_to(locations._system_folder())
        assert copied.stat().st_mode & 0o777 == 0o755
        assert (copied / "postgres").stat().st_mode & 0o777 == 0o755
        monkeypatch.undo()
        monkeypatch.setattr(locations, "programs", lambda _account: copied)
        with running(needs_postgres=True, needs_valkey=False, root=private) as urls:
            assert query(urls.database or "", "SELECT '[1,2]'::vector::text") == "[1,2]"

    @pytest.mark.skipif(not AS_ROOT, reason="the other tests run as an ordinary user already")
    def test_an_ordinary_user_serves_a_private_checkout(self, private: Path) -> None:
        shutil.chown(private, "nobody", "nogroup")
        # The capability lets it read the interpreter, wherever that lies; it is an ordinary user all the same.
        as_nobody = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups",
                     "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]  # fmt: skip
        with hold(private, "valkey", before=as_nobody) as holder:
            assert query(holder.said()["DATABASE_URL"], "SELECT 1") == 1
            assert state(private)["home"] == str(private / "var" / "postgres")
            holder.send(signal.SIGKILL)
        assert nothing_left(private)


def children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in listed.split()]
