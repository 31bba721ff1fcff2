from django.urls import path
from rest_framework.routers import SimpleRouter

from tenancy.api import control, credentials, members, people
from tenancy.api.views import ProvisioningView, WorkspaceView

router = SimpleRouter(trailing_slash=False)
router.register("machine-keys", credentials.MachineKeyViewSet, basename="machine-key")
router.register("client-certificates", credentials.ClientCertificateViewSet, basename="client-certificate")
router.register(
    "revoked-client-certificates", credentials.RevokedCertificateViewSet, basename="revoked-client-certificate"
)
router.register("roles", people.RoleViewSet, basename="role")
router.register("teams", people.TeamViewSet, basename="team")
router.register("revoked-tokens", credentials.RevokedTokenViewSet, basename="revoked-token")
router.register("members", members.MemberViewSet, basename="member")
router.register("invitations", members.InvitationViewSet, basename="invitation")

urlpatterns = [
    path("workspace", WorkspaceView.as_view({"get": "retrieve", "patch": "partial_update"}), name="workspace"),
    path(
        "workspace-settings",
        control.SettingsView.as_view({"get": "retrieve", "patch": "partial_update"}),
        name="workspace-settings",
    ),
    path(
        "emergency-stop",
        control.EmergencyStopView.as_view({"get": "retrieve", "post": "create", "delete": "destroy"}),
        name="emergency-stop",
    ),
    path("provisioning/workspaces", ProvisioningView.as_view(), name="provisioning"),
    *router.urls,
]
