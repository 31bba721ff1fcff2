"""Forms of the pages about people."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from kernel.errors import DomainError
from tenancy.models.workspace import zones


class _Taking(forms.Form):
    """A form that can show a service's refusal at the field that it is about."""

    def take(self, error: DomainError) -> None:
        """Show it, unless the form has faults of its own."""
        if self.is_bound and self.errors:
            return
        field = error.pointer.strip("/")
        self.add_error(field if field in self.fields else None, error.detail)


def _password(label: str, *, autocomplete: str) -> forms.CharField:
    widget = UnfoldAdminPasswordWidget(attrs={"autocomplete": autocomplete})
    return forms.CharField(label=label, strip=False, max_length=1024, widget=widget)


class Address(_Taking):
    """Whose password it is about."""

    email = forms.EmailField(
        label="Email", widget=UnfoldAdminTextInputWidget(attrs={"type": "email", "autocomplete": "username"})
    )


class NewPassword(_Taking):
    """A new password, once: whoever mistypes it asks for another link."""

    password = _password("New password", autocomplete="new-password")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].help_text = "12 characters or more, and none that everybody uses."


class ChangedPassword(NewPassword):
    """A new password, by who knows the old one."""

    old = _password("Present password", autocomplete="current-password")
    field_order = ["old", "password"]


class Account(_Taking):
    """Of somebody new."""

    name = forms.CharField(
        label="Your name", max_length=200, widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "name"})
    )
    password = _password("Choose a password", autocomplete="new-password")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].help_text = "12 characters or more, and none that everybody uses."

    def account(self) -> dict[str, str]:
        """As the service takes it."""
        return {"name": self.cleaned_data["name"], "password": self.cleaned_data["password"]}


class Profile(_Taking):
    """What a person says of themselves."""

    name = forms.CharField(
        label="Name", max_length=200, widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "name"})
    )
    timezone = forms.ChoiceField(label="Time zone", widget=UnfoldAdminSelectWidget)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["timezone"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [(name, name.replace("_", " ")) for name in sorted(zones())]
