"""What the output of every app shares: the fields of a resource, and the frame of a list."""

from typing import Any

from rest_framework import serializers


class Resource(serializers.Serializer[Any]):
    """What every resource shows (S0-19 to S0-22)."""

    object = serializers.SerializerMethodField()
    id = serializers.UUIDField(read_only=True)
    created_at = serializers.DateTimeField(read_only=True)
    updated_at = serializers.DateTimeField(read_only=True)
    kind_name = ""

    def get_object(self, _row: Any) -> str:
        return self.kind_name


class Listing(serializers.Serializer[Any]):
    """The frame of every list."""

    next = serializers.CharField(allow_null=True, help_text="Cursor of the next page, or null.")
    previous = serializers.CharField(allow_null=True)


def listing(shape: type[serializers.Serializer[Any]], name: str) -> type[serializers.Serializer[Any]]:
    """The documented shape of a list of `shape`."""
    return type(f"{name}List", (Listing,), {"data": shape(many=True)})
