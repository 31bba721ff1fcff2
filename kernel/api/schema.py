"""The API's description: what every operation has in common is said once, here, from what the views declare."""

import inspect
import re
from typing import Any, Final

from drf_spectacular.drainage import get_override
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter

from kernel.api import paging
from kernel.api.expanding import known
from kernel.api.listings import Listing

REFUSALS: Final[dict[str, tuple[str, str, str]]] = {
    "400": ("Malformed", "invalid_parameter", "A parameter, a header or the JSON itself is malformed."),
    "401": ("Unauthenticated", "not_authenticated", "No credential, or one that is not valid here."),
    "403": ("Forbidden", "forbidden", "The credential lacks the permission that is named."),
    "404": ("NotFound", "not_found", "Nothing of this id in this workspace."),
    "405": ("NotAllowed", "method_not_allowed", "The resource is read-only in this way."),
    "409": ("Conflict", "conflict", "In conflict with the present state, or the first request of this key still runs."),
    "412": ("Changed", "precondition_failed", "If-Match names another version than the present one."),
    "413": ("TooLarge", "content_too_large", "The body is larger than is taken."),
    "415": ("Unsupported", "unsupported_media_type", "The body is of a type that is not taken here."),
    "422": ("Invalid", "invalid", "Valid JSON with content that is not; `errors` point at it."),
    "429": ("TooMany", "rate_limited", "Too many requests in this window; Retry-After says when to go on."),
    "503": ("Unavailable", "file_unreadable", "What is asked for cannot be read at the moment."),
}
_WORDS: Final = {
    "list": "List {0}",
    "retrieve": "Read one of the {0}",
    "create": "Make one of the {0}",
    "partial_update": "Change one of the {0}",
    "destroy": "Delete one of the {0}",
}


def _header(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/headers/{name}"}


def _ask(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/parameters/{name}"}


class Schema(AutoSchema):
    """Adds summary, parameters, headers and refusals to what drf-spectacular finds."""

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        """The operation with all that it shares with others."""
        operation = super().get_operation(*args, **kwargs)
        if operation is not None:
            operation.setdefault("parameters", []).extend(_ask(name) for name in self._headers_asked())
            self._describe_answers(operation["responses"])
        return operation

    def _is_list_view(self, serializer: Any = None) -> bool:
        """Lists are framed by `listing(…)`, never bare arrays."""
        return False

    def _get_examples(
        self, serializer: Any, direction: str, media_type: str, status_code: Any = None, extras: Any = None
    ) -> Any:
        """A view's example of a request does not stand in the way of a shape's example of the answer."""
        if direction == "response" and self.get_examples():
            extras = [*(extras or []), *get_override(serializer, "examples", [])]
        return super()._get_examples(serializer, direction, media_type, status_code, extras)  # type: ignore[no-untyped-call]

    @property
    def _is_of_workspace(self) -> bool:
        """A WorkspaceViewSet; it cannot be imported here, since every view of the framework needs this module first."""
        return hasattr(self.view, "permissions")

    @property
    def _takes_key(self) -> bool:
        return self._is_of_workspace or getattr(self.view, "takes_idempotency_key", False)

    @property
    def _action(self) -> str:
        return getattr(self.view, "action", "") or self.method.lower()

    def get_operation_id(self) -> str:
        """`emails_list`, `approvals_approve`: what clients are generated with, so it never changes by itself."""
        path = re.sub(self.path_prefix, "", self.path)
        words = [word for word in path.strip("/").split("/") if "{" not in word]
        verb = {"post": "create"}.get(self._action, self._action)
        return "_".join([*words, *([verb] if verb in _WORDS else [])]).replace("-", "_")

    def get_summary(self) -> str:
        """The first sentence of the handler's docstring."""
        return self._documented()[0]

    def get_description(self) -> str:  # type: ignore[override] # as drf-spectacular has it
        """What follows it, and which permission is needed."""
        rest = self._documented()[1]
        permission = getattr(self.view, "permissions", {}).get(self._action)
        needs = f"Needs the permission `{permission}`." if permission else ""
        writes = {"create", "partial_update", "destroy"} & set(getattr(self.view, "permissions", {"create": ""}))
        fixed = "" if writes else "The resource is read-only: POST, PUT, PATCH and DELETE are answered with 405."
        return "\n\n".join(text for text in (rest, needs, fixed) if text) or self.get_summary() + "."

    def _documented(self) -> tuple[str, str]:
        text = inspect.getdoc(getattr(type(self.view), self._action)) or ""
        plural = (self.get_tags() or ["things"])[0].lower().replace("-", " ")
        text = text or _WORDS.get(self._action, "{0}").format(plural) + "."
        first, _, rest = " ".join(text.split()).partition(". ")
        return first.rstrip("."), rest

    def get_override_parameters(self) -> list[Any]:
        """The parameters of the list, from its declaration."""
        listing = self._listing()
        found = list(_of_listing(listing)) if listing else []
        expands = sorted(getattr(self.view, "expands", {}))
        if expands and self._action in ("list", "retrieve"):
            words = ", ".join(f"`{name}` ({known(name).permission})" for name in expands)
            schema = {"type": "array", "items": {"type": "string", "enum": expands}, "minItems": 1}
            about = f"What to put beside its id: {words}, each with its permission. With commas between."
            found.append(OpenApiParameter("expand", schema, description=about, style="form", explode=False))
        return found

    def _listing(self) -> Listing | None:
        found: Listing | None = getattr(self.view, "listings", {}).get(self._action)
        return found

    def get_filter_backends(self) -> list[Any]:
        """Filters are declared in listings, not by the framework's backends."""
        return []

    def _headers_asked(self) -> list[str]:
        names = ["X-Request-Id"]
        if self._action == "retrieve":
            names.append("If-None-Match")
        if self.method == "POST" and self._takes_key:
            names.append("Idempotency-Key")
        if self.method in ("PATCH", "DELETE"):
            names.append("If-Match")
        return names

    def _statuses(self) -> list[str]:
        found = ["400", "401", "403", "429"]
        if "{" in self.path:
            found.append("404")
        if self.method in ("POST", "PUT", "PATCH", "DELETE"):
            found.append("409")
        if self.method in ("PATCH", "DELETE"):
            found.append("412")
        if self.method in ("POST", "PUT", "PATCH"):
            found += ["413", "415", "422"]
        return found

    def _describe_answers(self, responses: dict[str, Any]) -> None:
        for code, answer in responses.items():
            headers = answer.setdefault("headers", {})
            headers |= {name: _header(name) for name in ("X-Request-Id", "RateLimit", "RateLimit-Policy")}
            if code == "200" and self._action in ("retrieve", "partial_update"):
                headers["ETag"] = _header("ETag")
            if self.method == "POST" and self._takes_key:
                headers["Idempotency-Replayed"] = _header("Idempotency-Replayed")
            if not answer.get("description") or answer["description"] == "No response body":
                answer["description"] = "Done." if code < "300" else "Refused."
        if self._action == "retrieve":
            responses["304"] = {"description": "It is as If-None-Match names it.", "headers": {"ETag": _header("ETag")}}
        named = [code for code in REFUSALS if code in responses]
        for code in sorted({*self._statuses(), *named}):
            responses[code] = {"$ref": f"#/components/responses/{REFUSALS[code][0]}"}


def _of_listing(listing: Listing) -> Any:
    yield OpenApiParameter("cursor", str, description="`next` or `previous` of a page of this very list.")
    limit = {"type": "integer", "minimum": 1, "maximum": paging.MAX_LIMIT, "default": paging.DEFAULT_LIMIT}
    yield OpenApiParameter("limit", limit, description="Rows of a page.")
    if listing.sorts:
        about = f"A minus before it: falling. Without it: falling by `{listing.by}`."
        yield OpenApiParameter("sort", str, enum=paging.choices(listing.sorts), description=about)
    for name, filter_ in listing.filters.base_filters.items():
        yield OpenApiParameter(name, _type_of(filter_), description=str(filter_.extra.get("help_text", "")))


def _type_of(filter_: Any) -> dict[str, Any]:
    """The JSON Schema of a filter's value, from its form field."""
    found: dict[str, Any] = {"type": "string", "minLength": 1}
    kind, extra = type(filter_).__name__, filter_.extra
    if "choices" in extra:
        return {"type": "string", "enum": [value for value, _ in extra["choices"]]}
    if kind == "UUIDFilter":
        return {"type": "string", "format": "uuid"}
    if kind == "Instant":
        return {"type": "string", "format": "date-time"}
    if kind == "NumberFilter":
        return {"type": "integer", "minimum": extra["min_value"], "maximum": extra["max_value"]}
    return found | ({"maxLength": extra["max_length"]} if "max_length" in extra else {})
