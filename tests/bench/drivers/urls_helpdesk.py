"""Where django-helpdesk finds the addresses that it writes into texts."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [path("admin/", admin.site.urls), path("", include("helpdesk.urls", namespace="helpdesk"))]
