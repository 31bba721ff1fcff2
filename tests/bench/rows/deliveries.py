"""Row 7 in the form of the other rows; the measuring itself is in webhooks.py."""

from tests.bench.report import Figure, Run, against
from tests.bench.rows import webhooks


def measure(run: Run) -> list[Figure]:
    """Our deliveries beside a bare client and beside the usual relay."""
    with run.scratch.copy("webhooks"):
        found = webhooks.measure(rounds=run.rounds)
    rounds, floor, goal = found["rounds"], found["floor"], found["goal"]
    what = f"outbox → delivered webhook, 1 process, {found['endpoints']} endpoints"
    lines = [("raw", "bare aiohttp client", "of_raw"), ("reference", "ORM + a request each", "times_reference")]
    return [
        against(Figure("7", what, "/s", 0, title, floor=floor[mark], goal=goal[mark]), rounds["ours"], rounds[name])
        for name, title, mark in lines
    ]
