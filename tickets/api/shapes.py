"""Input and output shapes of the desk's API."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from kernel.api.inputs import Input, Text
from kernel.api.shapes import Resource, exemplified
from tickets.api import examples
from tickets.models import SavedView
from tickets.types import TagColor, ViewOrder


class TagInput(Input):
    name = Text(max_length=60)
    color = serializers.ChoiceField(choices=TagColor.choices, required=False, default=TagColor.GREY)


class TagPatch(Input):
    name = Text(max_length=60, required=False)
    color = serializers.ChoiceField(choices=TagColor.choices, required=False)


@exemplified(examples.TAG)
class TagShape(Resource):
    kind_name = "tag"
    name = serializers.CharField()
    color = serializers.ChoiceField(choices=TagColor.choices)


class TagSet(Input):
    tag_ids = serializers.ListField(
        child=serializers.UUIDField(), max_length=50, help_text="All labels that it bears from now on."
    )


@exemplified(examples.THREAD_TAGS)
class ThreadTagsShape(serializers.Serializer[Any]):
    """All labels of a conversation."""

    object = serializers.CharField()
    thread_id = serializers.UUIDField()
    tags = TagShape(many=True)


class NoteInput(Input):
    text = Text(max_length=50_000)
    entry_id = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="The message it is about."
    )
    mentions = serializers.ListField(
        child=serializers.UUIDField(), required=False, default=list, max_length=20, help_text="Memberships."
    )


@exemplified(examples.NOTE)
class NoteShape(Resource):
    kind_name = "note"
    thread_id = serializers.UUIDField()
    entry_id = serializers.UUIDField(allow_null=True)
    text = serializers.CharField(source="body")
    mentions = serializers.ListField(child=serializers.UUIDField())
    author_kind = serializers.CharField()
    author_label = serializers.CharField()


class ViewInput(Input):
    name = Text(max_length=60)
    filter = serializers.DictField(
        help_text="All must hold: status, inbox_id, assignee (a membership, or nobody), unanswered, tag_id."
    )
    sort = serializers.ChoiceField(choices=ViewOrder.choices, required=False, default=ViewOrder.NEWEST)


class ViewPatch(Input):
    name = Text(max_length=60, required=False)
    filter = serializers.DictField(required=False, help_text="Replaces the whole filter.")
    sort = serializers.ChoiceField(choices=ViewOrder.choices, required=False)


@exemplified(examples.VIEW)
class ViewShape(Resource):
    kind_name = "view"
    name = serializers.CharField()
    filter = serializers.SerializerMethodField()
    sort = serializers.ChoiceField(choices=ViewOrder.choices)
    threads = serializers.SerializerMethodField(help_text="How many conversations are in it, from maintained counters.")

    @extend_schema_field(serializers.DictField())
    def get_filter(self, row: SavedView) -> Any:
        return row.filter

    def get_threads(self, row: Any) -> int:
        return int(row.threads)


class AnswerInput(Input):
    name = Text(max_length=80)
    text = Text(max_length=20_000, help_text="{name}, {subject} and {me} are filled in where it is used.")


class AnswerPatch(Input):
    name = Text(max_length=80, required=False)
    text = Text(max_length=20_000, required=False)


@exemplified(examples.ANSWER)
class AnswerShape(Resource):
    kind_name = "canned_answer"
    name = serializers.CharField()
    text = serializers.CharField()


@exemplified(examples.LISTED)
class ListedThreadShape(Resource):
    """A conversation as a view lists it; the same fields as in `GET /threads`."""

    kind_name = "thread"
    inbox_id = serializers.UUIDField()
    subject = serializers.CharField()
    status = serializers.CharField()
    snoozed_until = serializers.DateTimeField(allow_null=True)
    assignee_id = serializers.UUIDField(allow_null=True)
    first_unanswered_inbound_at = serializers.DateTimeField(allow_null=True)
    last_entry_at = serializers.DateTimeField()
    entry_count = serializers.IntegerField()
    preview = serializers.CharField()
