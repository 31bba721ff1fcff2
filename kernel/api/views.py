"""The base of every endpoint: permission first, then the handler inside one unit of work of the caller's workspace."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import orjson
from django.conf import settings
from django.db.models import QuerySet
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from kernel import context, idempotency
from kernel.access import Principal, principal_of
from kernel.api import conditions, expanding, filters, inputs, limits, paging, parameters
from kernel.api.listings import Listing
from kernel.api.lookup import UUID_PATTERN
from kernel.api.rendering import JSONRenderer
from kernel.crash import crash_point
from kernel.errors import Forbidden, TooLarge
from kernel.transactions import unit_of_work


class Limited(APIView):
    """A view that counts what a caller asks for, and says so in each answer."""

    usage: limits.Usage | None = None

    def counted(self, caller: str) -> None:
        """Count this request; Busy when it is too much."""
        self.usage = limits.count(caller)
        limits.check(self.usage)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        longest: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        size = str(request.META.get("CONTENT_LENGTH") or "")
        if size.isdecimal() and int(size) > longest:
            raise TooLarge(f"A request may have {longest} bytes at most. Send less at once.")

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        """The answer with what is left of the caller's limit."""
        final = super().finalize_response(request, response, *args, **kwargs)
        for name, value in (self.usage.headers() if self.usage else {}).items():
            final[name] = value
        return final


class WorkspaceViewSet(Limited, GenericViewSet[Any]):
    """A viewset over one workspace. `permissions` names what each action needs; an action without a name is refused.

    `listings` says what may be asked of each action that lists, `expands` which words `expand` takes, each with the
    field that holds the id, `queries` how an action that is no list reads its parameters (see `asked`); what is in none
    of them is refused with the names that are.
    """

    permissions: ClassVar[Mapping[str, str]] = {}
    listings: ClassVar[Mapping[str, Listing]] = {}
    expands: ClassVar[Mapping[str, str]] = {}
    queries: ClassVar[Mapping[str, type[BaseSerializer[Any]]]] = {}
    # OPTIONS has nothing to say here, so `Allow` does not name it.
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    # Why a method is not there, and what to do instead, where its name alone does not say.
    refusals: ClassVar[Mapping[str, str]] = {}
    lookup_value_regex = UUID_PATTERN

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        # OPTIONS has an action in the framework (`metadata`).
        if not self.action or self.action == "metadata":
            method = request.method or ""
            allowed = ", ".join(self.allowed_methods)
            raise MethodNotAllowed(
                method, self.refusals.get(method) or f"{method} is not possible here. Possible: {allowed}."
            )
        principal = principal_of(request)
        note(principal)
        self._note_attempt(principal, str(kwargs.get("pk", "")))
        self.counted(f"{principal.workspace_id}:{principal.pk}")
        if self.action not in self.permissions:
            raise Forbidden(f"No permission is named for {self.action!r}, so nobody has it.")
        principal.require(self.permissions[self.action])
        parameters.check(request, self.parameters())
        method = (request.method or "get").lower()
        setattr(self, method, partial(self._within_workspace, principal, getattr(self, method)))

    def _note_attempt(self, principal: Principal, resource_id: str) -> None:
        """Say what is being tried, for the audit trail: it has every refusal."""
        call = context.call.get()
        if call is not None:
            # A view over no rows of ours is named for its route.
            rows: Any = getattr(self, "queryset", None)
            kind = snake_case(rows.model.__name__) if rows is not None else str(getattr(self, "basename", "view"))
            call.attempt = context.Attempt(
                principal.workspace_id, principal.actor, f"{kind}.{self.action}", kind, resource_id
            )

    def parameters(self) -> list[str]:
        """The parameters that the current action takes."""
        listing, query = self.listings.get(self.action or ""), self.queries.get(self.action or "")
        fields: Mapping[str, Any] = getattr(query(), "fields", {}) if query else {}
        return [*(listing.names if listing else []), *fields, *(["expand"] if self._expandable() else [])]

    def _expandable(self) -> bool:
        return bool(self.expands) and self.action in ("list", "retrieve")

    def _within_workspace(
        self, principal: Principal, handler: Callable[..., Response], request: Request, *args: Any, **kwargs: Any
    ) -> Response:
        key = request.headers.get("Idempotency-Key") if request.method == "POST" else None
        with context.acting_as(principal.actor):
            if key is not None:
                return once(principal, key, request, partial(handler, request, *args, **kwargs))
            with unit_of_work(principal.scope):
                if request.method in ("PATCH", "DELETE") and "If-Match" in request.headers:
                    self._compare(request, **kwargs)
                return self._dressed(request, handler(request, *args, **kwargs))

    def _compare(self, request: Request, **kwargs: Any) -> None:
        """If-Match against the row as it is now, under its lock: of two who read the same, one can win.

        FOR NO KEY UPDATE: rows that refer to this one can still be added meanwhile.
        """
        rows: QuerySet[Any] = self.get_queryset().model.objects.all()
        # Without an id in the path it is the workspace itself.
        pk = kwargs.get("pk", self.principal.workspace_id)
        rows.select_for_update(of=("self",), no_key=True).filter(pk=pk).values_list("pk").first()
        show: Callable[..., Response] = self.retrieve  # type: ignore[attr-defined]
        body = show(request, **kwargs).data
        conditions.check(request.headers["If-Match"], conditions.tag(body, without=self._volatile()))

    def _volatile(self) -> frozenset[str]:
        found: frozenset[str] = getattr(self.serializer_class, "volatile", frozenset())
        return found

    def _dressed(self, request: Request, response: Response) -> Response:
        """What every answer may get: expansions, an entity tag, 304 in place of what the caller has already."""
        # A download is a stream, not a body of ours.
        body = getattr(response, "data", None)
        if response.status_code != 200 or not isinstance(body, dict):
            return response
        current = body if self.action in ("retrieve", "partial_update") else None
        volatile = self._volatile()
        tag, added = "", {}
        if current:
            tag = conditions.tag(current, without=volatile)
            added = {name: current[name] for name in sorted(volatile & set(current))}
        if self._expandable():
            names = expanding.wanted(request, self.expands, self.principal)
            expanding.expand(body["data"] if self.action == "list" else [body], names, self.expands)
            added |= {name: body.get(name) for name in names}
        if current:
            tag = conditions.with_extra(tag, added) if added else tag
            if request.method in ("GET", "HEAD") and conditions.is_known(request, tag):
                response = Response(status=304)
            response["ETag"] = tag
        return response

    @property
    def principal(self) -> Principal:
        return principal_of(self.request)

    def listed(self, rows: "QuerySet[Any]", render: Callable[[Any], Any]) -> Response:
        """The page of `rows` that the request asks for, narrowed and sorted as the action's listing allows."""
        listing = self.listings[self.action or ""]
        narrowed = filters.apply(listing.filters, rows, self.request.query_params)
        return Response(paging.page(self.request, narrowed, render, by=listing.by, sorts=listing.sorts))

    def asked(self) -> Any:
        """The parameters as the action's `queries` read them; BadParameter names every value that cannot be one."""
        serializer = self.queries[self.action or ""](data=self.request.query_params.dict())
        if not serializer.is_valid():
            found: Mapping[str, Any] = dict(serializer.errors)
            raise filters.refusal({name: " ".join(map(str, texts)) for name, texts in found.items()})
        return serializer.validated_data

    def checked(self, shape: type[BaseSerializer[Any]]) -> Any:
        """The request body as `shape` reads it; a ValidationError lists every fault at once."""
        return inputs.reader(shape).run_validation(self.request.data)


def snake_case(name: str) -> str:
    """`MachineKey` as `machine_key`: how the trail names kinds."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def note(principal: Principal) -> None:
    """Say whose request this is, for the request log."""
    call = context.call.get()
    if call is not None:
        call.workspace_id = principal.workspace_id
        call.caller = principal.actor.label or f"{principal.actor.kind} {principal.actor.id}"


def once(principal: Principal, key: str, request: Request, handler: Callable[[], Response]) -> Response:
    """Every POST of every app runs once per Idempotency-Key, by this one mechanism."""

    def work() -> tuple[int, bytes]:
        response = handler()
        return response.status_code, JSONRenderer().render(response.data)

    answer = idempotency.run_once(
        principal=principal,
        operation=f"{request.method} {request.path}",
        key=key,
        content=request.data,
        work=work,
    )
    response = Response(orjson.loads(answer.body or b"null"), status=answer.status)
    if answer.replayed:
        response["Idempotency-Replayed"] = "true"
    crash_point("idempotency.answered")
    return response
