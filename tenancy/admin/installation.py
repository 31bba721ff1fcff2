"""People of the installation and their attempts to sign in, for those who run it."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.safestring import SafeString

from kernel.admin import columns, marks
from kernel.admin.base import ReadOnlyAdmin, ServiceAdmin
from kernel.admin.deeds import deed
from kernel.admin.place import Place, place_of
from tenancy.models import LoginEvent, Membership, User
from tenancy.services import people, resetting, sessions
from tenancy.types import LoginOutcome


@admin.register(User)
class UserAdmin(ServiceAdmin):
    """People who sign in. They are of the installation; in a workspace only its own members are in sight."""

    view_needs = "member.read"
    list_display = (
        columns.two_lines("name", "email", "person"),
        "is_active",
        "is_staff",
        "is_operator",
        columns.when("last_login", "last seen"),
    )
    list_filter = ("is_active", "is_operator")
    fields = ("name", "email", "timezone", "is_active", "is_staff", "is_operator", "last_login", "created_at")
    actions: ClassVar[Any] = ["sign_out", "new_password", "deactivate", "reactivate"]
    search_fields = ("email__startswith", "name")
    search_help_text = "Name or e-mail"
    ordering = ("email",)
    empty_icon = "manage_accounts"
    empty_title = "Nobody"

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        rows: QuerySet[User] = super().get_queryset(request)
        chosen = place_of(request).workspace_id
        if chosen is None:
            return rows
        of_here = Membership.objects.filter(user=OuterRef("pk"), workspace_id=chosen).exclude(status="removed")
        return rows.filter(Exists(of_here))

    def has_act_permission(self, request: HttpRequest) -> bool:
        """Operators only: a person is of every workspace that they are in."""
        place = getattr(request, "place", None)
        return isinstance(place, Place) and place.is_operator

    @deed("Sign out everywhere")
    def sign_out(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.serve(
                request,
                lambda r=row: sessions.end_all(user=r, why="an operator's wish"),
                done=f"{row} is signed out everywhere.",
            )

    @deed("Link to a new password, shown once")
    def new_password(self, request: HttpRequest, queryset: Any) -> HttpResponse | None:
        """For installations without mail, and for people whose mail does not arrive."""
        if queryset.count() != 1:
            messages.error(request, "Choose one person: the link is shown once, on a page of its own.")
            return None
        row = queryset.get()
        return self.show_once(
            request,
            title=f"A new password for {row}",
            secret=resetting.issue(user=row),
            hint="Hand them this link yourself, and nobody else. It is good once.",
            target=reverse("admin:tenancy_user_changelist"),
        )

    @deed("Deactivate: no sign-in works any more")
    def deactivate(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.serve(request, lambda r=row: people.deactivate(user=r), done=f"{row} is shut out.")

    @deed("Reactivate")
    def reactivate(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.serve(request, lambda r=row: people.reactivate(user=r), done=f"{row} may sign in again.")


@admin.register(LoginEvent)
class LoginEventAdmin(ReadOnlyAdmin):
    """Every attempt to sign in, however it ended; of all workspaces, hence for those who run the installation."""

    list_display = (
        columns.text("email"),
        "ended",
        columns.text("method"),
        columns.text("address", mono=True),
        columns.text("device"),
        columns.when("at", "when"),
    )
    list_filter = ("outcome", "method")
    fields = ("email", "outcome", "method", "is_step_up", "address", "device", "user_agent", "request_id", "at")
    search_fields = ("email__startswith", "address__exact")
    search_help_text = "E-mail or address"
    ordering = ("-at", "-id")
    empty_icon = "login"
    empty_title = "Nobody has tried to sign in"

    def _allowed(self, request: HttpRequest, permission: str) -> bool:
        place = getattr(request, "place", None)
        return isinstance(place, Place) and place.is_operator

    @admin.display(description="outcome")
    def ended(self, row: LoginEvent) -> SafeString:
        tone = "ok" if row.outcome == LoginOutcome.SUCCESS else "bad"
        return marks.chip(row.get_outcome_display().lower(), tone=tone)
