"""What the output of every app shares: the fields of a resource, the frame of a list, and an example of each."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, cached_property, partial
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, TypeVar

from drf_spectacular.utils import OpenApiExample, extend_schema_field, extend_schema_serializer
from rest_framework import serializers

S = TypeVar("S", bound=type[serializers.Serializer[Any]])


class Step(NamedTuple):
    """How one field is shown: where its value is, which types are shown as they are, what is done with the others."""

    name: str
    value: Callable[[Any], Any]
    as_is: frozenset[type]
    show: Callable[[Any], Any]


class Resource(serializers.Serializer[Any]):
    """What every resource shows (S0-19 to S0-22).

    Rows are shown by a plan that is made once for each shape: lists show thousands of fields, and to ask each field anew
    where its value is, and what is to be done with it, was most of their time. The outcome is the framework's.

    `volatile` names fields that change though nobody changes the resource, by its use, say: If-Match does not see them.
    """

    object = serializers.SerializerMethodField()
    id = serializers.UUIDField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)
    kind_name = ""
    volatile: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def show(cls, row: Any) -> dict[str, Any]:
        """A row as the API shows it."""
        shown: dict[str, Any] = _shape(cls).to_representation(row)
        return shown

    def to_representation(self, row: Any) -> dict[str, Any]:
        """The same, for those who have an instance; see `show`."""
        shown: dict[str, Any] = {}
        for name, value_of, as_is, show in self._plan:
            value = value_of(row)
            shown[name] = value if value is None or type(value) in as_is else show(value)
        return shown

    @cached_property
    def _plan(self) -> list[Step]:
        return [_step(field) for field in self._readable_fields]

    def get_object(self, _row: Any) -> str:
        return self.kind_name


@cache
def _shape(cls: type[Resource]) -> Resource:
    """The one instance of a shape that shows: nothing of a row stays in it, and to make one copies every field."""
    return cls()


def _step(field: serializers.Field[Any, Any, Any, Any]) -> Step:
    """A field of one value is read off the row; of any other (a method, rows that belong to it) the framework knows how."""
    name, kind = str(field.field_name), type(field)
    if kind not in _AS_IS or field.source_attrs != [field.source]:
        return Step(name, field.get_attribute, frozenset(), field.to_representation)
    show = partial(_instant, field) if isinstance(field, serializers.DateTimeField) else field.to_representation
    return Step(name, attrgetter(str(field.source)), _AS_IS[kind], show)


# Kinds of one value, and the types of it that are shown as they are.
_AS_IS: dict[type, frozenset[type]] = {
    serializers.CharField: frozenset({str}),
    serializers.BooleanField: frozenset({bool}),
    serializers.IntegerField: frozenset({int}),
    serializers.UUIDField: frozenset(),
    serializers.DateTimeField: frozenset(),
    serializers.ChoiceField: frozenset(),
    serializers.ListField: frozenset(),
}


def _instant(field: serializers.DateTimeField, value: datetime) -> Any:
    """As the field shows it; most times are UTC and need not be asked about."""
    if value.tzinfo is UTC:
        return value.replace(tzinfo=None).isoformat() + "Z"
    return field.to_representation(value)


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
