"""What may stand behind the question mark: known names only, each once, each with a value."""

from collections.abc import Collection

from rest_framework.request import Request

from kernel.errors import BadParameter


class UnknownParameter(BadParameter):
    """There is no such parameter here; `allowed` lists those that are."""

    code = "unknown_parameter"


def check(request: Request, allowed: Collection[str]) -> None:
    """Refuse a misspelt filter instead of answering with everything."""
    given = request.query_params
    unknown = sorted(set(given) - set(allowed))
    if unknown:
        known = f"Known here are {', '.join(sorted(allowed))}." if allowed else "This address takes none."
        raise UnknownParameter(
            f"There is no parameter {_shown(unknown[0])}. {known}", parameter=unknown[0], allowed=sorted(allowed)
        )
    for name in given:
        values = given.getlist(name)
        if len(values) > 1:
            raise BadParameter(f"Give {name} once.", parameter=name)
        if not values[0].strip() or "\x00" in values[0]:
            raise BadParameter(f"Give {name} a value, or leave it out.", parameter=name)


def _shown(name: str) -> str:
    return repr(name if len(name) <= 60 else name[:59] + "…")
