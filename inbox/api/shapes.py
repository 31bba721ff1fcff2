"""Input and output shapes of the inbox API. Input never goes through a model serializer (style rule 2)."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from inbox import policy as policies
from inbox.api import examples
from inbox.mime.danger import is_dangerous
from inbox.models import Attachment, Email, Inbox
from inbox.services.addressing import MAX_ALIASES
from inbox.types import Channel, Confidence, DeliveryState, EmailState, MailClass, Rule, ThreadStatus
from kernel.api.inputs import FreeForm, Input, Text
from kernel.api.shapes import Owned, Resource, exemplified


class AddressShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    address = serializers.CharField()


_CATCH_ALL = "Take what the domain of the address gets and no other inbox takes."


class Aliases(serializers.ListField):
    """Further addresses; what is left out of a change is taken away."""

    def __init__(self, **options: Any) -> None:
        super().__init__(child=Text(max_length=320), max_length=MAX_ALIASES, **options)


class ThreadUpdate(Input):
    status = serializers.ChoiceField(
        choices=[value for value in ThreadStatus.values if value != ThreadStatus.SNOOZED],
        required=False,
        help_text="To snooze it, give snoozed_until instead.",
    )
    snoozed_until = serializers.DateTimeField(
        required=False, help_text="It comes back at this time, or with the next mail of a person."
    )
    assignee_id = serializers.UUIDField(required=False, allow_null=True, help_text="A membership, or null.")

    def validate(self, attrs: Any) -> Any:
        if "status" in attrs and "snoozed_until" in attrs:
            raise serializers.ValidationError({"status": "Give a status or a time until which it rests, not both."})
        return attrs


class InboxChange(Input):
    name = Text(required=False, allow_blank=True, max_length=200)
    agent_id = serializers.UUIDField(required=False, allow_null=True)
    policy = serializers.DictField(required=False, help_text="Replaces the whole policy; what is left out is default.")
    active = serializers.BooleanField(required=False)
    aliases = Aliases(required=False)
    catch_all = serializers.BooleanField(required=False, help_text=_CATCH_ALL)
    custom_metadata = FreeForm(required=False)


class InboxInput(Input):
    address = Text(max_length=320)
    name = Text(required=False, allow_blank=True, default="", max_length=200)
    external_id = serializers.UUIDField(required=False)
    agent_id = serializers.UUIDField(required=False, allow_null=True)
    policy = serializers.DictField(required=False)
    aliases = Aliases(required=False)
    catch_all = serializers.BooleanField(required=False, default=False, help_text=_CATCH_ALL)
    custom_metadata = FreeForm(required=False)


@exemplified(examples.INBOX)
class InboxShape(Owned):
    kind_name = "inbox"
    external_id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=Channel.choices)
    address = serializers.CharField()
    name = serializers.CharField()
    agent_id = serializers.UUIDField(allow_null=True)
    policy = serializers.SerializerMethodField(help_text="Every key of the present version.")
    policy_version = serializers.IntegerField(help_text="Rises with each change of the policy.")
    active = serializers.BooleanField()
    aliases = serializers.SerializerMethodField(help_text="Further addresses.")
    catch_all = serializers.SerializerMethodField(help_text=_CATCH_ALL)

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_aliases(self, row: Inbox) -> list[str]:
        return sorted(one.address for one in row.addresses.all() if not one.address.startswith("*@"))

    def get_catch_all(self, row: Inbox) -> bool:
        return any(one.address.startswith("*@") for one in row.addresses.all())

    @extend_schema_field(serializers.DictField())
    def get_policy(self, row: Inbox) -> dict[str, Any]:
        return policies.shown(row.policy)


@exemplified(examples.EMAIL)
class EmailShape(Owned):
    kind_name = "email"
    inbox_id = serializers.UUIDField()
    message_id = serializers.CharField(help_text="The provider's id; what makes redelivery harmless.")
    state = serializers.ChoiceField(choices=EmailState.choices)
    state_reason = serializers.CharField()
    mail_class = serializers.ChoiceField(choices=MailClass.choices)
    may_auto_answer = serializers.BooleanField()
    subject = serializers.CharField()
    from_name = serializers.CharField()
    from_address = serializers.CharField()
    reply_to = AddressShape(many=True)
    to = AddressShape(many=True)
    cc = AddressShape(many=True)
    date = serializers.DateTimeField(allow_null=True)
    rfc_message_id = serializers.CharField()
    in_reply_to = serializers.ListField(child=serializers.CharField())
    references = serializers.ListField(child=serializers.CharField())
    warnings = serializers.ListField(child=serializers.CharField())
    received_at = serializers.DateTimeField()
    thread_id = serializers.SerializerMethodField()
    text = serializers.SerializerMethodField(help_text="What the sender wrote, without quotes and signature.")

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
    merged_into_id = serializers.UUIDField(allow_null=True, help_text="The thread that its entries went into.")
    subject = serializers.CharField()
    status = serializers.ChoiceField(choices=ThreadStatus.choices)
    snoozed_until = serializers.DateTimeField(allow_null=True)
    assignee_id = serializers.UUIDField(allow_null=True, help_text="The membership of whoever takes care of it.")
    first_unanswered_inbound_at = serializers.DateTimeField(allow_null=True)
    last_entry_at = serializers.DateTimeField()
    entry_count = serializers.IntegerField()
    preview = serializers.CharField()


@exemplified(examples.ATTACHMENT)
class AttachmentShape(Owned):
    kind_name = "attachment"
    entry_id = serializers.UUIDField()
    email_id = serializers.UUIDField(allow_null=True)
    position = serializers.IntegerField()
    filename = serializers.CharField()
    content_type = serializers.CharField(help_text="As the sender declared it.")
    sniffed_type = serializers.SerializerMethodField(help_text="What the first bytes say.")
    dangerous = serializers.SerializerMethodField(help_text="Opening it could run something.")
    size = serializers.SerializerMethodField()
    sha256 = serializers.SerializerMethodField()
    scan_state = serializers.SerializerMethodField(
        help_text="none (there is no scanner), pending, clean, infected or failed. Only none and clean are handed out."
    )
    scan_reason = serializers.SerializerMethodField(help_text="What was found, or why it could not be scanned.")
    inline = serializers.BooleanField()
    content_id = serializers.CharField()

    def get_sniffed_type(self, row: Attachment) -> str:
        return row.file.mime_sniffed

    def get_dangerous(self, row: Attachment) -> bool:
        return is_dangerous(filename=row.filename, declared=row.content_type, sniffed=row.file.mime_sniffed)

    def get_size(self, row: Attachment) -> int:
        return row.file.size

    def get_sha256(self, row: Attachment) -> str:
        return bytes(row.file.sha256).hex()

    def get_scan_state(self, row: Attachment) -> str:
        return row.file.scan_state

    def get_scan_reason(self, row: Attachment) -> str:
        return row.file.scan_reason


class RecipientShape(serializers.Serializer[Any]):
    """How far an outgoing entry came at one recipient, as the provider reports it."""

    id = serializers.UUIDField()
    address = serializers.CharField()
    state = serializers.ChoiceField(choices=DeliveryState.choices)
    status_code = serializers.CharField(help_text="RFC 3463, such as 5.1.1; empty when it is not known.")
    diagnostic = serializers.CharField(help_text="The other mail server's words.")
    at = serializers.DateTimeField()


class PlacementShape(serializers.Serializer[Any]):
    """The rule that put an entry into its thread, what it went by, and how sure that is."""

    rule = serializers.ChoiceField(choices=Rule.choices, allow_blank=True, default="")
    confidence = serializers.ChoiceField(choices=Confidence.choices, allow_blank=True, default="")
    evidence = serializers.DictField(default=dict)


@exemplified(examples.ENTRY)
class EntryShape(Resource):
    # Of entries as `queries.conversations.with_belongings` gives them.
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
    recipients = RecipientShape(many=True, source="shown_recipients")
    response_time_seconds = serializers.IntegerField(allow_null=True)
    thread_decision = PlacementShape(help_text="Why the entry is in its thread.")
    attachments = AttachmentShape(many=True, source="shown_attachments")
