"""What must be remembered between starts: secrets, the last port, and where the data lie.

One JSON file per service below `var/embedded/`, readable by its owner only. It belongs to whoever holds the
service's lock; others read it to adopt a running service.
"""

import json
import os
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path

from config.embedded.processes import EmbeddedError


@dataclass(kw_only=True)
class State:
    """One service's memory. `prepared` is the version of the roles and databases it holds, 0 for none yet."""

    home: str = ""
    port: int | None = None
    guard: int | None = None
    prepared: int = 0
    secrets: dict[str, str] = field(default_factory=dict)

    def secret(self, name: str) -> str:
        """Made once, at first use."""
        return self.secrets.setdefault(name, secrets.token_hex(24))


def state_file(root: Path, service: str) -> Path:
    """Where a service's memory is kept."""
    return root / "var" / "embedded" / f"{service}.json"


def load(path: Path) -> State | None:
    """None when the service never ran here."""
    try:
        return State(**json.loads(path.read_text()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise EmbeddedError(f"{path} is damaged ({error}); restore it, or delete the folder var.") from error


def save(path: Path, state: State) -> None:
    """Replace the file in one step, so that no reader ever sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    write_private(draft, json.dumps(asdict(state), indent=1))
    draft.replace(path)


def write_private(path: Path, text: str) -> None:
    """Write a file that no other account could read at any moment."""
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
