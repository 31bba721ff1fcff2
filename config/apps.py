import gc

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class ConfigConfig(AppConfig):
    name = "config"
    verbose_name = "Autonomous Inbox"

    def ready(self) -> None:
        from config import celery, checks  # noqa: F401 - the current Celery app, and the system checks

        # What is there now stays until the process ends: no later collection looks at it, and forks share its pages.
        gc.freeze()
        gc.enable()


class ConsoleConfig(AdminConfig):
    """Django's admin with our own site, the operator console."""

    default_site = "config.admin_site.Console"
