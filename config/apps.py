from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class ConfigConfig(AppConfig):
    name = "config"
    verbose_name = "Autonomous Inbox"

    def ready(self) -> None:
        from config import celery, checks  # noqa: F401 - the current Celery app, and the system checks


class ConsoleConfig(AdminConfig):
    """Django's admin with our own site, the operator console."""

    default_site = "config.admin_site.Console"
