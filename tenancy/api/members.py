"""Members, invitations and roles over HTTP. Sessions are of people, and only they see and end them, in the console."""

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from kernel.api.inputs import Input
from kernel.api.listings import Listing
from kernel.api.shapes import Resource, exemplified, listing
from kernel.api.views import WorkspaceViewSet
from tenancy.api import examples, filters
from tenancy.models import Invitation, Membership
from tenancy.queries import members as queries
from tenancy.services import inviting, leaving, members
from tenancy.types import InvitationState, MailState, MembershipStatus

READ, MANAGE = "member.read", "member.manage"


class RoleName(serializers.Serializer[Any]):
    """A role that somebody holds."""

    id = serializers.UUIDField(source="role_id")
    name = serializers.CharField(source="role.name")


class InviterShape(serializers.Serializer[Any]):
    """Who invited somebody, as it was then."""

    kind = serializers.CharField(source="invited_by_kind")
    id = serializers.CharField(source="invited_by_id")
    label = serializers.CharField(source="invited_by_label")  # type: ignore[assignment]


@exemplified(examples.MEMBER)
class MemberShape(Resource):
    kind_name = "member"
    user_id = serializers.UUIDField()
    email = serializers.EmailField(source="user.email")
    name = serializers.CharField(source="user.name")
    status = serializers.ChoiceField(choices=[MembershipStatus.ACTIVE, MembershipStatus.SUSPENDED])
    roles = RoleName(many=True, source="role_links")
    invited_by = serializers.CharField()
    accepted_at = serializers.DateTimeField(allow_null=True)
    suspended_at = serializers.DateTimeField(allow_null=True)


@exemplified(examples.INVITATION)
class InvitationShape(Resource):
    kind_name = "invitation"
    email = serializers.EmailField()
    state = serializers.ChoiceField(choices=InvitationState.choices)
    roles = RoleName(many=True, source="role_links")
    invited_by = InviterShape(source="*")
    mail_state = serializers.ChoiceField(
        choices=MailState.choices, help_text="Of the letter with the link; `none` where no mail is configured."
    )
    expires_at = serializers.DateTimeField()
    accepted_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)


@exemplified(examples.INVITATION_WITH_LINK)
class InvitationWithLink(InvitationShape):
    link = serializers.SerializerMethodField(
        help_text="Where no mail is configured: hand it to the person yourself, it is not shown again. Else empty."
    )

    def get_link(self, _row: Any) -> str:
        return str(self.context.get("link", ""))


def _roles(**options: Any) -> serializers.ListField:
    return serializers.ListField(
        child=serializers.UUIDField(),
        min_length=1,
        max_length=50,
        help_text="Ids of roles. None that may more than you do.",
        **options,
    )


class MemberChange(Input):
    roles = _roles()


class Leaving(Input):
    keep_credentials = serializers.BooleanField(
        default=False,
        help_text="Machine keys and client certificates that the member issued, and those that these issued, go on. Else"
        " they are revoked for good. Open invitations of the member are taken back in any case.",
    )


class InvitationCreation(Input):
    email = serializers.EmailField(max_length=254)
    roles = _roles()


def _asked(name: str, value: dict[str, Any]) -> list[OpenApiExample]:
    return [OpenApiExample(name, value, request_only=True)]


@extend_schema(tags=["members"])
@extend_schema_view(
    list=extend_schema(responses=listing(MemberShape, "Member")),
    retrieve=extend_schema(responses=MemberShape),
    partial_update=extend_schema(
        request=MemberChange,
        responses=MemberShape,
        examples=_asked("an agent", {"roles": [examples.ROLE["id"]]}),
    ),
    destroy=extend_schema(responses={204: None}),
)
class MemberViewSet(WorkspaceViewSet):
    """People who belong to the workspace. Nobody changes somebody who may more than they do."""

    listings: ClassVar = {"list": Listing(filters=filters.MemberFilters, sorts=("created_at", "updated_at"))}
    queries: ClassVar = {"destroy": Leaving}
    queryset = Membership.unfenced.none()
    serializer_class = MemberShape
    permissions: ClassVar = {
        "list": READ,
        "retrieve": READ,
        "partial_update": MANAGE,
        "destroy": MANAGE,
        "suspend": MANAGE,
        "reactivate": MANAGE,
    }

    def list(self, request: Request) -> Response:
        """The members of the workspace, suspended ones included, newest first."""
        return self.listed(queries.members(), _member)

    def retrieve(self, request: Request, pk: str) -> Response:
        """One member."""
        return Response(_member(queries.member(UUID(pk))))

    def partial_update(self, request: Request, pk: str) -> Response:
        """Give a member other roles: exactly these."""
        fields = self.checked(MemberChange)
        members.give_roles(**self._named(pk), role_ids=fields["roles"])
        return Response(_member(queries.member(UUID(pk))))

    def destroy(self, request: Request, pk: str) -> Response:
        """Remove a member, and revoke what they issued. A new invitation lets them in again."""
        leaving.remove(**self._named(pk), **self.asked())
        return Response(status=204)

    @extend_schema(request=Leaving, responses=MemberShape, examples=_asked("a holiday", {"keep_credentials": True}))
    @action(detail=True, methods=["post"])
    def suspend(self, request: Request, pk: str) -> Response:
        """Shut a member out, with effect at their next request, until they are reactivated; and revoke what they issued."""
        leaving.suspend(**self._named(pk), **self.checked(Leaving))
        return Response(_member(queries.member(UUID(pk))))

    @extend_schema(request=None, responses=MemberShape)
    @action(detail=True, methods=["post"])
    def reactivate(self, request: Request, pk: str) -> Response:
        """Let a suspended member in again, with the roles that they had."""
        members.reactivate(**self._named(pk))
        return Response(_member(queries.member(UUID(pk))))

    def _named(self, pk: str) -> dict[str, Any]:
        who = self.principal
        return {"workspace_id": who.workspace_id, "membership_id": UUID(pk), "may": who.permissions}


@extend_schema(tags=["invitations"])
@extend_schema_view(
    list=extend_schema(responses=listing(InvitationShape, "Invitation")),
    retrieve=extend_schema(responses=InvitationShape),
    create=extend_schema(
        request=InvitationCreation,
        responses={201: InvitationWithLink},
        examples=_asked("an agent", {"email": "noor@example.com", "roles": [examples.ROLE["id"]]}),
    ),
)
class InvitationViewSet(WorkspaceViewSet):
    """Who may join the workspace, with which roles, and what became of that."""

    listings: ClassVar = {"list": Listing(filters=filters.InvitationFilters)}
    queryset = Invitation.unfenced.none()
    serializer_class = InvitationShape
    permissions: ClassVar = {"list": READ, "retrieve": READ, "create": MANAGE, "resend": MANAGE, "revoke": MANAGE}

    def list(self, request: Request) -> Response:
        """The invitations of the workspace, newest first."""
        return self.listed(queries.invitations(), _invitation)

    def retrieve(self, request: Request, pk: str) -> Response:
        """One invitation."""
        return Response(_invitation(queries.invitation(UUID(pk))))

    def create(self, request: Request) -> Response:
        """Invite somebody. Nobody gives more than they have."""
        fields, who = self.checked(InvitationCreation), self.principal
        row, link = inviting.invite(
            workspace_id=who.workspace_id, email=fields["email"], role_ids=fields["roles"], may=who.permissions
        )
        return Response(_with_link(row, link), status=201)

    @extend_schema(request=None, responses=InvitationWithLink)
    @action(detail=True, methods=["post"])
    def resend(self, request: Request, pk: str) -> Response:
        """Send a new link, good for as long as a new invitation; the one before is dead."""
        who = self.principal
        row, link = inviting.resend(workspace_id=who.workspace_id, invitation_id=UUID(pk), may=who.permissions)
        return Response(_with_link(row, link))

    @extend_schema(request=None, responses=InvitationShape)
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str) -> Response:
        """Take an invitation back: its link is dead at once."""
        row = inviting.revoke(workspace_id=self.principal.workspace_id, invitation_id=UUID(pk))
        return Response(_invitation(row))


def _member(row: Membership) -> dict[str, Any]:
    return MemberShape.show(row)


def _invitation(row: Invitation) -> dict[str, Any]:
    return InvitationShape.show(row)


def _with_link(row: Invitation, link: str) -> dict[str, Any]:
    return dict(InvitationWithLink(row, context={"link": link}).data)
