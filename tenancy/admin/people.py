"""Members of the workspace and who is invited to it."""

from functools import partial
from typing import Any, ClassVar

from django import forms
from django.apps import apps
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from kernel.admin import columns, marks
from kernel.admin.base import ServiceAdmin
from kernel.admin.deeds import deed
from kernel.admin.forms import ServiceForm
from kernel.admin.place import place_of
from tenancy.models import Invitation, Membership, Role
from tenancy.services import inviting, leaving, members
from tenancy.types import InvitationState, MembershipStatus

# Django's groups mean nothing here: roles of a workspace grant permissions. And the rows of the sign-in library are for
# nobody's eyes: what people see of theirs is on their own page.
_STRANGE: list[type[Model]] = [
    Group,
    *(model for name in ("account", "mfa", "socialaccount") for model in apps.get_app_config(name).get_models()),
]
admin.site.unregister([model for model in _STRANGE if admin.site.is_registered(model)])

_TONES = {
    InvitationState.OPEN: "warn",
    InvitationState.ACCEPTED: "ok",
    InvitationState.EXPIRED: "mute",
    InvitationState.REVOKED: "mute",
}


class RolesForm(ServiceForm):
    """Roles to tick. Nobody gives more than they have; the service says so at the field."""

    roles = forms.ModelMultipleChoiceField(
        queryset=Role.unfenced.none(), widget=UnfoldAdminCheckboxSelectMultipleWidget, help_text="What they may do."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields.get("roles")
        if isinstance(field, forms.ModelMultipleChoiceField):
            field.queryset = Role.objects.order_by("name")
            held = getattr(self.instance, "role_links", None) if self.instance.pk else None
            self.initial["roles"] = list(held.values_list("role_id", flat=True)) if held is not None else []


class MemberForm(RolesForm):
    class Meta:
        model = Membership
        fields: ClassVar[tuple[str, ...]] = ()


class InvitationForm(RolesForm):
    class Meta:
        model = Invitation
        fields = ("email",)


class WithRoles(ServiceAdmin):
    """What lists of members and of invitations have in common."""

    view_needs = "member.read"
    act_needs = "member.manage"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).prefetch_related("role_links__role")

    @admin.display(description="roles")
    def held(self, row: Membership | Invitation) -> str:
        return ", ".join(sorted(link.role.name for link in row.role_links.all())) or "–"


@admin.register(Membership)
class MembershipAdmin(WithRoles):
    """Who belongs to the workspace, and with which roles. New ones come by invitation."""

    change_needs = "member.manage"
    form = MemberForm
    list_display = (
        columns.two_lines("user", "user__email", "person"),
        "held",
        columns.state("status"),
        columns.when("accepted_at", "since"),
        columns.text("invited_by", "invited by"),
    )
    list_filter = ("status",)
    fields: Any = ("user", "status", "invited_by", "accepted_at", "roles")
    readonly_fields = ("user", "status", "invited_by", "accepted_at")
    actions: ClassVar[Any] = ["suspend", "suspend_only", "reactivate", "remove", "remove_only"]
    search_fields = ("user__email__startswith", "user__name")
    search_help_text = "Name or e-mail"
    ordering = ("created_at", "id")
    list_select_related = ("user",)
    empty_icon = "group"
    empty_title = "No members"
    empty_text = "Members are the people who may work here. Invite somebody."

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """With the way to the form that brings a member, for those who may fill it in."""
        found: dict[str, Any] = {}
        if self.admin_site.get_model_admin(Invitation).has_add_permission(request):
            found["door"] = {
                "title": "Invite somebody",
                "icon": "person_add",
                "url": reverse("admin:tenancy_invitation_add"),
            }
        return super().changelist_view(request, found | (extra_context or {}))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        rows: QuerySet[Membership] = super().get_queryset(request)
        return rows.exclude(status=MembershipStatus.REMOVED)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Who may only look sees the roles by name."""
        return self.fields if self.has_change_permission(request, obj) else (*self.readonly_fields, "held")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*self.readonly_fields, "held")

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> Membership:
        return members.give_roles(
            workspace_id=workspace_id,
            membership_id=obj.id,
            role_ids=[role.id for role in values["roles"]],
            may=place_of(request).permissions,
        )

    @deed("Suspend, and revoke the keys and certificates that they issued")
    def suspend(self, request: HttpRequest, queryset: Any) -> None:
        self._each(request, queryset, leaving.suspend, "{} is suspended, and what they had issued is revoked.")

    @deed("Suspend, and keep the keys and certificates that they issued")
    def suspend_only(self, request: HttpRequest, queryset: Any) -> None:
        self._each(request, queryset, partial(leaving.suspend, keep_credentials=True), "{} is suspended.")

    @deed("Reactivate")
    def reactivate(self, request: HttpRequest, queryset: Any) -> None:
        self._each(request, queryset, members.reactivate, "{} is let in again.")

    @deed("Remove, and revoke the keys and certificates that they issued")
    def remove(self, request: HttpRequest, queryset: Any) -> None:
        self._each(request, queryset, leaving.remove, "{} is no longer a member, and what they had issued is revoked.")

    @deed("Remove, and keep the keys and certificates that they issued")
    def remove_only(self, request: HttpRequest, queryset: Any) -> None:
        self._each(request, queryset, partial(leaving.remove, keep_credentials=True), "{} is no longer a member.")

    def _each(self, request: HttpRequest, queryset: Any, work: Any, done: str) -> None:
        may = place_of(request).permissions
        for row in queryset:
            self.serve(
                request,
                lambda r=row: work(workspace_id=r.workspace_id, membership_id=r.id, may=may),
                done=done.format(row),
            )


@admin.register(Invitation)
class InvitationAdmin(WithRoles):
    """Who may join, and what became of that."""

    add_needs = "member.manage"
    form = InvitationForm
    fields = ("email", "roles")
    list_display = (
        columns.text("email"),
        "held",
        "standing",
        "letter",
        columns.when("expires_at", "good until"),
        columns.text("invited_by_label", "invited by"),
        columns.when("created_at", "made"),
    )
    actions: ClassVar[Any] = ["resend", "revoke"]
    search_fields = ("email__startswith",)
    search_help_text = "E-mail"
    ordering = ("-created_at", "-id")
    empty_icon = "group_add"
    empty_title = "Nobody is invited"
    empty_text = "Invite somebody by e-mail address, with the roles that they shall have."

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("email", "held", "standing", "letter", "expires_at", "created_at") if obj else self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.get_fields(request, obj) if obj else ()

    @admin.display(description="state")
    def standing(self, row: Invitation) -> SafeString:
        return marks.chip(row.state, tone=_TONES[InvitationState(row.state)])

    @admin.display(description="letter")
    def letter(self, row: Invitation) -> str:
        return f"{row.get_mail_state_display()}: {row.mail_error}" if row.mail_error else row.get_mail_state_display()

    def write(self, request: HttpRequest, obj: Any, values: dict[str, Any], workspace_id: Any) -> Invitation:
        row, link = inviting.invite(
            workspace_id=workspace_id,
            email=values["email"],
            role_ids=[role.id for role in values["roles"]],
            may=place_of(request).permissions,
        )
        request._invitation_link = link  # type: ignore[attr-defined]  # noqa: SLF001 - for this answer only
        return row

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
        link = getattr(request, "_invitation_link", "")
        if link:
            return self._show(request, obj, link)
        messages.success(request, f"An invitation is on its way to {obj.email}.")
        return HttpResponseRedirect(reverse("admin:tenancy_invitation_changelist"))

    @deed("Send again: a new link, the one before is dead")
    def resend(self, request: HttpRequest, queryset: Any) -> HttpResponse | None:
        """One at a time: without mail its link is shown once, on a page of its own."""
        if queryset.count() != 1:
            messages.error(request, "Choose one invitation.")
            return None
        row, may = queryset.get(), place_of(request).permissions
        made = self.serve(
            request, lambda: inviting.resend(workspace_id=row.workspace_id, invitation_id=row.id, may=may)
        )
        if made and made[1]:
            return self._show(request, *made)
        if made:
            messages.success(request, f"An invitation is on its way to {row.email}.")
        return None

    @deed("Take back")
    def revoke(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.serve(
                request,
                lambda r=row: inviting.revoke(workspace_id=r.workspace_id, invitation_id=r.id),
                done=f"{row.email} can no longer join by it.",
            )

    def _show(self, request: HttpRequest, row: Any, link: str) -> HttpResponse:
        return self.show_once(
            request,
            title=f"The invitation of {row.email}",
            secret=link,
            hint="No mail to staff is configured here (STAFF_MAIL_FROM). Hand them this link yourself, and nobody else.",
            target=reverse("admin:tenancy_invitation_changelist"),
        )
