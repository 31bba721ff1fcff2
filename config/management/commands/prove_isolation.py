"""Show that no workspace reaches another one, against a running system; the report can be handed to a customer."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import urllib3
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config import ports, processes
from config.embedded.supervisor import Supervisor
from config.proving import api, background, callers, catalogue, console, matrix, parameters, report, scene, tables
from config.proving.findings import Findings
from config.proving.scene import Place

_SECONDS = 60


class Command(BaseCommand):
    help = "Prove that workspaces do not reach each other. Makes two of its own, and deletes them at the end."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--url", help="the running system, such as http://127.0.0.1:8000; default: start one")
        parser.add_argument("--report", type=Path, help="where to write the page; default var/reports/isolation.html")

    def handle(self, *args: Any, **options: Any) -> None:
        began, found = time.monotonic(), Findings()
        path = options["report"] or settings.BASE_DIR / "var" / "reports" / "isolation.html"
        with _running(options["url"]) as url, scene.two() as (ours, theirs):
            self._prove(found, url, ours, theirs)
        report.write(found, path=path, url=url, seconds=time.monotonic() - began)
        for sentence in (*found.sentences, *found.uncovered):
            self.stderr.write(sentence)
        self.stdout.write(f"Report: {path}")
        self.stdout.write(orjson.dumps(found.summary()).decode())
        if not found.is_clean:
            raise CommandError("The fence has a hole, or the proof does not reach all of the system; see above.")

    def _prove(self, found: Findings, url: str, ours: Place, theirs: Place) -> None:
        background.settle()
        with callers.with_key(url, "the other workspace", theirs.secret) as other:
            described = api.read(other, found)
            given = parameters.cursors(described, other)
        foreign, before = catalogue.ids(theirs.id), catalogue.rows(theirs.id)
        few = dict(list(foreign.items())[::8])
        with (
            callers.with_key(url, "somebody who may do everything elsewhere", ours.secret) as mine,
            callers.with_key(url, "somebody who may do little", scene.weak(ours)) as weak,
            callers.with_key(url, "a revoked key", scene.shut(how="revoked")) as revoked,
            callers.with_key(url, "a deleted workspace", scene.shut(how="deleted")) as deleted,
            callers.nobody(url) as nobody,
        ):
            self._say("Every path with every id")
            matrix.control(found, described, mine, catalogue.ids(ours.id))
            matrix.walk(found, described, mine, foreign, mark=theirs.mark)
            matrix.walk(found, described, weak, few, mark=theirs.mark)
            self._say("Whoever is shut out")
            matrix.shut_out(found, described, [nobody, revoked, deleted], few)
            self._say("Every place that can carry an id")
            parameters.walk(found, described, mine, theirs, foreign, given)
        self._say("Every page of the console")
        with console.visiting(found, url, ours) as visitor:
            console.walk(found, visitor, ours, theirs, foreign)
        self._say("Every table")
        tables.probe(found, ours=ours.id, theirs=theirs.id)
        self._say("Every background job")
        background.walk(found, ours=ours.id, foreign=foreign)
        for table, rows in catalogue.rows(theirs.id).items():
            if gone := len(before[table] - rows):
                found.changed(table, gone)
        for table in catalogue.holding(ours.id, theirs.mark):
            found.leak(f"{table}: a row of ours holds a word of the other workspace")

    def _say(self, text: str) -> None:
        self.stdout.write(f"{text} …")
        self.stdout.flush()


@contextmanager
def _running(url: str | None) -> Iterator[str]:
    """The system to ask: the one that runs at `url`, or a web server of its own on the same database."""
    if url:
        yield url.rstrip("/")
        return
    os.environ["API_RATE_LIMIT"] = "0"
    port = ports.choose(0)
    address = f"http://127.0.0.1:{port}"
    with TemporaryDirectory() as logs, Supervisor([processes.web(host="127.0.0.1", port=port)], logs=Path(logs)):
        deadline = time.monotonic() + _SECONDS
        while True:
            try:
                urllib3.request("GET", f"{address}/healthz", timeout=1, retries=False)
                break
            except urllib3.exceptions.HTTPError:
                if time.monotonic() > deadline:
                    raise CommandError("The web server did not come up within a minute.") from None
                time.sleep(0.1)
        yield address
