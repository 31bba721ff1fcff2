"""What compose.yaml runs: the image's files and the files of deploy/make-env.sh suffice, and nothing unsafe starts."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.code import ROOT

EVERYTHING = (
    "import django; django.setup()\n"
    "import config.urls, config.celery, config.mcp.asgi, config.processes\n"
    "from django.core.management import call_command\n"
    "call_command('check', deploy=True, fail_level='WARNING')\n"
)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """The files that .dockerignore lets into the image, and the scripts beside it."""
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        source = ROOT / line.removeprefix("!")
        if not line.startswith("!") or not source.exists():
            continue
        if source.is_dir():
            shutil.copytree(source, tmp_path / source.name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path)
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    return tmp_path


def make_env(image: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(image / "deploy/make-env.sh"), *arguments], capture_output=True, text=True)


def variables(path: Path) -> dict[str, str]:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def start(image: Path, code: str, **more: str) -> subprocess.CompletedProcess:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    given = {
        "DJANGO_SETTINGS_MODULE": "config.settings.production",
        "DATABASE_URL": "postgres://inbox_runtime@127.0.0.1:1/inbox",
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }
    environment = kept | given | variables(image / "inbox.env") | more
    return subprocess.run([sys.executable, "-c", code], cwd=image, env=environment, capture_output=True, text=True)


def test_the_image_and_the_made_files_are_all_that_is_needed(image):
    made = make_env(image, "inbox.example.com")
    assert made.returncode == 0, made.stderr
    assert {oct((image / name).stat().st_mode)[-3:] for name in (".env", "inbox.env")} == {"600"}
    started = start(image, EVERYTHING)
    assert started.returncode == 0, started.stdout + started.stderr
    passwords = variables(image / ".env")
    assert set(passwords) == {"POSTGRES_PASSWORD", "OWNER_PASSWORD", "RUNTIME_PASSWORD"}
    assert all(value.isalnum() and len(value) >= 32 for value in passwords.values())
    before = (image / ".env").read_text(), (image / "inbox.env").read_text()
    assert make_env(image, "other.example.com").returncode == 0
    assert before == ((image / ".env").read_text(), (image / "inbox.env").read_text()), "secrets were lost"
    assert "inbox.example.com" in before[1]


def test_static_files_are_served_with_nothing_collected_and_no_warning(image):
    make_env(image, "inbox.example.com")
    code = (
        "import django; django.setup()\n"
        "from django.test import Client\n"
        "given = Client().get('/static/console/console.css', secure=True, headers={'host': 'inbox.example.com'})\n"
        "print(given.status_code, given['Content-Type'])"
    )
    said = start(image, code, PYTHONWARNINGS="error::UserWarning")
    assert said.stdout.startswith("200 text/css"), said.stdout + said.stderr


def test_without_a_host_nothing_is_made(image):
    refused = make_env(image)
    assert (refused.returncode, "usage" in refused.stderr) == (2, True)
    assert not (image / ".env").exists()


def test_passwords_that_break_an_address_are_refused_before_any_role_is_made(image):
    script = str(image / "deploy/postgres-roles.sh")
    for password in ("ab/cd=", "a?b", "a@b", "a b", "a#b", "a%b"):
        environment = {"PATH": "/nowhere", "OWNER_PASSWORD": password, "RUNTIME_PASSWORD": "fine", "POSTGRES_USER": "x"}
        done = subprocess.run(["/bin/sh", script], env=environment, capture_output=True, text=True)
        assert (done.returncode, "letters, digits" in done.stderr) == (1, True), password


@pytest.mark.parametrize(
    ("variable", "value"), [("SNS_CERTIFICATE_FILE", "/tmp/some.pem"), ("OUTBOUND_ALLOW_HTTP", "true")]
)
def test_production_does_not_start_with_what_only_development_may_have(image, variable, value):
    make_env(image, "inbox.example.com")
    refused = start(image, "from config.wsgi import application", **{variable: value})
    assert refused.returncode != 0
    assert variable in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_secret_from_a_file_is_taken_without_its_newline_and_dollars_are_no_references(image, tmp_path):
    make_env(image, "inbox.example.com")
    secret = tmp_path / "secret"
    secret.write_text("$PATH and$ more\n")
    code = (
        "import django; django.setup()\n"
        "from django.conf import settings\n"
        "print(repr((settings.PROVISIONING_TOKEN, settings.MAIL_SMTP_PASSWORD)))"
    )
    said = start(image, code, PROVISIONING_TOKEN_FILE=str(secret), MAIL_SMTP_PASSWORD="$PATH")
    assert said.stdout.strip() == repr(("$PATH and$ more", "$PATH")), said.stderr
    gone = start(image, code, PROVISIONING_TOKEN_FILE=str(tmp_path / "gone"))
    assert f"PROVISIONING_TOKEN_FILE: {tmp_path / 'gone'} cannot be read" in gone.stderr


def test_printed_lines_wait_for_what_the_next_one_needs_and_hand_bytes_on_as_they_are():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    lines = [line for page in pages for line in page.read_text().splitlines() if "docker compose" in line]
    assert [line for line in lines if "compose up -d" in line and "--wait" not in line] == []
    # A terminal in between, which `exec` and `run` make unless told not to, changes the ends of lines.
    redirected = [line for line in lines if re.search(r"compose (exec|run) .* [<>] ", line)]
    assert len(redirected) >= 4
    assert [line for line in redirected if " -T " not in line] == []
    # Copies hold the mail of customers: they must not end up in git.
    written = {name for line in redirected for name in re.findall(r" > (\S+)", line)}
    assert written <= set((ROOT / ".gitignore").read_text().split())
