"""The Celery application. Tasks are wake-ups: they look for rows, so a lost or doubled one changes nothing."""

import logging
import os
from logging.config import dictConfig
from typing import Any

from celery import Celery, signals
from django.conf import settings

from config.schedule import beat_schedule
from config.starting import or_refuse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")

with or_refuse():
    app = Celery("autonomous-inbox")
    app.config_from_object("django.conf:settings", namespace="CELERY")
    app.autodiscover_tasks()
    app.conf.beat_schedule = beat_schedule(sweep=settings.SWEEP_SECONDS)
    app.conf.beat_scheduler = "config.beat:Scheduler"


@signals.worker_init.connect
def _refuse_wrong_keys(**_: Any) -> None:
    """Before the first task: a worker with wrong keys must not seal anything."""
    from kernel import crypto

    with or_refuse():
        crypto.require_keys()


@signals.setup_logging.connect
def _keep_structured_logs(*, loglevel: int, **_: Any) -> None:
    """Celery must not replace the handlers of settings.LOGGING; of what it says itself, its --loglevel decides."""
    dictConfig(settings.LOGGING)
    # Its INFO is a line for each task that is sent, taken and done: 100 MB a day where nothing happens.
    logging.getLogger("celery").setLevel(max(loglevel, logging.getLogger().level))


@signals.task_failure.connect
def _record_failure(**told: Any) -> None:
    """The trail has every attempt, those of the machine among them."""
    from config import failures

    failures.connected(**told)
