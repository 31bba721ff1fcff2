"""All routes."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularSwaggerSplitView

from config import openapi
from config.console.views import pictures
from inbox import ingress

# Patterns are tried one by one, so what is asked for most stands first.
api = [
    path("", include("inbox.urls")),
    path("", include("tickets.urls")),
    path("", include("agents.urls")),
    path("", include("webhooks.urls")),
    path("", include("tenancy.urls")),
    path("", include("audit.urls")),
]

urlpatterns = [
    path("api/v1/", include(api)),
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("console/", include("config.console.doors")),
    path("console/", admin.site.urls),
    path("images/<str:token>", pictures.picture, name="image"),
    path("api/schema", openapi.schema, name="schema"),
    path("api/docs", SpectacularSwaggerSplitView.as_view(), name="docs"),
    path("ingress/ses", ingress.ses, name="ingress-ses"),
]

handler400 = "kernel.api.fallback.bad_request"
handler404 = "kernel.api.fallback.not_found"
handler500 = "kernel.api.fallback.server_error"
