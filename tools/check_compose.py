"""Check compose.yaml: its form by a parser of the Compose Specification, and its meaning against this project.

    python tools/check_compose.py [FILE]

The form: `compose-spec`, an implementation of the specification, refuses unknown keys, conditions and types. The meaning:
that services, volumes, files, commands and environment variables which it names exist. Prints each fault; exit 1 if any.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from compose_spec import PyCompose

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.pages import configuration  # noqa: E402 - after the path

COMMANDS = {"granian", "celery", "python"}
PROCESSES = {"web", "worker", "beat", "webhooks", "smtp", "mcp"}
# Read by Django itself and by the images of others.
FOREIGN = {"DJANGO_SETTINGS_MODULE", "POSTGRES_PASSWORD", "OWNER_PASSWORD", "RUNTIME_PASSWORD"}


def faults(text: str) -> list[str]:
    """Everything that is wrong, in words."""
    try:
        # The parser knows no merge keys inside of values, so it is given what they merge to.
        merged: dict[str, Any] = yaml.safe_load(text)
        PyCompose.from_yaml(yaml.safe_dump({key: value for key, value in merged.items() if not key.startswith("x-")}))
    except (ValueError, yaml.YAMLError) as error:
        return [f"not a compose file: {error}"]
    services = merged["services"]
    found = [
        f"service {name} is missing" for name in sorted({"postgres", "valkey", "migrate", *PROCESSES} - set(services))
    ]
    found += [f"the image lacks {name}" for name in sorted(_needed() - _packed())]
    builders = _builders(services)
    found += [f"image {image} is built by {' and '.join(names)}" for image, names in builders.items() if len(names) > 1]
    for name, service in services.items():
        checks = (
            _origin(service, builders),
            _dependencies(service, services),
            _volumes(service, merged),
            _command(service, builders),
            _environment(service),
            _running(service),
        )
        found += [f"{name}: {fault}" for check in checks for fault in check]
    return found


def _needed() -> set[str]:
    """What every process reads of the checkout: our apps, and what their settings name."""
    import django
    from django.conf import settings

    django.setup()
    apps = {name.partition(".")[0] for name in settings.INSTALLED_APPS}
    ours = {name for name in apps if (ROOT / name).is_dir()}
    folders = [*settings.STATICFILES_DIRS, *(folder for engine in settings.TEMPLATES for folder in engine["DIRS"])]
    return ours | {Path(folder).relative_to(ROOT).parts[0] for folder in folders} | {"manage.py", "requirements.txt"}


def _packed() -> set[str]:
    """What .dockerignore lets into the image."""
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    return {line.removeprefix("!") for line in lines if line.startswith("!")}


def _builders(services: dict[str, Any]) -> dict[str, list[str]]:
    """For each image of our own the services that build it. Of two at once, one fails: the name exists already."""
    found: dict[str, list[str]] = {}
    for name, service in services.items():
        if "build" in service:
            found.setdefault(service.get("image", ""), []).append(name)
    return found


def _origin(service: dict[str, Any], builders: dict[str, list[str]]) -> Iterator[str]:
    if "image" not in service and "build" not in service:
        yield "has neither image nor build"
    if "build" in service and not (ROOT / "Dockerfile").exists():
        yield "there is no Dockerfile to build"
    image = service.get("image", "")
    is_ours, is_asked_for = image in builders, service.get("pull_policy") != "never"
    if is_ours and is_asked_for:
        yield f"asks a registry for {image}, which only a build makes"
    if not is_ours and not is_asked_for:
        yield f"neither builds {image} nor asks a registry for it"
    if image and (":" not in image or image.endswith(":latest")):
        yield f"image {image} names no version"


def _dependencies(service: dict[str, Any], services: dict[str, Any]) -> Iterator[str]:
    needed = service.get("depends_on", {})
    if not isinstance(needed, dict):
        yield "depends_on must say conditions"
        return
    for other, how in needed.items():
        if other not in services:
            yield f"depends on {other}, which is no service"
        elif how["condition"] == "service_healthy" and "healthcheck" not in services[other]:
            yield f"waits for the health of {other}, which has no check"
        elif how["condition"] == "service_completed_successfully" and services[other].get("restart") != "no":
            yield f"waits for the end of {other}, which is restarted for ever"


def _volumes(service: dict[str, Any], whole: dict[str, Any]) -> Iterator[str]:
    for volume in service.get("volumes", []):
        source = volume.split(":")[0]
        if source.startswith("."):
            if not (ROOT / source).exists():
                yield f"mounts {source}, which does not exist"
        elif source not in whole.get("volumes", {}):
            yield f"uses the volume {source}, which is not declared"


def _command(service: dict[str, Any], builders: dict[str, list[str]]) -> Iterator[str]:
    if service.get("image") not in builders:
        return
    command = service.get("command", [])
    if not isinstance(command, list) or not command or command[0] not in COMMANDS:
        yield f"its command must be a list that begins with one of {', '.join(sorted(COMMANDS))}"
        return
    if command[:2] == ["python", "manage.py"]:
        from django.core.management import get_commands

        if command[2] not in get_commands():
            yield f"manage.py has no command {command[2]}"


def _environment(service: dict[str, Any]) -> Iterator[str]:
    known = {variable.name for variable in configuration.variables()} | FOREIGN
    for name, value in service.get("environment", {}).items():
        if name not in known:
            yield f"sets {name}, which nothing reads"
        secret = re.search(r"PASSWORD|SECRET|KEY|TOKEN", name)
        if secret and not re.fullmatch(r"\$\{\w+(:[?-].*)?\}", str(value)):
            yield f"holds a value for {name}; it must come from outside"


def _running(service: dict[str, Any]) -> Iterator[str]:
    if service.get("logging", {}).get("driver") != "local":
        yield "keeps its log without a limit"
    if "ports" in service and "healthcheck" not in service:
        yield "is called from outside, and `up --wait` does not wait until it answers"


def main() -> int:
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "compose.yaml"
    found = faults(path.read_text("utf-8"))
    for fault in found:
        print(f"{path.name}: {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
