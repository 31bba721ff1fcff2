from django.db import models

from tenancy.scoping import WorkspaceOwned


class Permission(models.Model):
    """A globally stable permission name; kept in step with `tenancy.permissions.CATALOGUE` at each migrate."""

    name = models.CharField(primary_key=True, max_length=60)
    description = models.CharField(max_length=200)

    def __str__(self) -> str:
        return self.name


class Role(WorkspaceOwned):
    """A named set of permissions, of one workspace, made by the system or by its people (S3-18)."""

    name = models.CharField(max_length=60)
    description = models.CharField(max_length=200, blank=True, db_default="")
    is_system = models.BooleanField(default=False, editable=False)

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="tenancy_one_role_per_name")]

    def __str__(self) -> str:
        return self.name


class RolePermission(WorkspaceOwned):
    """A permission that a role grants; `*` and `family.*` stand for sets."""

    role = models.ForeignKey(Role, models.CASCADE, related_name="grants", db_constraint=False)
    permission = models.CharField(max_length=60)

    class Meta(WorkspaceOwned.Meta):
        constraints = [models.UniqueConstraint(fields=["role", "permission"], name="tenancy_one_grant_per_role")]

    def __str__(self) -> str:
        return self.permission
