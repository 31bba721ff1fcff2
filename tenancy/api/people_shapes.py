"""The shapes of roles, teams, the emergency stop and a workspace's settings, in and out."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from kernel.api.inputs import Input, Text
from kernel.api.shapes import Resource, exemplified
from tenancy import settings
from tenancy.api import examples
from tenancy.models import Role, Team, WorkspaceControlState
from tenancy.queries import roles


def _ids(**options: Any) -> serializers.ListField:
    return serializers.ListField(child=serializers.UUIDField(), max_length=500, **options)


def _permissions(**options: Any) -> serializers.ListField:
    return serializers.ListField(
        child=serializers.CharField(max_length=60),
        max_length=100,
        help_text="Permission names; `*` and `family.*` stand for sets. None that you do not have yourself.",
        **options,
    )


class RoleCreation(Input):
    name = Text(max_length=60)
    description = Text(max_length=200, required=False, allow_blank=True, default="")
    permissions = _permissions()


class RoleChange(Input):
    name = Text(max_length=60, required=False)
    description = Text(max_length=200, required=False, allow_blank=True)
    permissions = _permissions(required=False)


class RoleHolder(Input):
    membership_id = serializers.UUIDField()


@exemplified(examples.ROLE)
class RoleShape(Resource):
    kind_name = "role"
    name = serializers.CharField()
    description = serializers.CharField()
    is_system = serializers.BooleanField(help_text="Of every workspace, and read-only.")
    permissions = serializers.SerializerMethodField()
    membership_ids = serializers.SerializerMethodField(help_text="The members who hold it.")

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_permissions(self, row: Role) -> list[str]:
        return roles.grants_of(row)

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_membership_ids(self, row: Role) -> list[Any]:
        return [link.membership_id for link in row.member_links.all()]


@exemplified(examples.ROLE_LINK)
class RoleLinkShape(serializers.Serializer[Any]):
    object = serializers.CharField()
    role_id = serializers.UUIDField()
    membership_id = serializers.UUIDField()


class TeamCreation(Input):
    name = Text(max_length=60)
    membership_ids = _ids(required=False, default=list)
    inbox_ids = _ids(required=False, default=list)


class TeamChange(Input):
    name = Text(max_length=60, required=False)
    membership_ids = _ids(required=False, help_text="Takes the place of those that were there.")
    inbox_ids = _ids(required=False, help_text="Takes the place of those that were there.")


@exemplified(examples.TEAM)
class TeamShape(Resource):
    kind_name = "team"
    name = serializers.CharField()
    membership_ids = serializers.SerializerMethodField()
    inbox_ids = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_membership_ids(self, row: Team) -> list[Any]:
        return [link.membership_id for link in row.member_links.all()]

    @extend_schema_field(serializers.ListField(child=serializers.UUIDField()))
    def get_inbox_ids(self, row: Team) -> list[Any]:
        return [link.inbox_id for link in row.inbox_links.all()]


class StopInput(Input):
    reason = Text(max_length=500, help_text="Why. People read it on every page until the release.")


class ChangedBy(serializers.Serializer[Any]):
    kind = serializers.CharField(source="actor_kind")
    id = serializers.CharField(source="actor_id")
    label = serializers.CharField(source="actor_label")  # type: ignore[assignment]


@exemplified(examples.STOP)
class StopShape(serializers.Serializer[Any]):
    object = serializers.SerializerMethodField()
    stopped = serializers.BooleanField()
    generation = serializers.IntegerField(
        help_text="Rises at each stop and each release. What was claimed before does nothing any more."
    )
    reason = serializers.CharField(help_text="What was said at the last stop or release.")
    changed_by = ChangedBy(source="*")
    changed_at = serializers.DateTimeField(allow_null=True)

    def get_object(self, _row: WorkspaceControlState) -> str:
        return "emergency_stop"


class SettingsChange(Input):
    members_see_team_inboxes_only = serializers.BooleanField(
        required=False, help_text=settings.KNOWN["members_see_team_inboxes_only"][1]
    )
    stop_spares_webhooks = serializers.BooleanField(required=False, help_text=settings.KNOWN["stop_spares_webhooks"][1])


@exemplified(examples.SETTINGS)
class SettingsShape(serializers.Serializer[Any]):
    object = serializers.SerializerMethodField()
    members_see_team_inboxes_only = serializers.BooleanField()
    stop_spares_webhooks = serializers.BooleanField()

    def get_object(self, _row: Any) -> str:
        return "workspace_settings"
