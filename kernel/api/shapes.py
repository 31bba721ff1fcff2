"""What the output of every app shares: the fields of a resource, the frame of a list, and an example of each."""

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from drf_spectacular.utils import OpenApiExample, extend_schema_field, extend_schema_serializer
from rest_framework import serializers

S = TypeVar("S", bound=type[serializers.Serializer[Any]])


class Resource(serializers.Serializer[Any]):
    """What every resource shows (S0-19 to S0-22).

    `volatile` names fields that change though nobody changes the resource, by its use, say: If-Match does not see them.
    """

    object = serializers.SerializerMethodField()
    id = serializers.UUIDField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)
    kind_name = ""
    volatile: ClassVar[frozenset[str]] = frozenset()

    def get_object(self, _row: Any) -> str:
        return self.kind_name


class Shared(Resource):
    """What each of the nine resources of the domain model shows beside its own fields (S0-19 to S0-25).

    Some rows are written by the system only and never deleted; they have no such columns and say so (X-21).
    """

    deleted_at = serializers.SerializerMethodField()
    metadata = serializers.SerializerMethodField(help_text="Set by the system only.")
    custom_metadata = serializers.SerializerMethodField(help_text="Yours; the system never looks inside.")

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_deleted_at(self, row: Any) -> Any:
        return getattr(row, "deleted_at", None)

    @extend_schema_field(serializers.DictField())
    def get_metadata(self, row: Any) -> Any:
        return getattr(row, "metadata", {})

    @extend_schema_field(serializers.DictField())
    def get_custom_metadata(self, row: Any) -> Any:
        return getattr(row, "custom_metadata", {})


class Owned(Shared):
    """A resource of a workspace, which it names."""

    workspace_id = serializers.UUIDField(read_only=True)


class Listing(serializers.Serializer[Any]):
    """The frame of every list."""

    next = serializers.CharField(allow_null=True, help_text="Cursor of the next page, or null.")
    previous = serializers.CharField(allow_null=True, help_text="Cursor of the page before, or null.")


def exemplified(example: dict[str, Any]) -> Callable[[S], S]:
    """Show `example` wherever the API's description tells of the shape; a test holds each against the shape."""

    def decorate(shape: S) -> S:
        shape.example = example  # type: ignore[attr-defined]
        shown = OpenApiExample("example", example, response_only=True, status_codes=["200", "201", "202"])
        decorated: S = extend_schema_serializer(examples=[shown])(shape)
        return decorated

    return decorate


def listing(shape: type[serializers.Serializer[Any]], name: str) -> type[serializers.Serializer[Any]]:
    """The documented shape of a list of `shape`."""
    made = type(f"{name}List", (Listing,), {"data": shape(many=True)})
    example = getattr(shape, "example", None)
    return exemplified({"data": [example], "next": None, "previous": None})(made) if example else made
