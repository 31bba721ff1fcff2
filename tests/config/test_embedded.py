"""The embedded services: what they offer, who may do what, and that nothing outlives its users."""

import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config.embedded import attach, postgres, processes, valkey
from config.embedded.services import running
from tests.config.harness import eventually, hold, kill, nothing_left, processes_at, query, state

pytestmark = pytest.mark.xdist_group("embedded")


class TestWhatIsOffered:
    def test_named_services_win_and_nothing_is_started(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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

    def test_a_disposable_one_gives_up_the_power_cut_and_nothing_else(self, root: Path) -> None:
        """That of the tests: a commit is still one for every process that dies, PostgreSQL's own included."""
        with running(needs_postgres=True, needs_valkey=False, root=root, is_disposable=True) as urls:
            url = urls.database or ""
            assert [query(url, f"SHOW {name}") for name in ("fsync", "synchronous_commit")] == ["off", "on"]

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

    def test_the_owner_migrates_and_makes_databases_that_have_the_extensions(self, urls: tuple[str, str]) -> None:
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

    def test_when_a_first_start_is_killed_at_any_moment_and_the_next_completes_it(self, private: Path) -> None:
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

    def test_a_port_taken_at_the_last_moment_is_tried_anew(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in listed.split()]
