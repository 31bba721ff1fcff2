"""Write the pages of docs/ that the code can write itself; with --check, only say which of them are stale.

    python tools/write_docs.py            write docs/events.md, permissions.md, configuration.md, problems.md, data-model/
    python tools/write_docs.py --check    change nothing; exit 1 and name the stale pages, if there are any

Needs no database and no other service.
"""

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")


def pages() -> dict[Path, str]:
    """Every generated page and what it should hold."""
    import django

    django.setup()
    from tools.pages import configuration, data_model, events, permissions, problems

    found = {
        Path("docs/events.md"): events.page(),
        Path("docs/permissions.md"): permissions.page(),
        Path("docs/configuration.md"): configuration.page(),
        Path("docs/problems.md"): problems.page(),
    }
    return found | {Path("docs/data-model") / f"{app}.md": text for app, text in data_model.pages().items()}


def stale(wanted: dict[Path, str]) -> list[Path]:
    """Pages that differ from what they should hold, and pages of apps that are gone."""
    different = [p for p, text in wanted.items() if not (ROOT / p).exists() or (ROOT / p).read_text("utf-8") != text]
    written = [path.relative_to(ROOT) for path in (ROOT / "docs/data-model").glob("*.md")]
    return sorted({*different, *(path for path in written if path not in wanted)})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a page is stale")
    arguments = parser.parse_args()
    wanted = pages()
    found = stale(wanted)
    if arguments.check:
        for path in found:
            print(f"{path} is stale: run `python tools/write_docs.py` and look at what changed.")
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
