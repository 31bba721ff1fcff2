"""The shapes of the webhook resources, in and out."""

from datetime import timedelta
from typing import Any

from rest_framework import serializers

from kernel import clock
from kernel.api.inputs import FreeForm, Input, Text
from kernel.api.shapes import Owned, exemplified
from webhooks.api import examples
from webhooks.queries import statistics
from webhooks.types import DeliveryStatus, WebhookState


class Constant(serializers.CharField):
    """The `object` of a body: which resource it is."""

    def __init__(self, value: str) -> None:
        super().__init__(default=value, initial=value, help_text=f"Always `{value}`.")


class WebhookChange(Input):
    """What may be changed about a webhook."""

    label = Text(max_length=200, allow_blank=True, required=False)  # type: ignore[assignment]
    url = Text(max_length=2000, required=False)
    slugs = serializers.ListField(child=Text(max_length=80), max_length=100, required=False)
    headers = serializers.DictField(
        child=Text(max_length=2000, allow_blank=True),
        required=False,
        help_text="Further headers of each request. They are not shown again, since they may hold a credential.",
    )
    ordered = serializers.BooleanField(required=False)
    rate_per_second = serializers.IntegerField(min_value=1, max_value=10_000, required=False, allow_null=True)
    custom_metadata = FreeForm(required=False)


class WebhookCreation(WebhookChange):
    """A new webhook."""

    url = Text(max_length=2000)
    slugs = serializers.ListField(child=Text(max_length=80), max_length=100)


class Enabling(Input):
    replay_gap = serializers.BooleanField(
        default=True, help_text="Send what the endpoint missed while it was disabled."
    )


class Replay(Input):
    """Either one delivery, or a range of time."""

    delivery_id = serializers.UUIDField(required=False)
    since = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False, help_text="Default: now.")
    failed_only = serializers.BooleanField(default=False, help_text="Of the range, only events that never arrived.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("delivery_id" in attrs) == ("since" in attrs):
            raise serializers.ValidationError("Give either delivery_id, or since (and until).")
        return attrs


@exemplified(examples.WEBHOOK)
class WebhookShape(Owned):
    kind_name = "webhook"
    label = serializers.CharField()  # type: ignore[assignment]
    url = serializers.CharField()
    slugs = serializers.ListField(child=serializers.CharField())
    header_names = serializers.ListField(child=serializers.CharField())
    ordered = serializers.BooleanField()
    rate_per_second = serializers.IntegerField(allow_null=True)
    state = serializers.ChoiceField(choices=WebhookState.choices)
    disabled_reason = serializers.CharField()
    disabled_at = serializers.DateTimeField(allow_null=True)
    failing_since = serializers.DateTimeField(allow_null=True)
    previous_secret_until = serializers.DateTimeField(allow_null=True)


@exemplified(examples.WEBHOOK_WITH_SECRET)
class WebhookWithSecret(WebhookShape):
    secret = serializers.CharField(help_text="`whsec_…`: keep it now, it is not shown again.")


@exemplified(examples.ENABLED)
class EnabledShape(WebhookShape):
    replayed = serializers.IntegerField(help_text="Deliveries queued for what the endpoint missed.")


@exemplified(examples.REPLAY)
class ReplayShape(serializers.Serializer[Any]):
    object = Constant("webhook_replay")
    webhook_id = serializers.UUIDField()
    deliveries = serializers.IntegerField()


@exemplified(examples.DELIVERY)
class DeliveryShape(Owned):
    kind_name = "webhook_delivery"
    webhook_id = serializers.UUIDField()
    system_event_id = serializers.UUIDField()
    slug = serializers.CharField()
    replay_no = serializers.IntegerField()
    status = serializers.ChoiceField(choices=DeliveryStatus.choices)
    attempts = serializers.IntegerField()
    next_attempt_at = serializers.DateTimeField(allow_null=True)
    last_status_code = serializers.IntegerField(allow_null=True)
    last_error = serializers.CharField()
    delivered_at = serializers.DateTimeField(allow_null=True)


class AttemptShape(serializers.Serializer[Any]):
    object = Constant("webhook_attempt")
    number = serializers.IntegerField()
    at = serializers.DateTimeField()
    duration_ms = serializers.IntegerField()
    status_code = serializers.IntegerField(allow_null=True)
    error = serializers.CharField()


@exemplified(examples.DELIVERY_DETAIL)
class DeliveryDetail(DeliveryShape):
    attempt_log = AttemptShape(many=True)


@exemplified(examples.EVENT)
class EventShape(Owned):
    kind_name = "system_event"
    slug = serializers.CharField()
    version = serializers.IntegerField()
    occurred_at = serializers.DateTimeField()
    data = serializers.DictField()  # type: ignore[assignment]


@exemplified(examples.EVENT_TYPE)
class EventTypeShape(serializers.Serializer[Any]):
    object = Constant("event_type")
    slug = serializers.CharField()
    version = serializers.IntegerField()
    description = serializers.CharField()
    schema = serializers.DictField(help_text="JSON Schema of a delivery's body.")


class Span(serializers.Serializer[Any]):
    """A span of time: the last day, or the day before `until`, unless `since` is given."""

    since = serializers.DateTimeField(required=False, help_text="A day before `until`, if not given.")
    until = serializers.DateTimeField(required=False, help_text="Now, if not given.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        until = attrs.get("until") or clock.now()
        try:
            since = attrs.get("since") or until - timedelta(days=1)
        except OverflowError as error:
            raise serializers.ValidationError({"until": "Give a time that has a day before it."}) from error
        if not timedelta(0) < until - since <= statistics.LONGEST:
            raise serializers.ValidationError(
                {"since": f"`since` must be before `until`, by at most {statistics.LONGEST.days} days."}
            )
        return {"since": since, "until": until}


class DeliveryCounts(serializers.Serializer[Any]):
    """Deliveries by status."""

    pending = serializers.IntegerField()
    delivered = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()


class Percentiles(serializers.Serializer[Any]):
    """Of times in milliseconds."""

    p50 = serializers.IntegerField()
    p95 = serializers.IntegerField()


class WaitingShape(serializers.Serializer[Any]):
    """What is still to be delivered, of whatever time."""

    count = serializers.IntegerField()
    oldest_created_at = serializers.DateTimeField(allow_null=True)


class StatisticsStep(serializers.Serializer[Any]):
    """The deliveries that were made in one hour or day."""

    at = serializers.DateTimeField()
    delivered = serializers.IntegerField()
    failed = serializers.IntegerField()
    pending = serializers.IntegerField()


@exemplified(examples.STATISTICS)
class StatisticsShape(serializers.Serializer[Any]):
    """How an endpoint does."""

    object = Constant("webhook_statistics")
    webhook_id = serializers.UUIDField()
    since = serializers.DateTimeField()
    until = serializers.DateTimeField()
    deliveries = DeliveryCounts()
    success_rate = serializers.FloatField(allow_null=True, help_text="Delivered of those that ended.")
    attempts = serializers.IntegerField()
    delay_ms = Percentiles(allow_null=True, help_text="From the event to the delivery.")
    duration_ms = Percentiles(allow_null=True, help_text="Of single attempts.")
    waiting = WaitingShape()
    resolution = serializers.ChoiceField(["hour", "day"], help_text="Of the series.")
    series = StatisticsStep(many=True)
