"""The fake: answers from a script, so that tests and demonstrations say beforehand what the model will do.

The script is a JSON file named by AI_SCRIPT: a list of rules, of which the first whose `match` is in the mail counts.
Within one process, `play(function)` takes its place. Each call leaves a line in the file named by AI_SCRIPT_LEDGER,
which is how tests count the calls that were really made.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from agents.llm.base import ModelError, Proposal, Request
from kernel import clock

Play = Callable[[Request], Proposal]

_LEDGER = "AI_SCRIPT_LEDGER"
_playing: list[Play] = []


def play(function: Play | None) -> None:
    """Answer with `function` in this process from now on; None goes back to the file."""
    _playing[:] = [function] if function else []


def propose(request: Request) -> Proposal:
    """The scripted proposal for this mail."""
    _note(request)
    if _playing:
        return _playing[0](request)
    path = os.environ.get("AI_SCRIPT", "")
    rules: list[dict[str, Any]] = orjson.loads(Path(path).read_bytes()) if path else []
    text = f"{request.mail.subject}\n{request.mail.text}"
    for rule in rules:
        if rule.get("match", "") in text:
            return _follow(rule)
    return Proposal(ask_person="the script says nothing about this mail", provider="scripted", model="script")


def _follow(rule: dict[str, Any]) -> Proposal:
    time.sleep(float(rule.get("sleep", 0)))
    if "error" in rule:
        raise ModelError(rule["error"], "as the script says", retryable=bool(rule.get("retryable", False)))
    wish = {name: rule[name] for name in ("answer", "ask_person", "search") if name in rule}
    numbers = {name: rule[name] for name in ("input_tokens", "output_tokens", "cost_micros") if name in rule}
    return Proposal(confidence=1.0, provider="scripted", model="script", **wish, **numbers)


def _note(request: Request) -> None:
    path = os.environ.get(_LEDGER)
    if path:
        line = (
            orjson.dumps({"subject": request.mail.subject, "pid": os.getpid(), "at": clock.now().timestamp()}) + b"\n"
        )
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
