"""Conversations put together and taken apart over HTTP."""

from typing import Any, ClassVar
from uuid import UUID, uuid4

from django_filters import UUIDFilter
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.api import examples
from inbox.models import ThreadChange
from inbox.services import rearranging, undoing
from inbox.types import ThreadChangeKind
from kernel.api.filters import Filters, choice
from kernel.api.inputs import Input
from kernel.api.listings import Listing
from kernel.api.lookup import one
from kernel.api.shapes import Resource, exemplified, listing
from kernel.api.views import WorkspaceViewSet


class _Ids(serializers.ListField):
    def __init__(self, **options: Any) -> None:
        super().__init__(child=serializers.UUIDField(), max_length=rearranging.MAX_ENTRIES, **options)


class MergeInput(Input):
    into = serializers.UUIDField(help_text="The thread that goes on.")


class SplitInput(Input):
    entry_ids = _Ids(required=False, default=list, help_text="These entries.")
    from_entry = serializers.UUIDField(required=False, help_text="This entry and all that came after it.")


class MoveInput(Input):
    into = serializers.UUIDField(help_text="The thread that gets them.")
    entry_ids = _Ids(min_length=1)


@exemplified(examples.THREAD_CHANGE)
class ThreadChangeShape(Resource):
    kind_name = "thread_change"
    kind = serializers.ChoiceField(choices=ThreadChangeKind.choices)
    source_thread_id = serializers.UUIDField()
    target_thread_id = serializers.UUIDField()
    entry_ids = serializers.ListField(child=serializers.UUIDField())
    actor_kind = serializers.CharField()
    actor_label = serializers.CharField()
    made_at = serializers.DateTimeField()
    undone_at = serializers.DateTimeField(allow_null=True)
    undone_by = serializers.CharField()


class ThreadChangeFilters(Filters):
    kind = choice(ThreadChangeKind, "kind")
    source_thread_id = UUIDFilter("source_thread_id")
    target_thread_id = UUIDFilter("target_thread_id")


class Rearranging(WorkspaceViewSet):
    """What can be done to a thread; its viewset inherits it."""

    @extend_schema(
        request=MergeInput,
        responses={200: ThreadChangeShape},
        examples=[OpenApiExample("merge", {"into": examples.THREAD["id"]}, request_only=True)],
    )
    @action(detail=True, methods=["post"])
    def merge(self, request: Request, pk: UUID) -> Response:
        """Put all entries into another thread. Later mail to this one lands there too. Can be undone."""
        change = rearranging.merge(
            workspace_id=self.principal.workspace_id, thread_id=UUID(str(pk)), key=_key(), **self.checked(MergeInput)
        )
        return Response(ThreadChangeShape.show(change))

    @extend_schema(
        request=SplitInput,
        responses={200: ThreadChangeShape},
        examples=[OpenApiExample("split", {"from_entry": examples.ENTRY["id"]}, request_only=True)],
    )
    @action(detail=True, methods=["post"])
    def split(self, request: Request, pk: UUID) -> Response:
        """Put chosen entries, or those from one on, into a new thread. Can be undone."""
        change = rearranging.split(
            workspace_id=self.principal.workspace_id, thread_id=UUID(str(pk)), key=_key(), **self.checked(SplitInput)
        )
        return Response(ThreadChangeShape.show(change))

    @extend_schema(
        request=MoveInput,
        responses={200: ThreadChangeShape},
        examples=[
            OpenApiExample(
                "move", {"into": examples.THREAD["id"], "entry_ids": [examples.ENTRY["id"]]}, request_only=True
            )
        ],
    )
    @action(detail=True, methods=["post"])
    def move(self, request: Request, pk: UUID) -> Response:
        """Put some entries into another thread. Can be undone."""
        change = rearranging.move(
            workspace_id=self.principal.workspace_id, thread_id=UUID(str(pk)), key=_key(), **self.checked(MoveInput)
        )
        return Response(ThreadChangeShape.show(change))


def _key() -> str:
    """The Idempotency-Key of the request is kept by the kernel; here each request that comes through is a change."""
    return f"api:{uuid4()}"


@extend_schema_view(list=extend_schema(responses=listing(ThreadChangeShape, "ThreadChange")))
@extend_schema(tags=["thread-changes"])
class ThreadChangeViewSet(WorkspaceViewSet):
    permissions: ClassVar[dict[str, str]] = {"list": "thread.read", "retrieve": "thread.read", "undo": "thread.manage"}
    listings: ClassVar = {"list": Listing(filters=ThreadChangeFilters)}
    queryset = ThreadChange.unfenced.none()
    serializer_class = ThreadChangeShape

    def list(self, request: Request) -> Response:
        """What people did to conversations, newest first."""
        return self.listed(ThreadChange.objects.defer("journal"), ThreadChangeShape.show)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One merge, split or move."""
        return Response(ThreadChangeShape.show(one(ThreadChange.objects.defer("journal").filter(id=pk))))

    @extend_schema(request=None, responses=ThreadChangeShape)
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, pk: UUID) -> Response:
        """Put the entries back. Mail that came since goes with what it answers."""
        change = undoing.undo(workspace_id=self.principal.workspace_id, change_id=UUID(str(pk)))
        return Response(ThreadChangeShape.show(change))
