"""Sessions of browsers: Django's middleware over our store, which is told where each request comes from."""

from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest

from tenancy.credentials.devices import origin_of


class DeviceSessionMiddleware(SessionMiddleware):
    """Puts the session on the request. Programs have none, and cost no query here."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.session.origin = origin_of(request.META)  # type: ignore[attr-defined]
