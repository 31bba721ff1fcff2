from django.apps import AppConfig


class TenancyConfig(AppConfig):
    name = "tenancy"
    verbose_name = "Workspaces and people"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from kernel import access
        from tenancy import permissions
        from tenancy.signin import factors

        access.register_catalogue(permissions.describe)
        factors.declare()
