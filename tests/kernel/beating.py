"""A scheduler of two short jobs on this worker's broker; the program of a process that a test starts twice."""

import sys

import django

SLOT = 0.15
JOBS = ("one", "two")


def main(queue: str) -> None:
    """Run until killed."""
    django.setup()
    from config.beat import Slots
    from config.celery import app

    options = {"queue": queue, "expires": 60}
    app.conf.beat_schedule = {
        name: {"task": f"tests.{name}", "schedule": Slots(SLOT), "options": options} for name in JOBS
    }
    app.Beat(loglevel="ERROR", max_interval=SLOT, scheduler_cls="config.beat:Scheduler", quiet=True).run()


if __name__ == "__main__":
    main(sys.argv[1])
