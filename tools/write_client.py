"""Write the parts of the Python client that follow from the API's description; with --check, only say which are stale.

    python tools/write_client.py            write types/, resources/ and async_resources/ of clients/python
    python tools/write_client.py --check    change nothing; exit 1 and name the stale files, if there are any

Needs no database and no other service.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
PACKAGE = Path("clients/python/src/autonomous_inbox")


def description() -> dict[str, Any]:
    """The API's description, from the code."""
    import django

    django.setup()
    from drf_spectacular.generators import SchemaGenerator

    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


def files() -> dict[Path, str]:
    """Every written file and what it should hold, formatted."""
    from tools.pages import client_code

    return {PACKAGE / path: _formatted(text) for path, text in client_code.files(description()).items()}


def _formatted(text: str) -> str:
    program = Path(sys.executable).parent / "ruff"
    for arguments in (["check", "--fix-only", "--select", "I,F401"], ["format"]):
        argv = [str(program), *arguments, "--stdin-filename", str(ROOT / PACKAGE / "written.py"), "-"]
        text = subprocess.run(argv, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def stale(wanted: dict[Path, str]) -> list[Path]:
    """Files that differ from what they should hold, and files of resources that are gone."""
    different = [p for p, text in wanted.items() if not (ROOT / p).exists() or (ROOT / p).read_text("utf-8") != text]
    written = [
        path.relative_to(ROOT)
        for folder in ("types", "resources", "async_resources")
        for path in (ROOT / PACKAGE / folder).glob("*.py")
    ]
    return sorted({*different, *(path for path in written if path not in wanted)})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a file is stale")
    arguments = parser.parse_args()
    wanted = files()
    found = stale(wanted)
    if arguments.check:
        for path in found:
            print(f"{path} is stale: run `python tools/write_client.py` and look at what changed.")
        return 1 if found else 0
    for path in found:
        if path in wanted:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(wanted[path], "utf-8")
            print(f"wrote {path}")
        else:
            (ROOT / path).unlink()
            print(f"removed {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
