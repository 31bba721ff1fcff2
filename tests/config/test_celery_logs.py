"""Of what Celery says itself, `--loglevel` decides; of all the rest, LOG_LEVEL."""

import os
import subprocess
import sys

import pytest

from tests.architecture.code import ROOT

SAID = """
import logging
import django; django.setup()
from config.celery import app
app.log.setup_logging_subsystem(loglevel="WARNING")
for name in ("celery.worker.strategy", "celery.beat", "inbox"):
    for level in ("debug", "info", "warning", "error"):
        getattr(logging.getLogger(name), level)(f"<{name} {level}>")
"""


@pytest.mark.parametrize(
    ("level", "celery", "ours"),
    [
        ("DEBUG", ["warning", "error"], ["debug", "info", "warning", "error"]),
        ("INFO", ["warning", "error"], ["info", "warning", "error"]),
        ("ERROR", ["error"], ["error"]),
    ],
)
def test_an_idle_worker_and_scheduler_fill_no_disk(level, celery, ours):
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings.test", "LOG_LEVEL": level}
    done = subprocess.run([sys.executable, "-c", SAID], env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name, levels in (("celery.worker.strategy", celery), ("celery.beat", celery), ("inbox", ours)):
        said = [each for each in ("debug", "info", "warning", "error") if f"<{name} {each}>" in done.stderr]
        assert said == levels, name
