"""Forms that end in a service."""

from typing import Any, ClassVar

from django import forms

from kernel import context
from kernel.errors import DomainError, Forbidden


class ServiceForm(forms.ModelForm):  # type: ignore[type-arg]
    """Checks the fields as Django does, then lets the service decide, so that a refusal keeps what was typed."""

    # Set on the class by the admin, hence static: it already knows the row and the workspace.
    serve: ClassVar[Any]
    saved: Any = None

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if self.errors:
            context.refused("invalid")
            return
        try:
            self.saved = self.serve(dict(self.cleaned_data))
        except DomainError as error:
            context.refused(error.code, denied=isinstance(error, Forbidden))
            field = error.pointer.strip("/").partition("/")[0]
            self.add_error(field if field in self.fields else None, error.detail)

    def validate_unique(self) -> None:
        """The service's to say, and the database's: a form would tell what other rows exist."""

    def save_m2m(self) -> None:
        """Nothing: the service has."""

    def save(self, commit: bool = True) -> Any:
        """Nothing: the service has."""
        return self.saved
