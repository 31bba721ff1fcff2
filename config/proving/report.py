"""The report: one page that can be handed to a customer, and that says what was not looked at."""

from pathlib import Path

from django.template.loader import render_to_string

from config.proving import catalogue
from config.proving.findings import Findings
from kernel import clock

KINDS = {
    "requests": "requests with an id of another workspace in the path, by every method and by everybody",
    "parameter_routes": "requests with such an id in a filter, a body, a header or a cursor",
    "tables": "tables, each asked in SQL as the application may ask: read, change, delete, insert, take over, refer",
    "background": "background jobs that were given such ids",
}


def write(found: Findings, *, path: Path, url: str, seconds: float) -> None:
    """Write the page; its folder is made when it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    context = {
        "found": found,
        "counts": [(number, KINDS[kind]) for kind, number in found.counts.items()],
        "tables": [table.name for table in catalogue.tables()],
        "url": url,
        "seconds": round(seconds),
        "at": clock.now(),
    }
    path.write_text(render_to_string("proving/report.html", context), encoding="utf-8")
