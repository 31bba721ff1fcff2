"""Every path of the API with every id of another workspace, by every method and by everybody.

The measure is the answer for an id that nobody has: each answer must be that one, byte for byte. Whatever differs, if only
by a word, tells that the row exists.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from config.proving import unknown
from config.proving.api import METHODS, Api
from config.proving.callers import Answer, Caller
from config.proving.findings import Findings

_HELPLESS = (401, 403, 404, 405, 422)


def walk(found: Findings, api: Api, caller: Caller, foreign: Mapping[str, str], *, mark: str) -> None:
    """Ask for every foreign id wherever an id stands. `mark` is the word of the other workspace."""
    for path in api.paths_with_id():
        for method in METHODS:
            absent = {kind: _ask(found, api, caller, method, path, make()) for kind, make in unknown.KINDS.items()}
            for kind, answer in absent.items():
                if answer.status not in _HELPLESS:
                    found.leak(f"{method} {path} answers {answer.status} to {caller.name} for a {kind} that nobody has")
            for name, value in foreign.items():
                answer = _ask(found, api, caller, method, path, value)
                if answer != absent[unknown.kind(value)]:
                    found.leak(f"{method} {path} tells {caller.name} that {name} exists ({answer.status})")
                if mark.encode() in answer.content:
                    found.leak(f"{method} {path} shows {caller.name} something of the other workspace ({name})")


def control(found: Findings, api: Api, caller: Caller, own: Mapping[str, str]) -> None:
    """The counterpart: rows of one's own are found, so that it is the fence which hides the others.

    A path at which none is found is not covered: the proof would say nothing about it.
    """
    for operation in api.operations:
        if operation.method != "GET" or not operation.has_id:
            continue
        answers = (_ask(found, api, caller, "GET", operation.path, value).status for value in own.values())
        if 200 not in answers:
            found.miss(
                f"GET {operation.path}: the proof has nothing of its own there, so it has nothing to compare with"
            )


def shut_out(found: Findings, api: Api, callers: Sequence[Caller], ids: Mapping[str, str]) -> None:
    """Who has no valid credential gets one and the same refusal, whatever id is named."""
    for caller in callers:
        for path in api.paths_with_id():
            for method in METHODS:
                for kind, make in unknown.KINDS.items():
                    asked = [make(), *(value for value in ids.values() if unknown.kind(value) == kind)]
                    answers = {_ask(found, api, caller, method, path, value) for value in asked}
                    if len(answers) != 1 or next(iter(answers)).status not in (401, 404, 405):
                        found.leak(f"{method} {path} does not refuse {caller.name} alike for each {kind}")


def _ask(found: Findings, api: Api, caller: Caller, method: str, path: str, value: str) -> Answer:
    found.count("requests")
    body = None if method in ("GET", "HEAD") else api.body_of(method, path)
    return caller.ask(method, path.replace("{id}", quote(value, safe="")), body)
