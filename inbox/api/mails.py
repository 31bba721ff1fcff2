"""A mail handed in as fields. What a mail could not carry unchanged is refused, not cleaned."""

import re
from typing import Any

from rest_framework import serializers

from inbox.api import examples
from inbox.mime import sanitise
from kernel.api.inputs import FreeForm, Input, Text
from kernel.api.shapes import exemplified

# The characters of a Message-ID that no server on its way changes (RFC 5322 §3.6.4, without quoted forms).
_MESSAGE_ID = re.compile(r"<?[A-Za-z0-9!#$%&'*+/=?^_`{|}~.:\[\]@-]{1,900}>?")
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,99}")


class OneLine(Text):
    """Text that stands in a header."""

    default_error_messages = {
        "line": "This must be one line, without control characters, directional overrides or white space at its ends."
    }

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if self.kept(text) != text:
            self.fail("line")
        return text

    def kept(self, text: str) -> str:
        return sanitise.header_text(text)


class Name(OneLine):
    """A display name, where a control of direction can only disguise."""

    default_error_messages = {"line": "A name is one line, without control characters or controls of direction."}

    def kept(self, text: str) -> str:
        return sanitise.name_text(text)


class MessageId(Text):
    default_error_messages = {"id": "This must be a Message-ID such as 17@example.com, of visible ASCII."}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if text and not _MESSAGE_ID.fullmatch(text):
            self.fail("id")
        return text


class Body(Text):
    default_error_messages = {"control": "A mail's text has no control characters but tabs and line ends."}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if sanitise.body_text(text) != text.replace("\r\n", "\n"):
            self.fail("control")
        return text


class EmailChange(Input):
    """A received mail is a record; what an integrator notes on it is theirs."""

    custom_metadata = FreeForm(required=False)


class Correspondent(Input):
    name = Name(required=False, allow_blank=True, default="", max_length=200)
    address = serializers.EmailField(max_length=320, trim_whitespace=False)


class EmailInput(Input):
    """A mail as fields. A raw one is posted as `message/rfc822` instead."""

    to: Any = serializers.ListSerializer(child=Correspondent(), min_length=1, max_length=50)
    cc: Any = serializers.ListSerializer(child=Correspondent(), required=False, default=list, max_length=50)
    subject = OneLine(required=False, allow_blank=True, default="", max_length=2000)
    text = Body(required=False, allow_blank=True, default="")
    html = Body(required=False, allow_blank=True, default="")
    message_id = MessageId(required=False, allow_blank=True, default="", max_length=900)
    in_reply_to = MessageId(required=False, allow_blank=True, default="", max_length=900)
    references = serializers.ListField(child=MessageId(max_length=900), required=False, default=list, max_length=50)
    headers = serializers.DictField(child=OneLine(max_length=2000), required=False, default=dict)
    custom_metadata = FreeForm(required=False, default=dict)

    def get_fields(self) -> dict[str, Any]:
        # `from` is a Python keyword, so the field cannot be a class attribute.
        return {"from": Correspondent(), **super().get_fields()}

    def validate_headers(self, given: dict[str, str]) -> dict[str, str]:
        bad = [name for name in given if not _HEADER.fullmatch(name)]
        if bad:
            raise serializers.ValidationError(dict.fromkeys(bad, "This is not the name of a header."))
        return given


class Reparsing(Input):
    dry_run = serializers.BooleanField(
        required=False, default=False, help_text="Say what would change, change nothing."
    )


class ReparseChange(serializers.Serializer[Any]):
    """One field that the present reader reads otherwise; long texts are cut."""

    field = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()


@exemplified(examples.REPARSED)
class ReparsedShape(serializers.Serializer[Any]):
    object = serializers.CharField()
    email_id = serializers.UUIDField()
    applied = serializers.BooleanField()
    changes = ReparseChange(many=True)
