"""Rows 2 and 2b: POST /emails over HTTP, against PostgreSQL itself and against the view as it is usually written."""

import contextlib
import os
import pickle
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID, uuid4

import orjson

from tests.bench import pgbench
from tests.bench.crew import Crew, Member
from tests.bench.places import settle
from tests.bench.report import Figure, Run, against
from tests.bench.scratch import as_owner, runtime_url

CLIENT = [sys.executable, "-m", "tests.bench.client"]
CONNECTIONS = 8
_WORDS = ("order", "invoice", "parcel", "delivery", "please", "when", "where", "thank", "Grüße", "refund")
# As many as there are cores here; `make up` starts WEB_WORKERS of them.
SERVER = {"WEB_WORKERS": "2", "WEB_THREADS": "4"}
REFERENCE = SERVER | {"DJANGO_SETTINGS_MODULE": "tests.bench.reference_settings"}
TABLES = (
    "kernel_idempotencyrecord", "inbox_inboundmessage", "inbox_email", "kernel_outboxevent", "audit_apirequest",
    "audit_auditevent", "audit_auditpayload",
)  # fmt: skip

SEATS = """
CREATE TABLE bench_house AS
SELECT row_number() OVER (ORDER BY i.id) AS n, i.workspace_id, i.id AS inbox_id, i.address, k.id AS key_id
FROM inbox_inbox i JOIN tenancy_machinekey k ON k.workspace_id = i.workspace_id;
ALTER TABLE bench_house ADD PRIMARY KEY (n);
GRANT SELECT ON bench_house TO inbox_runtime;
"""

_ID = "md5('{0}' || :r::text)::uuid"
_MESSAGE, _EMAIL = _ID.format("message"), _ID.format("email")
_AT = "FROM bench_house s WHERE s.n = :n;\n"
_CAUSE = """jsonb_build_object('actor', jsonb_build_object('kind', 'machine_key', 'id', s.key_id, 'label', 'bench'),
    'request_id', md5(:r::text))"""
# What our path leaves behind, by plain statements sent in one go.
SAME_ROWS = f"""\\set n random(1, :seats)
\\set r random(1, 9223372036854775807)
\\startpipeline
BEGIN;
SELECT set_config('app.workspace_id', s.workspace_id::text, true) {_AT}
INSERT INTO inbox_inboundmessage (id, workspace_id, source, provider_message_id, raw, sha256, size, envelope_from,
    recipients, verdicts, state, reason)
SELECT {_MESSAGE}, s.workspace_id, 'api', md5('id' || :r::text), x.raw, sha256(x.raw), octet_length(x.raw), '',
    ARRAY[s.address], '{{}}', 'stored', '' FROM (SELECT :raw::bytea AS raw) x, bench_house s WHERE s.n = :n;
INSERT INTO inbox_email (id, workspace_id, inbound_message_id, inbox_id, message_id, state, received_at, metadata,
    custom_metadata, subject, from_name, from_address, reply_to, "to", cc, rfc_message_id, in_reply_to, reference_ids,
    warnings, verdicts)
SELECT {_EMAIL}, s.workspace_id, {_MESSAGE}, s.inbox_id, md5('id' || :r::text), 'stored', now(), '{{}}', '{{}}', '', '',
    '', '[]', '[]', '[]', '', '[]', '[]', '[]', '{{}}' {_AT}
INSERT INTO kernel_outboxevent (event_id, workspace_id, slug, version, aggregate_key, payload, context)
SELECT gen_random_uuid(), s.workspace_id, v.slug, 1, v.key, v.payload, {_CAUSE} FROM bench_house s, LATERAL (VALUES
    ('email.stored', 'email_id:' || {_EMAIL}, jsonb_build_object('email_id', {_EMAIL}, 'inbox_id', s.inbox_id, 'reason', '')),
    ('inbound_message.stored', 'inbound_message_id:' || {_MESSAGE}, jsonb_build_object('inbound_message_id', {_MESSAGE}))
) AS v(slug, key, payload) WHERE s.n = :n;
INSERT INTO kernel_idempotencyrecord (workspace_id, principal, operation, key, fingerprint, response_status, response_body,
    expires_at)
SELECT s.workspace_id, 'machine_key:' || s.key_id, 'POST /api/v1/emails', 'bound-' || :r::text,
    sha256(convert_to(:r::text, 'UTF8')), 202, :answer::bytea, now() + interval '1 day' {_AT}
INSERT INTO audit_apirequest (id, workspace_id, created_at, request_id, method, path, status, code, caller, duration_ms)
SELECT gen_random_uuid(), s.workspace_id, now(), md5(:r::text), 'POST', '/api/v1/emails', 202, '', 'bench', 1 {_AT}
SELECT audit_append_v1(s.workspace_id, jsonb_build_array(jsonb_build_object('id', gen_random_uuid(), 'action',
    'email.hand_in', 'outcome', 'done', 'actor_kind', 'machine_key', 'actor_id', s.key_id, 'actor_label', 'bench',
    'resource_kind', 'inbound_message', 'resource_id', {_MESSAGE}::text, 'request_id', md5(:r::text), 'after_hash',
    encode(sha256(convert_to(:r::text, 'UTF8')), 'hex'), 'payload',
    jsonb_build_object('emails', jsonb_build_array({_EMAIL}), 'bytes', 2000)))) {_AT}
COMMIT;
\\endpipeline
"""


def measure(run: Run) -> list[Figure]:
    """Row 2 with eight connections, row 2b with one."""
    count, few = run.size(200, 2_000), run.size(100, 600)
    with run.scratch.copy("posting") as database:
        houses = _houses()
        with as_owner(database) as owner:
            owner.execute(SEATS.encode())
            owner.execute("VACUUM ANALYZE")
        rates: dict[str, list[float]] = {"ours": [], "bound": [], "reference": []}
        alone: dict[str, list[float]] = {"p50": [], "p99": [], "bound p50": [], "bound p99": []}
        with _server(SERVER) as ours, _server(REFERENCE) as theirs, Crew([Member(CLIENT, {})]) as client:
            for port in (ours, theirs):
                _send(run, client, houses, port, count // 10, CONNECTIONS)
            bound = Bound(database, houses)
            same = ""
            for number in range(run.rounds):
                run.say(f"row 2, round {number + 1}")
                before = _rows(database)
                rates["bound"].append(bound.run(count // CONNECTIONS).tps)
                between = _rows(database)
                rates["ours"].append(count / _send(run, client, houses, ours, count, CONNECTIONS)["seconds"])
                time.sleep(1.5)  # the request log is written a little later
                same = _sameness(before, between, _rows(database))
                third = count // 4
                rates["reference"].append(third / _send(run, client, houses, theirs, third, CONNECTIONS)["seconds"])
                quiet = bound.run(few, clients=1, times=True)
                one = _send(run, client, houses, ours, few, 1)
                for name, value in (("p50", one["p50"]), ("p99", one["p99"])):
                    alone[name].append(value)
                    alone[f"bound {name}"].append(quiet.percentile(int(name[1:])))
    what = "POST /emails, 8 connections, 2 server processes"
    base = Figure("2", what, "/s", 0, "pgbench, same rows, c=8", floor=0.20, goal=0.35, note=same)
    view = Figure("2", what, "/s", 0, "DRF serializers + ORM", floor=3.0, goal=3.0)
    found = [against(base, rates["ours"], rates["bound"]), against(view, rates["ours"], rates["reference"])]
    for name, floor, goal in (("p50", 4.0, 2.5), ("p99", 6.0, 4.0)):
        other = "pgbench, same rows, c=1"
        figure = Figure("2b", f"{name}, 1 connection", "ms", 0, other, floor=floor, goal=goal, at_most=True)
        found.append(against(figure, alone[name], alone[f"bound {name}"]))
    return found


def _houses() -> list[tuple[str, str]]:
    """The inboxes, each with a key of its workspace: (address, secret)."""
    from tenancy.services import keys

    def key(workspace_id: UUID) -> str:
        return keys.issue(workspace_id=workspace_id, name="bench", scopes=["email.create"])[1]

    return [(address, key(workspace_id)) for workspace_id, address in settle()]


@contextlib.contextmanager
def _server(environment: dict[str, str]) -> Iterator[int]:
    """The web server as `make up` starts it, on the present database; its port."""
    from config import ports, processes

    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        port = ports.choose(0)
        process = subprocess.Popen(processes.web(host="127.0.0.1", port=port).argv, env=os.environ | environment)
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    try:
        _wait_for(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2):
            return
        time.sleep(0.1)
    raise RuntimeError("the web server did not start")


def _send(
    run: Run, client: Crew, houses: list[tuple[str, str]], port: int, count: int, connections: int
) -> dict[str, float]:
    """Post new mails; what the client says of it."""
    path = run.folder / "requests"
    _write(path, [_request(number, *houses[number % len(houses)]) for number in range(count)])
    client.order(do="load", path=str(path))
    _, answers = client.order(do="post", port=port, connections=connections)
    found: dict[str, float] = answers[0]["done"]
    return found


def _write(path: Path, requests: list[bytes]) -> None:
    path.write_bytes(pickle.dumps(requests))


def _request(number: int, address: str, secret: str) -> bytes:
    body = orjson.dumps(_mail(number, address))
    head = (
        "POST /api/v1/emails HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {secret}\r\nIdempotency-Key: {uuid4()}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _mail(number: int, address: str) -> dict[str, object]:
    """Two kilobytes of plain text, as an integrator hands in."""
    words = Random(number).choices(_WORDS, k=280)
    text = "\n".join(" ".join(words[start : start + 10]) for start in range(0, len(words), 10))
    sender = {"name": "Ada Miller", "address": f"customer{number % 500}@buyers.test"}
    return {"from": sender, "to": [{"address": address}], "subject": f"Order {number} has not arrived", "text": text}


class Bound:
    """The same rows by pgbench, with the sizes of one of our mails."""

    def __init__(self, database: str, houses: list[tuple[str, str]]) -> None:
        from inbox.services.handing_in import MailFields, compose
        from kernel import crypto

        given: Any = _mail(1, houses[0][0])
        raw = compose(MailFields(sender=given.pop("from"), **given))
        self._url = runtime_url(database)
        # An answer has about so many bytes; sealed, since the table asks which key opens it.
        answer = crypto.seal(
            b"Z" * 900, workspace_id=uuid4(), table="kernel_idempotencyrecord", row_id=uuid4(), purpose="answer"
        )
        self._variables = {"raw": f"\\x{raw.hex()}", "answer": f"\\x{answer.hex()}", "seats": str(len(houses))}

    def run(self, each: int, *, clients: int = CONNECTIONS, times: bool = False) -> pgbench.Rate:
        scripts = [(SAME_ROWS, 1)]
        variables = self._variables
        return pgbench.run(scripts, url=self._url, variables=variables, each=each, clients=clients, times=times)


def _rows(database: str) -> dict[str, int]:
    with as_owner(database) as owner:
        found = {table: owner.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() for table in TABLES}
    return {table: row[0] for table, row in found.items() if row}


def _sameness(before: dict[str, int], between: dict[str, int], after: dict[str, int]) -> str:
    """How many rows a mail makes in each table: the bound's from `before` to `between`, ours from there to `after`."""
    theirs, ours = between["inbox_email"] - before["inbox_email"], after["inbox_email"] - between["inbox_email"]
    pairs = {
        table: ((between[table] - before[table]) / theirs, (after[table] - between[table]) / ours) for table in TABLES
    }
    other = [f"{table} {b:.2f} there, {a:.2f} here" for table, (b, a) in pairs.items() if abs(a - b) > 0.1]
    return f"rows a mail differ: {'; '.join(other)}" if other else f"same rows a mail in {len(TABLES)} tables"
