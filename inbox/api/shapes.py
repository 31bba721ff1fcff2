"""Input and output shapes of the inbox API. Input never goes through a model serializer (style rule 2)."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from inbox.api import examples
from inbox.models import Attachment, Email
from inbox.types import Channel, EmailState, MailClass, ThreadStatus
from kernel.api.shapes import Resource, exemplified


class AddressShape(serializers.Serializer[Any]):
    name = serializers.CharField(required=False, allow_blank=True, default="", max_length=200)
    address = serializers.EmailField(max_length=320)


class InboxInput(serializers.Serializer[Any]):
    address = serializers.CharField(max_length=320)
    name = serializers.CharField(required=False, allow_blank=True, default="", max_length=200)
    external_id = serializers.UUIDField(required=False)
    agent_id = serializers.UUIDField(required=False, allow_null=True)
    policy = serializers.DictField(required=False)
    custom_metadata = serializers.DictField(required=False)


class InboxChange(serializers.Serializer[Any]):
    name = serializers.CharField(required=False, allow_blank=True, max_length=200)
    agent_id = serializers.UUIDField(required=False, allow_null=True)
    policy = serializers.DictField(required=False)
    active = serializers.BooleanField(required=False)
    custom_metadata = serializers.DictField(required=False)


@exemplified(examples.INBOX)
class InboxShape(Resource):
    kind_name = "inbox"
    external_id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=Channel.choices)
    address = serializers.CharField()
    name = serializers.CharField()
    agent_id = serializers.UUIDField(allow_null=True)
    policy = serializers.DictField()
    policy_version = serializers.IntegerField()
    active = serializers.BooleanField()
    metadata = serializers.DictField()
    custom_metadata = serializers.DictField()
    deleted_at = serializers.DateTimeField(allow_null=True)


class EmailInput(serializers.Serializer[Any]):
    """A mail as fields. A raw one is posted as `message/rfc822` instead."""

    to: Any = serializers.ListSerializer(child=AddressShape(), min_length=1, max_length=50)
    cc: Any = serializers.ListSerializer(child=AddressShape(), required=False, default=list, max_length=50)
    subject = serializers.CharField(required=False, allow_blank=True, default="", max_length=2000)
    text = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    html = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    message_id = serializers.CharField(required=False, allow_blank=True, default="", max_length=900)
    in_reply_to = serializers.CharField(required=False, allow_blank=True, default="", max_length=900)
    references = serializers.ListField(
        child=serializers.CharField(max_length=900), required=False, default=list, max_length=50
    )
    headers = serializers.DictField(child=serializers.CharField(max_length=2000), required=False, default=dict)
    custom_metadata = serializers.DictField(required=False, default=dict)

    def get_fields(self) -> dict[str, Any]:
        # `from` is a Python keyword, so the field cannot be a class attribute.
        return {"from": AddressShape(), **super().get_fields()}


@exemplified(examples.EMAIL)
class EmailShape(Resource):
    kind_name = "email"
    inbox_id = serializers.UUIDField()
    message_id = serializers.CharField(help_text="The provider's id; what makes redelivery harmless.")
    state = serializers.ChoiceField(choices=EmailState.choices)
    state_reason = serializers.CharField()
    mail_class = serializers.ChoiceField(choices=MailClass.choices)
    subject = serializers.CharField()
    from_name = serializers.CharField()
    from_address = serializers.CharField()
    to = AddressShape(many=True)
    cc = AddressShape(many=True)
    date = serializers.DateTimeField(allow_null=True)
    rfc_message_id = serializers.CharField()
    in_reply_to = serializers.ListField(child=serializers.CharField())
    warnings = serializers.ListField(child=serializers.CharField())
    received_at = serializers.DateTimeField()
    thread_id = serializers.SerializerMethodField()
    text = serializers.SerializerMethodField()
    metadata = serializers.DictField()
    custom_metadata = serializers.DictField()
    deleted_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(serializers.UUIDField(allow_null=True))
    def get_thread_id(self, row: Email) -> Any:
        return row.entry.thread_id if hasattr(row, "entry") else None

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_text(self, row: Email) -> str | None:
        return row.entry.extracted_text if hasattr(row, "entry") else None


@exemplified(examples.THREAD)
class ThreadShape(Resource):
    kind_name = "thread"
    inbox_id = serializers.UUIDField()
    subject = serializers.CharField()
    status = serializers.ChoiceField(choices=ThreadStatus.choices)
    first_unanswered_inbound_at = serializers.DateTimeField(allow_null=True)
    last_entry_at = serializers.DateTimeField()
    entry_count = serializers.IntegerField()
    preview = serializers.CharField()


@exemplified(examples.ATTACHMENT)
class AttachmentShape(Resource):
    kind_name = "attachment"
    entry_id = serializers.UUIDField()
    email_id = serializers.UUIDField(allow_null=True)
    filename = serializers.CharField()
    content_type = serializers.CharField()
    size = serializers.SerializerMethodField()
    sha256 = serializers.SerializerMethodField()
    scan_state = serializers.SerializerMethodField()
    inline = serializers.BooleanField()
    deleted_at = serializers.DateTimeField(allow_null=True)

    def get_size(self, row: Attachment) -> int:
        return row.file.size

    def get_sha256(self, row: Attachment) -> str:
        return bytes(row.file.sha256).hex()

    def get_scan_state(self, row: Attachment) -> str:
        return row.file.scan_state


@exemplified(examples.ENTRY)
class EntryShape(Resource):
    kind_name = "entry"
    thread_id = serializers.UUIDField()
    email_id = serializers.UUIDField(allow_null=True)
    direction = serializers.CharField()
    outbound_kind = serializers.CharField()
    author_kind = serializers.CharField()
    author_label = serializers.CharField()
    subject = serializers.CharField()
    text = serializers.CharField(source="body_text")
    extracted_text = serializers.CharField()
    html = serializers.CharField(source="body_html")
    occurred_at = serializers.DateTimeField()
    delivery_state = serializers.CharField()
    response_time_seconds = serializers.IntegerField(allow_null=True)
    thread_decision = serializers.DictField()
    attachments = AttachmentShape(many=True)
