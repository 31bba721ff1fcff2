"""Rows 1 and 1b: raw mail to committed rows, against PostgreSQL itself and against peers."""

from contextlib import ExitStack
from statistics import median

from tests.bench import peers
from tests.bench.bound import Bound
from tests.bench.crew import Crew
from tests.bench.mails import Mail, Writer
from tests.bench.places import packed, settle
from tests.bench.report import Figure, Run, against
from tests.bench.scratch import as_owner

# Floor, goal, and what this version aims at.
MARKS = {"helpdesk": (15.0, 25.0, 5.0), "hyperkitty": (8.0, 12.0, 2.5), "mailbox": (3.0, 5.0, 1.0)}
PEERS = (peers.HELPDESK, peers.HYPERKITTY, peers.MAILBOX)


def one_round(crew: Crew, path: str, count: int) -> tuple[float, float, float]:
    """Hand in, then file, each member its share: mails a second of the first, the second, and both together."""
    size = len(crew.members)
    crew.order(do="load", path=path)
    stored, _ = crew.orders([{"do": "accept", "path": path, "start": n, "step": size} for n in range(size)])
    filed, answers = crew.order(do="process")
    done = sum(answer["done"] for answer in answers)
    assert done == count, f"{done} of {count} mails were filed"
    return count / stored, count / filed, count / (stored + filed)


def _opened(crew: Crew, run: Run, openers: list[Mail], database: str) -> None:
    """First mails of all known customers: the threads that replies answer. Warms connections, plans and parsers; leaves
    statistics as autovacuum would keep them."""
    one_round(crew, packed(openers, run.folder / "openers"), len(openers))
    with as_owner(database) as owner:
        owner.execute("VACUUM ANALYZE")


_DRAIN = "the script stores each mail as well"
TABLES = (
    "inbox_inboundmessage", "inbox_email", "inbox_thread", "inbox_entry", "inbox_messagereference",
    "inbox_threadparticipant", "contacts_contact", "contacts_contactidentifier", "contacts_contactprofile",
    "contacts_identifiersighting", "kernel_outboxevent", "audit_auditevent", "audit_auditpayload",
)  # fmt: skip


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
    other = [f"{table} {b:.2f} there, {a:.2f} here" for table, (b, a) in pairs.items() if abs(a - b) > 0.25]
    return f"rows a mail differ: {'; '.join(other)}" if other else f"same rows a mail in {len(TABLES)} tables"


def bound(run: Run) -> list[Figure]:
    """Row 1: two processes beside pgbench with the same rows, 100 workspaces."""
    count, each = run.size(400, 3_000), run.size(60, 400)
    with run.scratch.copy("ingest") as database:
        writer = Writer([address for _, address in settle()], flat=True)
        openers = writer.openers(run.size(2, 10))
        rates: list[tuple[float, float, float]] = []
        plain, calls = [], []
        same = ""
        with Crew.ours(2) as crew:
            _opened(crew, run, openers, database)
            pg = Bound(database, writer.batch(1, replies=1.0)[0])
            for number in range(run.rounds):
                run.say(f"row 1, round {number + 1}")
                before = _rows(database)
                plain.append(pg.plain(each))
                between = _rows(database)
                path = packed(writer.batch(count), run.folder / f"mails{number}")
                rates.append(one_round(crew, path, count))
                same = _sameness(before, between, _rows(database))
                calls.append(pg.calls(each))
    store, process, whole = ([rate[n] for rate in rates] for n in range(3))
    base = Figure(
        "1", "ingest, 2 processes: store + file", "/s", 0, "pgbench, same rows, c=8", floor=0.35, goal=0.5, note=same
    )
    return [
        against(base, whole, plain),
        Figure("1", "… store only", "/s", median(store), samples={"ours": store}),
        against(
            Figure("1c", "a backlog of stored mail, filed", "/s", 0, base.against, floor=1.0, goal=1.5, note=_DRAIN),
            process,
            plain,
        ),
        against(Figure("1", "our SQL without Python (functions by pgbench)", "/s", 0, "same rows, c=8"), calls, plain),
    ]


def beside_peers(run: Run) -> list[Figure]:
    """Row 1b: one process each, plain mails."""
    count, slow = run.size(200, 1_000), run.size(40, 150)
    writer = Writer([f"support@house{number}.test" for number in range(100)])
    openers = writer.openers(1)
    batches = [writer.batch(count) for _ in range(run.rounds)]
    everything = packed([*openers, *(mail for batch in batches for mail in batch)], run.folder / "everything")
    absent: dict[str, str] = {}
    ours: list[float] = []
    theirs: dict[str, list[float]] = {}
    with ExitStack() as stack:
        crews = _peer_crews(run, stack, absent)
        for crew in crews.values():
            crew.order(do="load", path=everything)
            crew.order(do="work", start=0, stop=len(openers))
        database = stack.enter_context(run.scratch.copy("peers"))
        settle()
        crew = stack.enter_context(Crew.ours(1))
        _opened(crew, run, openers, database)
        for number, batch in enumerate(batches):
            run.say(f"row 1b, round {number + 1}")
            ours.append(one_round(crew, packed(batch, run.folder / f"batch{number}"), count)[2])
            start = len(openers) + number * count
            for name, other in crews.items():
                seconds, _ = other.order(do="work", start=start, stop=start + slow)
                theirs.setdefault(name, []).append(slow / seconds)
        for name, other in crews.items():
            _, answers = other.order(do="rows")
            assert answers[0]["done"] == len(openers) + run.rounds * slow, f"{name} has not kept every mail"
    return [_beside(peer, ours, theirs, absent) for peer in PEERS]


def _peer_crews(run: Run, stack: ExitStack, absent: dict[str, str]) -> dict[str, Crew]:
    crews = {}
    for peer in PEERS:
        try:
            crews[peer.name] = stack.enter_context(peers.at_work(peer, run.scratch, run.say))
        except peers.Absent as reason:
            absent[peer.name] = str(reason)
    return crews


def _beside(peer: peers.Peer, ours: list[float], theirs: dict[str, list[float]], absent: dict[str, str]) -> Figure:
    floor, goal, aim = MARKS[peer.name]
    what = "ingest, 1 process: store + file"
    if peer.name in absent:
        note = f"absent: {absent[peer.name]}"
        return Figure("1b", what, "/s", median(ours), peer.title, floor=floor, goal=goal, note=note)
    reached = median(ours) >= aim * median(theirs[peer.name])
    note = f"the aim of this version, {aim:g}×, is {'reached' if reached else 'missed'}"
    return against(Figure("1b", what, "/s", 0, peer.title, floor=floor, goal=goal, note=note), ours, theirs[peer.name])
