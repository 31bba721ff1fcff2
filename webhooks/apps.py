from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"
    verbose_name = "Webhooks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.utils.module_loading import autodiscover_modules

        from webhooks import handlers  # noqa: F401 - subscribes to the outbox

        # The catalogue of public events is whatever the installed apps declare, those above this one too.
        autodiscover_modules("events")
