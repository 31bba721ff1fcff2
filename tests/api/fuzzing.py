"""Requests made up from the API's description, sent to the real application, and judged by the description."""

from collections import Counter
from typing import Any

import schemathesis
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import booleans
from schemathesis import GenerationMode, checks
from schemathesis.specs.openapi import checks as of_openapi

from tests.api.conftest import Caller, World

CHECKS = [
    checks.not_a_server_error,
    of_openapi.status_code_conformance,
    of_openapi.content_type_conformance,
    of_openapi.response_headers_conformance,
    of_openapi.response_schema_conformance,
]
# A mail of hundred kilobytes tells no more than one of ten.
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.large_base_example]


def operations() -> list[Any]:
    """Every operation of the API as the application itself describes it; what deletes comes last."""
    schema = schemathesis.openapi.from_wsgi("/api/schema", get_wsgi_application())
    found = [result.ok() for result in schema.get_all_operations()]
    return sorted(found, key=lambda operation: operation.method.upper() == "DELETE")


def fuzz(world: World, *, examples: int, brief: bool) -> Counter[int]:
    """So many requests for each operation, sound ones and others; how often each status came.

    `brief`: the same as last time, and of each operation either sound ones or others, by turns.
    """
    caller, statuses = Caller(world.id), Counter[int]()
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    for turn, operation in enumerate(operations()):
        for mode in modes[turn % 2 :][:1] if brief else modes:
            statuses.update(_tries(operation, mode, examples, brief, world, caller))
    return statuses


def _tries(operation: Any, mode: GenerationMode, examples: int, same: bool, world: World, caller: Caller) -> list[int]:
    found: list[int] = []
    mine = world.ids.get(operation.path.split("/")[3], "")

    @settings(
        max_examples=examples, database=None, deadline=None, suppress_health_check=QUIET, phases=[Phase.generate],
        derandomize=same,
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode), is_mine=booleans())
    def attempt(case: Any, is_mine: bool) -> None:
        # Ids that are made up lead nowhere; half of the requests get one that leads somewhere.
        if is_mine and mine and "id" in (case.path_parameters or {}):
            case.path_parameters["id"] = mine
        answer = case.call(headers={"Authorization": f"Bearer {caller.secret}"})
        case.validate_response(answer, checks=CHECKS)
        found.append(answer.status_code)

    attempt()
    return found
