"""The project's own tools: they pass what is right, and name what is wrong."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.code import ROOT
from tools import check_compose, write_docs
from tools.pages import configuration

# One worker parses the source once for all of them.
pytestmark = pytest.mark.xdist_group("source")

COMPOSE = (ROOT / "compose.yaml").read_text()

WRONG = [
    (r"run_smtp", "run_smpt", "no command run_smpt"),
    (r"service_healthy", "service_fine", "not a compose file"),
    (r"state:/app", "stat:/app", "not declared"),
    (r"REDIS_URL:", "REDIS_URLL:", "which nothing reads"),
    (r"    command:", "    comand:", "not a compose file"),
    (r":pg17", "", "names no version"),
    (r"service_completed_successfully", "service_healthy", "which has no check"),
    (r'restart: "no"', "restart: always", "restarted for ever"),
    (r"\$\{POSTGRES_PASSWORD[^}]*\}", "hunter2", "must come from outside"),
    (r"./deploy/", "./deplov/", "does not exist"),
    (r"interval: 5s", "interval: soon", "not a compose file"),
    (r"\n  beat:", "\n  bat:", "service beat is missing"),
    (r"valkey: \{", "redis: {", "which is no service"),
    (r"pull_policy: never", "build: .", "is built by migrate and web"),
    (r"\n    build: \.", "", "neither builds autonomous-inbox:local nor"),
    (r"\n  pull_policy: never", "", "asks a registry for autonomous-inbox:local"),
    (r"\{driver: local\}", "{driver: json-file}", "without a limit"),
    (r"(ports: .*\n    )healthcheck:", r"\1x-healthcheck:", "does not wait until it answers"),
]


def test_the_compose_file_is_right():
    assert check_compose.faults(COMPOSE) == []


@pytest.mark.parametrize(("pattern", "instead", "complaint"), WRONG)
def test_a_wrong_compose_file_is_named(pattern, instead, complaint):
    wrong = re.sub(pattern, instead, COMPOSE)
    assert wrong != COMPOSE
    assert any(complaint in fault for fault in check_compose.faults(wrong))


def test_every_variable_of_the_settings_has_a_page_entry_and_a_meaning():
    variables = configuration.variables()
    assert len(variables) > 60
    assert len({v.name for v in variables}) == len(variables)
    assert [v.name for v in variables if not v.meaning] == []


def test_stale_and_orphaned_pages_are_noticed(monkeypatch, tmp_path):
    monkeypatch.setattr(write_docs, "ROOT", tmp_path)
    (tmp_path / "docs/data-model").mkdir(parents=True)
    (tmp_path / "docs/data-model/gone.md").write_text("an app that is no more")
    (tmp_path / "docs/events.md").write_text("old")
    (tmp_path / "docs/fresh.md").write_text("new")
    wanted = {Path("docs/events.md"): "new", Path("docs/fresh.md"): "new", Path("docs/permissions.md"): "new"}
    assert [str(path) for path in write_docs.stale(wanted)] == [
        "docs/data-model/gone.md", "docs/events.md", "docs/permissions.md",
    ]  # fmt: skip


def test_the_pages_are_written_without_any_service():
    environment = {"PATH": "/usr/bin:/bin", "DJANGO_SETTINGS_MODULE": "config.settings.dev"}
    program = "from tools import write_docs; assert len(write_docs.pages()) > 8"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
