"""PgBouncer in front of the tests' PostgreSQL: transactions of many clients share a few sessions."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection

ROOT = Path(__file__).resolve().parents[2]
# Where bin/setup unpacks it, when the machine has none.
UNPACKED = ROOT / ".venv" / "pooler"


def program() -> str | None:
    """The path of PgBouncer, if there is one."""
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path=f"/usr/sbin:{UNPACKED}/usr/sbin")


@contextmanager
def pooling(folder: Path, *, sessions: int) -> Iterator[str]:
    """The URL of a pooler in transaction mode that shares so many sessions of the current database between its clients."""
    command, port, server = program(), _free_port(), connection.settings_dict
    assert command is not None
    lines = [
        "[databases]",
        f"* = host={server['HOST']} port={server['PORT']} user={server['USER']} password={server['PASSWORD']}",
        "[pgbouncer]",
        "listen_addr = 127.0.0.1",
        f"listen_port = {port}",
        "unix_socket_dir =",
        "auth_type = any",
        "pool_mode = transaction",
        f"default_pool_size = {sessions}",
        "max_client_conn = 200",
        *(["user = nobody"] if os.getuid() == 0 else []),
    ]
    config = folder / "pgbouncer.ini"
    config.write_text("\n".join(lines) + "\n")
    # It leaves root behind, and must still be able to read this.
    for path in (config, *config.parents[:3]):
        path.chmod(path.stat().st_mode | 0o055)
    libraries = {"LD_LIBRARY_PATH": ":".join(str(path) for path in UNPACKED.glob("usr/lib/*"))}
    with open(folder / "pgbouncer.log", "wb") as log:
        process = subprocess.Popen([command, str(config)], env=os.environ | libraries, stdout=log, stderr=log)
    try:
        _wait(port, process, folder / "pgbouncer.log")
        yield f"postgres://{server['USER']}:any@127.0.0.1:{port}/{server['NAME']}"
    finally:
        process.kill()
        process.wait(10)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(200):
        assert process.poll() is None, log.read_text()
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(log.read_text())
