"""A process that hands mails in and files them: orders come as JSON lines, answers go back the same way."""

import json
import os
import pickle
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import django


@cache
def _mails(path: str) -> list[tuple[str, str, str, bytes]]:
    """Provider id, sender, recipient, bytes. Read by `load`, before the clock runs."""
    mails: list[tuple[str, str, str, bytes]] = pickle.loads(Path(path).read_bytes())
    return mails


def load(path: str) -> int:
    return len(_mails(path))


def accept(path: str, start: int = 0, step: int = 1, times: int = 1, shuffle: int | None = None) -> int:
    """Hand in every `step`th mail, all of them `times` times."""
    from inbox.services import accepting

    chosen = _mails(path)[start::step] * times
    if shuffle is not None:
        Random(shuffle).shuffle(chosen)
    for provider_id, sender, recipient, raw in chosen:
        accepting.accept(
            source="ses", provider_message_id=provider_id, raw=raw, recipients=[recipient], envelope_from=sender
        )
    return len(chosen)


def process() -> int:
    """File all that is due."""
    from inbox.services import ingesting

    return ingesting.process_all()


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.bench.settings")
    django.setup()
    known: dict[str, Callable[..., int]] = {"load": load, "accept": accept, "process": process}
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)
        try:
            answer: dict[str, Any] = {"done": known[order.pop("do")](**order)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
