"""Row 4: the same mails again and again, from eight processes at once, while others file them."""

from statistics import median
from typing import Any

from tests.bench.crew import Crew
from tests.bench.mails import Writer
from tests.bench.places import packed, settle
from tests.bench.report import Figure, Run, against
from tests.bench.scratch import as_owner

PROCESSES, TIMES = 8, 8

_COUNTS = """
SELECT (SELECT count(*) FROM inbox_inboundmessage) AS messages, (SELECT count(*) FROM inbox_email) AS emails,
    (SELECT count(*) FROM inbox_entry) AS entries,
    (SELECT count(*) FROM kernel_outboxevent WHERE slug = 'inbound_message.stored') AS stored,
    (SELECT count(*) FROM kernel_outboxevent WHERE slug = 'email.received') AS received,
    (SELECT coalesce(sum(entry_count), 0) FROM inbox_thread) AS counted,
    (SELECT coalesce(sum(deliveries), 0) FROM inbox_inboundmessage) AS deliveries
"""


def measure(run: Run) -> list[Figure]:
    with run.scratch.copy("again") as database:
        writer = Writer([address for _, address in settle(20)], seed="again")
        return [_exact(run, database, writer), *_speed(run, writer)]


def _exact(run: Run, database: str, writer: Writer) -> Figure:
    """N mails, each handed in 64 times over by 8 processes while 2 more file: every count is N."""
    count = run.size(25, 100)
    mails = [*writer.openers(1), *writer.batch(count - 20)] if count > 20 else writer.openers(1)
    path = packed(mails, run.folder / "again")
    with Crew.ours(PROCESSES + 2) as crew:
        crew.order(do="load", path=path)
        run.say(f"row 4, {PROCESSES} processes hand in {count} mails {TIMES} times each")
        wave = [{"do": "accept", "path": path, "times": TIMES, "shuffle": n} for n in range(PROCESSES)]
        crew.orders([*wave, {"do": "process"}, {"do": "process"}])
        crew.orders([{"do": "process"}, {"do": "process"}])
        first = _counts(database)
        crew.orders([{**order, "times": 1} for order in wave])
        crew.orders([{"do": "process"}, {"do": "process"}])
        second = _counts(database)
    wanted = dict.fromkeys(("messages", "emails", "entries", "stored", "received", "counted"), count)
    wrong = [f"{name} {first[name]}" for name, value in wanted.items() if first[name] != value]
    wrong += [f"then {name} {second[name]}" for name, value in wanted.items() if second[name] != value]
    if second["deliveries"] != count * PROCESSES * (TIMES + 1):
        wrong.append(f"deliveries {second['deliveries']}")
    note = "; ".join(wrong) or f"{count} messages, e-mails, entries, stored and received facts; counters unmoved"
    what = f"redelivery, {count} mails × {PROCESSES} processes × {TIMES}: counts that are wrong"
    return Figure("4", what, "", len(wrong), "exact", 0.0, float(len(wrong)), 0.0, at_most=True, note=note)


def _counts(database: str) -> dict[str, Any]:
    with as_owner(database) as owner:
        cursor = owner.execute(_COUNTS)
        row = cursor.fetchone()
        assert row is not None
        assert cursor.description is not None
        return {column.name: value for column, value in zip(cursor.description, row, strict=True)}


def _speed(run: Run, writer: Writer) -> list[Figure]:
    """One process: a mail's whole first delivery, and each further one, which ends with the look-up."""
    count = run.size(150, 600)
    firsts, stores, agains = [], [], []
    with Crew.ours(1) as crew:
        for number in range(run.rounds + 1):
            path = packed(writer.batch(count), run.folder / f"speed{number}")
            crew.order(do="load", path=path)
            store, _ = crew.order(do="accept", path=path)
            file, _ = crew.order(do="process")
            again, _ = crew.order(do="accept", path=path, times=2)
            if number:  # the first round warms up
                firsts.append(count / (store + file))
                stores.append(count / store)
                agains.append(2 * count / again)
    base = Figure("4", "duplicate, beside a first delivery", "/s", 0, "accept + file", floor=3.0, goal=3.0)
    alone = Figure("4", "duplicate, beside the first hand-in alone", "/s", median(agains), "accept")
    return [against(base, agains, firsts), against(alone, agains, stores)]
