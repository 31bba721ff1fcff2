"""Processes that wait for orders, one JSON line each way, so that start-up never counts and all begin together."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

WORKER = [sys.executable, "-m", "tests.bench.worker"]


class Failed(RuntimeError):
    """A process of the crew ended or reported an error; the text is its last words."""


class Member:
    """One process."""

    def __init__(self, argv: Sequence[str], env: dict[str, str], log: Path | None = None) -> None:
        self._log = log
        self._errors = log.open("wb") if log else None
        self._process = subprocess.Popen(
            argv, env=os.environ | env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True
        )

    def tell(self, order: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise Failed(self._last_words()) from error

    def hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise Failed(self._last_words())
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def _last_words(self) -> str:
        self._process.wait()
        lines = self._log.read_text(errors="replace").strip().splitlines() if self._log else []
        return lines[-1] if lines else f"ended with status {self._process.returncode}"

    def end(self) -> None:
        """Closing its input ends a member; one that does not listen is killed."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._errors is not None:
            self._errors.close()


class Crew:
    """Several members; a context manager that ends them."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = list(members)
        for member in self.members:
            member.hear()  # "ready"

    @classmethod
    def ours(cls, size: int) -> "Crew":
        """Workers of this application on the database that Django uses now."""
        return cls([Member(WORKER, {}) for _ in range(size)])

    def order(self, **order: Any) -> tuple[float, list[dict[str, Any]]]:
        """All do the same at once; the seconds until the last one is done, and the answers."""
        return self.orders([order] * len(self.members))

    def orders(self, orders: Sequence[dict[str, Any]]) -> tuple[float, list[dict[str, Any]]]:
        """Each of the first members does its own order."""
        chosen = self.members[: len(orders)]
        began = time.perf_counter()
        for member, order in zip(chosen, orders, strict=True):
            member.tell(order)
        answers = [member.hear() for member in chosen]
        return time.perf_counter() - began, answers

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for member in self.members:
            member.end()
