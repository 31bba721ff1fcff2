import uuid
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Now

from tenancy import normalise
from tenancy.models.workspace import check_timezone


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=normalise.email(username or ""))

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=normalise.email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user


class User(AbstractBaseUser, PermissionsMixin):
    """A person who signs in. Global: workspaces are reached through memberships only (S3-16)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=200, blank=True)
    timezone = models.CharField(max_length=64, default="UTC", validators=[check_timezone])
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False, help_text="May enter the console.")
    # Django's superusers are nobody here: this is the one mark that opens workspaces without a membership.
    is_operator = models.BooleanField(
        default=False, help_text="Runs the installation: may act in any workspace, audited."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(email=models.functions.Lower("email")), name="tenancy_user_email_is_lower_case"
            )
        ]

    def __str__(self) -> str:
        return self.name or self.email
