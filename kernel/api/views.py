"""The base of every endpoint: permission first, then the handler inside one unit of work of the caller's workspace."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import orjson
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from kernel import context, idempotency
from kernel.access import Principal, principal_of
from kernel.api.rendering import JSONRenderer
from kernel.errors import Forbidden
from kernel.transactions import in_workspace


class WorkspaceViewSet(GenericViewSet[Any]):
    """A viewset over one workspace. `permissions` names what each action needs; an action without a name is refused."""

    permissions: ClassVar[Mapping[str, str]] = {}
    # OPTIONS has nothing to say here, so `Allow` does not name it.
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    # Why a method is not there, and what to do instead, where its name alone does not say.
    refusals: ClassVar[Mapping[str, str]] = {}
    lookup_value_regex = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

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
        if self.action not in self.permissions:
            raise Forbidden(f"No permission is named for {self.action!r}, so nobody has it.")
        principal.require(self.permissions[self.action])
        method = (request.method or "get").lower()
        setattr(self, method, partial(self._within_workspace, principal, getattr(self, method)))

    def _within_workspace(
        self, principal: Principal, handler: Callable[..., Response], request: Request, *args: Any, **kwargs: Any
    ) -> Response:
        key = request.headers.get("Idempotency-Key") if request.method == "POST" else None
        with context.acting_as(principal.actor):
            if key is None:
                with in_workspace(principal.workspace_id):
                    return handler(request, *args, **kwargs)
            return _once(principal, key, request, partial(handler, request, *args, **kwargs))

    @property
    def principal(self) -> Principal:
        return principal_of(self.request)

    def checked(self, shape: type[BaseSerializer[Any]]) -> Any:
        """The request body as `shape` reads it; a ValidationError lists every fault at once."""
        serializer = shape(data=self.request.data)
        serializer.is_valid(raise_exception=True)
        return serializer.validated_data


def _once(principal: Principal, key: str, request: Request, handler: Callable[[], Response]) -> Response:
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
    return response
