from django.urls import path

from tenancy.api import ProvisioningView, WorkspaceView

urlpatterns = [
    path("workspace", WorkspaceView.as_view({"get": "retrieve"}), name="workspace"),
    path("provisioning/workspaces", ProvisioningView.as_view(), name="provisioning"),
]
