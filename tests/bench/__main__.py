"""`python -m tests.bench [--row NAME] [--rounds N] [--quick] [--strict] [--json FILE]`, with the services up.

bin/with-services .venv/bin/python -m tests.bench --row ingest --quick
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from rich.console import Console

from tests.bench.report import Figure, Run, show, write

# Name, what --row also takes, module, function.
ROWS = (
    ("1", "ingest", "tests.bench.rows.ingest", "bound"),
    ("1b", "peers", "tests.bench.rows.ingest", "beside_peers"),
    ("2", "posting", "tests.bench.rows.posting", "measure"),
    ("3", "parsing", "tests.bench.rows.parsing", "measure"),
    ("4", "redelivery", "tests.bench.rows.redelivery", "measure"),
    ("5", "reads", "tests.bench.rows.reads", "measure"),
    ("7", "webhooks", "tests.bench.rows.deliveries", "measure"),
)
_REDIS_DATABASE = "15"  # apart from that of an application that runs beside


def main(arguments: Sequence[str]) -> int:
    """0, or 1 with --strict when a row is below its floor or could not be measured."""
    options = _options(arguments)
    console = Console(width=None if sys.stdout.isatty() else 150)
    with tempfile.TemporaryDirectory() as folder:
        _prepare(Path(folder))
        figures, failures = _measured(options, Path(folder), lambda text: console.print(f"[dim]· {text}[/dim]"))
    show(figures, console)
    for text in failures:
        console.print(f"[red]{text}[/red]")
    path = Path(options.json) if options.json else _default_path()
    write(figures, path, facts=_facts(options) | {"failures": failures})
    console.print(f"written to {os.path.relpath(path)}")
    short = failures or any(figure.verdict == "below floor" for figure in figures)
    return 1 if options.strict and short else 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    names = [name for row in ROWS for name in row[:2]]
    parser.add_argument("--row", action="append", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small sizes: to see that it works, not to judge")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a row is below its floor")
    parser.add_argument("--json", metavar="FILE", help="default: var/bench/<date>.json")
    return parser.parse_args(arguments)


def _prepare(folder: Path) -> None:
    """Settings, a Redis database and a folder of files of our own, for this process and all that it starts."""
    if not os.environ.get("DATABASE_OWNER_URL"):
        raise SystemExit("python -m tests.bench needs the services: bin/with-services .venv/bin/python -m tests.bench")
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.bench.settings"
    os.environ["FILES_ROOT"] = str(folder / "files")
    redis = urlsplit(os.environ.get("REDIS_URL", ""))
    os.environ["REDIS_URL"] = urlunsplit(redis._replace(path=f"/{_REDIS_DATABASE}"))
    import django

    django.setup()


def _measured(options: argparse.Namespace, folder: Path, say: Callable[[str], None]) -> tuple[list[Figure], list[str]]:
    """The figures, and what went wrong; a row that fails does not stop the others."""
    from kernel import nudge
    from tests.bench.scratch import Scratch

    scratch = Scratch()
    run = Run(options.rounds, options.quick, say, scratch, folder)
    figures: list[Figure] = []
    failures: list[str] = []
    with scratch.template():
        for name, alias, module, function in ROWS:
            wanted = {name, alias} & set(options.row) if options.row else True
            if not wanted:
                continue
            say(f"row {name}: {alias}")
            began = time.monotonic()
            try:
                figures += getattr(import_module(module), function)(run)
            except Exception as error:
                failures.append(f"row {name} could not be measured: {type(error).__name__}: {error}")
            say(f"row {name} took {time.monotonic() - began:.0f} s")
    nudge.client().flushdb()  # wake-ups that nobody will answer
    return figures, failures


def _facts(options: argparse.Namespace) -> dict[str, object]:
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "rounds": options.rounds,
        "quick": options.quick,
        "cpus": os.cpu_count(),
        "python": sys.version.split()[0],
    }


def _default_path() -> Path:
    from config.env import VAR

    return VAR / "bench" / f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}.json"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
