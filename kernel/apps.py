from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class KernelConfig(AppConfig):
    name = "kernel"
    verbose_name = "Plumbing"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Each app subscribes its consumers in handlers.py; discovery by name draws no import arrow.
        autodiscover_modules("handlers")
