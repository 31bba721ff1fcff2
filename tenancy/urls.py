from django.urls import path

from tenancy.api.views import ProvisioningView, WorkspaceView

urlpatterns = [
    path("workspace", WorkspaceView.as_view(), name="workspace"),
    path("provisioning/workspaces", ProvisioningView.as_view(), name="provisioning"),
]
