"""Labels, notes, saved views and canned answers over HTTP."""

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from inbox.queries import desk
from kernel.api.filters import Changeable
from kernel.api.listings import Listing
from kernel.api.lookup import one
from kernel.api.shapes import listing
from kernel.api.views import WorkspaceViewSet
from tickets.api import shapes
from tickets.models import Annotation, CannedAnswer, SavedView, Tag
from tickets.queries import labels, views
from tickets.services import answering, noting, tagging, viewing

_TAGS = listing(shapes.TagShape, "Tag")
_NAMED = Listing(filters=Changeable, sorts=("created_at", "name", "updated_at"))


def _example(name: str, body: dict[str, Any]) -> list[OpenApiExample]:
    return [OpenApiExample(name, body, request_only=True)]


@extend_schema_view(
    list=extend_schema(responses=_TAGS),
    create=extend_schema(
        request=shapes.TagInput,
        responses={201: shapes.TagShape},
        examples=_example("label", {"name": "Warranty", "color": "violet"}),
    ),
    partial_update=extend_schema(
        request=shapes.TagPatch, responses=shapes.TagShape, examples=_example("colour", {"color": "red"})
    ),
    destroy=extend_schema(responses={204: None}),
)
@extend_schema(tags=["tags"])
class TagViewSet(WorkspaceViewSet):
    """Labels for conversations."""

    permissions: ClassVar[dict[str, str]] = {
        "list": "thread.read",
        "retrieve": "thread.read",
        "create": "view.manage",
        "partial_update": "view.manage",
        "destroy": "view.manage",
    }
    listings: ClassVar = {"list": _NAMED}
    queryset = Tag.unfenced.none()
    serializer_class = shapes.TagShape

    def list(self, request: Request) -> Response:
        """The labels of the workspace."""
        return self.listed(Tag.objects.all(), shapes.TagShape.show)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One label."""
        return Response(shapes.TagShape.show(one(Tag.objects.filter(id=pk))))

    def create(self, request: Request) -> Response:
        """Make a label."""
        tag = tagging.create(workspace_id=self.principal.workspace_id, **self.checked(shapes.TagInput))
        return Response(shapes.TagShape.show(tag), status=201)

    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Rename or recolour a label, wherever it is used."""
        changes = self.checked(shapes.TagPatch)
        tag = tagging.change(workspace_id=self.principal.workspace_id, tag_id=pk, changes=changes)
        return Response(shapes.TagShape.show(tag))

    def destroy(self, request: Request, pk: UUID) -> Response:
        """Delete a label, from every conversation, too."""
        tagging.delete(workspace_id=self.principal.workspace_id, tag_id=pk)
        return Response(status=204)


@extend_schema(tags=["threads"])
class ThreadDeskViewSet(WorkspaceViewSet):
    """What colleagues add to a conversation."""

    permissions: ClassVar[dict[str, str]] = {
        "notes": "thread.read",
        "write_note": "thread.manage",
        "tags": "thread.read",
        "set_tags": "thread.manage",
    }
    listings: ClassVar = {
        "notes": Listing(by="seq", sorts=("seq",)),
        "tags": Listing(sorts=("created_at", "name")),
    }
    queryset = Annotation.unfenced.none()
    serializer_class = shapes.NoteShape

    def _thread(self, pk: UUID) -> Any:
        return one(desk.threads().filter(id=pk))

    @extend_schema(responses=listing(shapes.NoteShape, "Note"))
    @action(detail=True, methods=["get"])
    def notes(self, request: Request, pk: UUID) -> Response:
        """The internal notes of a conversation, newest first. No customer ever sees one."""
        return self.listed(labels.notes(self._thread(pk).id), shapes.NoteShape.show)

    @extend_schema(
        operation_id="threads_write_note",
        request=shapes.NoteInput,
        responses={201: shapes.NoteShape},
        examples=_example("note", {"text": "Paid twice, see the ledger."}),
    )
    @notes.mapping.post
    def write_note(self, request: Request, pk: UUID) -> Response:
        """Write an internal note."""
        fields = self.checked(shapes.NoteInput)
        note = noting.write(
            workspace_id=self.principal.workspace_id, thread_id=pk, author=self.principal.actor, **fields
        )
        return Response(shapes.NoteShape.show(note), status=201)

    @extend_schema(responses=_TAGS)
    @action(detail=True, methods=["get"])
    def tags(self, request: Request, pk: UUID) -> Response:
        """The labels of a conversation."""
        return self.listed(Tag.objects.filter(links__thread=self._thread(pk)), shapes.TagShape.show)

    @extend_schema(
        operation_id="threads_set_tags",
        request=shapes.TagSet,
        responses=shapes.ThreadTagsShape,
        examples=_example("none", {"tag_ids": []}),
    )
    @tags.mapping.post
    def set_tags(self, request: Request, pk: UUID) -> Response:
        """Say which labels a conversation bears; those that are not named are taken off."""
        tagging.set_all(
            workspace_id=self.principal.workspace_id, thread_id=pk, tag_ids=self.checked(shapes.TagSet)["tag_ids"]
        )
        shown = [shapes.TagShape.show(tag) for tag in labels.of_threads([pk]).get(UUID(str(pk)), [])]
        return Response({"object": "thread_tags", "thread_id": pk, "tags": shown})


@extend_schema_view(
    list=extend_schema(responses=listing(shapes.ViewShape, "View")),
    create=extend_schema(
        request=shapes.ViewInput,
        responses={201: shapes.ViewShape},
        examples=_example("waiting", {"name": "Nobody's", "filter": {"status": "open", "assignee": "nobody"}}),
    ),
    partial_update=extend_schema(
        request=shapes.ViewPatch, responses=shapes.ViewShape, examples=_example("order", {"sort": "waiting"})
    ),
    destroy=extend_schema(responses={204: None}),
)
@extend_schema(tags=["views"])
class SavedViewViewSet(WorkspaceViewSet):
    """Lists of conversations under a name, everybody's. Those of one member are in the console only."""

    permissions: ClassVar[dict[str, str]] = {
        "list": "thread.read",
        "retrieve": "thread.read",
        "threads": "thread.read",
        "create": "view.manage",
        "partial_update": "view.manage",
        "destroy": "view.manage",
    }
    listings: ClassVar = {
        "list": _NAMED,
        "threads": Listing(by="last_entry_seq", sorts=("last_entry_seq", "created_at")),
    }
    queryset = SavedView.unfenced.none()
    serializer_class = shapes.ViewShape

    def _shown(self, rows: list[SavedView]) -> list[Any]:
        found = views.counts([row.filter for row in rows], workspace_id=self.principal.workspace_id, me=None)
        for row, count in zip(rows, found, strict=True):
            row.threads = count  # type: ignore[attr-defined]
        return [shapes.ViewShape.show(row) for row in rows]

    def _one(self, pk: UUID) -> SavedView:
        return one(views.visible(owner_id=None).filter(id=pk, owner=None))

    def list(self, request: Request) -> Response:
        """The views of the workspace, with how many conversations are in each."""
        rows = SavedView.objects.filter(owner=None)
        answer = self.listed(rows, lambda row: row)
        answer.data["data"] = self._shown(answer.data["data"])
        return answer

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One view."""
        return Response(self._shown([self._one(pk)])[0])

    def create(self, request: Request) -> Response:
        """Save a view for everybody."""
        view = viewing.create(workspace_id=self.principal.workspace_id, **self.checked(shapes.ViewInput))
        return Response(self._shown([view])[0], status=201)

    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Change a view."""
        changes = self.checked(shapes.ViewPatch)
        view = viewing.change(workspace_id=self.principal.workspace_id, view_id=pk, changes=changes)
        return Response(self._shown([view])[0])

    def destroy(self, request: Request, pk: UUID) -> Response:
        """Delete a view. The conversations stay."""
        viewing.delete(workspace_id=self.principal.workspace_id, view_id=pk)
        return Response(status=204)

    @extend_schema(responses=listing(shapes.ListedThreadShape, "ListedThread"))
    @action(detail=True, methods=["get"])
    def threads(self, request: Request, pk: UUID) -> Response:
        """The conversations of a view, the one that has last got something first."""
        rows = views.threads(self._one(pk).filter, me=None).order_by()
        return self.listed(rows, shapes.ListedThreadShape.show)


@extend_schema_view(
    list=extend_schema(responses=listing(shapes.AnswerShape, "CannedAnswer")),
    create=extend_schema(
        request=shapes.AnswerInput,
        responses={201: shapes.AnswerShape},
        examples=_example("returns", {"name": "Returns", "text": "Hello {name},\n\nsend it back within 30 days."}),
    ),
    partial_update=extend_schema(
        request=shapes.AnswerPatch, responses=shapes.AnswerShape, examples=_example("name", {"name": "Sending back"})
    ),
    destroy=extend_schema(responses={204: None}),
)
@extend_schema(tags=["canned-answers"])
class CannedAnswerViewSet(WorkspaceViewSet):
    """Texts that are written again and again."""

    permissions: ClassVar[dict[str, str]] = {
        "list": "thread.read",
        "retrieve": "thread.read",
        "create": "view.manage",
        "partial_update": "view.manage",
        "destroy": "view.manage",
    }
    listings: ClassVar = {"list": _NAMED}
    queryset = CannedAnswer.unfenced.none()
    serializer_class = shapes.AnswerShape

    def list(self, request: Request) -> Response:
        """The canned answers of the workspace."""
        return self.listed(CannedAnswer.objects.all(), shapes.AnswerShape.show)

    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One canned answer."""
        return Response(shapes.AnswerShape.show(one(CannedAnswer.objects.filter(id=pk))))

    def create(self, request: Request) -> Response:
        """Keep a text for all."""
        row = answering.create(workspace_id=self.principal.workspace_id, **self.checked(shapes.AnswerInput))
        return Response(shapes.AnswerShape.show(row), status=201)

    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Change a canned answer."""
        changes = self.checked(shapes.AnswerPatch)
        row = answering.change(workspace_id=self.principal.workspace_id, answer_id=pk, changes=changes)
        return Response(shapes.AnswerShape.show(row))

    def destroy(self, request: Request, pk: UUID) -> Response:
        """Delete a canned answer."""
        answering.delete(workspace_id=self.principal.workspace_id, answer_id=pk)
        return Response(status=204)
