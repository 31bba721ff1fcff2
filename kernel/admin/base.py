"""What every page of the console keeps to: rows of the chosen workspace, permissions of roles, writes by services only."""

from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import messages
from django.core.exceptions import FieldDoesNotExist, PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.admin import ModelAdmin

from kernel import context
from kernel.admin.forms import ServiceForm
from kernel.admin.lists import OfferedChangeList
from kernel.admin.paging import InfinitePaginator
from kernel.admin.place import Place, place_of
from kernel.errors import DomainError, Forbidden


class ConsoleAdmin(ModelAdmin):
    """Base of all. Viewing needs a permission of the person's roles; adding and changing need one too, or are off."""

    view_needs: ClassVar[str] = "*"
    add_needs: ClassVar[str] = ""
    change_needs: ClassVar[str] = ""
    act_needs: ClassVar[str] = ""

    paginator = InfinitePaginator
    show_full_result_count = False
    list_per_page = 50
    # One order each, the one that an index has: sorting a long table by another column would read all of it.
    sortable_by: ClassVar[Any] = ()
    list_max_show_all = 0
    list_disable_select_all = True
    list_fullwidth = True
    list_filter_sheet = True
    list_filter_submit = True
    actions_on_top = True
    compressed_fields = True
    change_form_show_cancel_button = True
    empty_value_display = "–"
    # For the empty page: what it is for and what to do next.
    empty_icon: ClassVar[str] = "inbox"
    empty_title: ClassVar[str] = "Nothing here yet"
    empty_text: ClassVar[str] = ""
    change_list_template = "console/list.html"
    change_form_template = "console/form.html"

    def _allowed(self, request: HttpRequest, permission: str) -> bool:
        place = getattr(request, "place", None)
        return bool(permission) and isinstance(place, Place) and place.allows(permission)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._allowed(request, self.view_needs)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._allowed(request, self.view_needs)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A new row belongs to one workspace, so one must be chosen."""
        return self._allowed(request, self.add_needs) and place_of(request).workspace is not None

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._allowed(request, self.change_needs)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Rows end by services, never by the console's own delete."""
        return False

    def has_act_permission(self, request: HttpRequest) -> bool:
        """For bulk actions: `permissions=["act"]`."""
        return self._allowed(request, self.act_needs)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Rows of the chosen workspace. Row-level security says the same once more beneath."""
        rows: QuerySet[Any] = super().get_queryset(request)
        names = {field.attname for field in self.model._meta.concrete_fields}
        workspace_id = place_of(request).workspace_id
        if workspace_id is not None and "workspace_id" in names:
            rows = rows.filter(workspace_id=workspace_id)
        if "deleted_at" in names and not self.shows_deleted(request):
            rows = rows.filter(deleted_at=None)
        return rows

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        """A list is narrowed by what its page offers only."""
        return OfferedChangeList

    def get_list_filter(self, request: HttpRequest) -> Any:
        """A filter by another kind of row names those rows, so it is there for those who may see them."""
        return [each for each in super().get_list_filter(request) if self._may_filter(request, each)]

    def _may_filter(self, request: HttpRequest, each: Any) -> bool:
        try:
            related = self.model._meta.get_field(each).related_model if isinstance(each, str) else None
        except FieldDoesNotExist:
            return True  # a path over several rows; its last part is a value
        page = self.admin_site._registry.get(related)  # noqa: SLF001 - what Django's own autocomplete looks at
        return page is None or bool(page.has_view_permission(request))

    def shows_deleted(self, request: HttpRequest) -> bool:
        return request.GET.get("deleted") == "yes"

    def get_list_display(self, request: HttpRequest) -> Any:
        """With all workspaces in sight, each row says whose it is."""
        columns = list(super().get_list_display(request))
        names = {field.name for field in self.model._meta.concrete_fields}
        if place_of(request).workspace is None and "workspace" in names:
            columns.append("workspace")
        return columns

    def get_list_select_related(self, request: HttpRequest) -> Any:
        chosen = super().get_list_select_related(request)
        names = {field.name for field in self.model._meta.concrete_fields}
        if place_of(request).workspace is None and "workspace" in names and not isinstance(chosen, bool):
            return [*chosen, "workspace"]
        return chosen

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """An action that is not offered to this person is one that they may not do; the trail has the attempt."""
        chosen = request.POST.get("action", "")
        if chosen and chosen not in self.get_actions(request):
            context.refused("forbidden", denied=True)
        return super().changelist_view(request, extra_context)

    # The audit chain is the log; Django's own would repeat names across workspaces.
    def log_addition(self, *_: Any, **__: Any) -> Any:
        return None

    def log_change(self, *_: Any, **__: Any) -> Any:
        return None

    def log_deletions(self, *_: Any, **__: Any) -> Any:
        return None

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """What the audit trail says of this row, to those who may see the row and, there, the trail."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return HttpResponseRedirect(f"{reverse('admin:audit_auditevent_changelist')}?q={object_id}")

    def serve(self, request: HttpRequest, work: Any, *, done: str = "") -> Any:
        """Call a service; a refusal becomes a message. The answer of the service, or None after a refusal."""
        try:
            answer = work()
        except DomainError as error:
            context.refused(error.code, denied=isinstance(error, Forbidden))
            messages.error(request, error.detail)
            return None
        if done:
            messages.success(request, done)
        return answer if answer is not None else True


class ReadOnlyAdmin(ConsoleAdmin):
    """Rows that only the system writes: shown, searched and filtered."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ServiceAdmin(ConsoleAdmin):
    """A form whose saving is a call of a service, which has the rules; its refusal is shown at the field it is about.

    Each page gives `write(request, obj, values, workspace_id)`: it calls the service with the cleaned values and returns
    the row; `obj` is None for a new one.
    """

    form = ServiceForm
    write: Callable[[HttpRequest, Any, dict[str, Any], Any], Any]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """The form, told how to save and for which workspace."""
        made = super().get_form(request, obj, change=change, **kwargs)
        workspace_id = getattr(obj, "workspace_id", None) if obj else place_of(request).workspace_id
        serve = staticmethod(lambda values: self.write(request, obj, values, workspace_id))
        return type(made.__name__, (made,), {"serve": serve})

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """The service has saved while the form was checked; what it made takes the place of the form's own row."""
        obj.__dict__.update({name: value for name, value in form.saved.__dict__.items() if name != "_state"})

    def show_once(self, request: HttpRequest, *, title: str, secret: str, hint: str, target: str) -> HttpResponse:
        """A page with a secret that is kept nowhere: not in the session, not in a message."""
        context = self.admin_site.each_context(request) | {
            "title": title,
            "secret": secret,
            "hint": hint,
            "target": target,
            "is_fullwidth": "1",
        }
        return TemplateResponse(request, "console/secret.html", context)
