"""All routes."""

from django.contrib import admin
from django.urls import path

urlpatterns = [path("console/", admin.site.urls)]
