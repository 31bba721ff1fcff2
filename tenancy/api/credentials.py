"""Credentials of machines over HTTP: keys, client certificates, and what is revoked."""

from typing import ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from kernel.api.paging import page
from kernel.api.shapes import listing
from kernel.api.views import WorkspaceViewSet
from tenancy.api import shapes
from tenancy.models import ClientCertificate, MachineKey, RevokedClientCert, RevokedToken
from tenancy.queries import credentials
from tenancy.services import certificates, keys, tokens

MANAGE = "workspace.manage"
_PAGING = [
    OpenApiParameter("limit", int, description="From 1 to 100; 25 when not given."),
    OpenApiParameter("cursor", str, description="`next` or `previous` of another page."),
]


@extend_schema(tags=["Credentials"])
@extend_schema_view(
    list=extend_schema(parameters=_PAGING, responses=listing(shapes.MachineKeyShape, "MachineKey")),
    retrieve=extend_schema(responses=shapes.MachineKeyShape),
    create=extend_schema(request=shapes.MachineKeyCreation, responses={201: shapes.MachineKeyWithSecret}),
    partial_update=extend_schema(request=shapes.MachineKeyChange, responses=shapes.MachineKeyShape),
)
class MachineKeyViewSet(WorkspaceViewSet):
    """Keys for programs. Nobody issues, changes or rotates a key that may more than they do."""

    queryset = MachineKey.unfenced.none()
    serializer_class = shapes.MachineKeyShape
    permissions: ClassVar = dict.fromkeys(["list", "retrieve", "create", "partial_update", "rotate", "revoke"], MANAGE)

    def list(self, request: Request) -> Response:
        """The keys of the workspace, newest first."""
        return Response(page(request, credentials.machine_keys(), shapes.machine_key))

    def retrieve(self, request: Request, pk: str) -> Response:
        """One key."""
        return Response(shapes.machine_key(credentials.machine_key(UUID(pk))))

    def create(self, request: Request) -> Response:
        """Issue a key. The answer holds its secret, this once."""
        fields = self.checked(shapes.MachineKeyCreation)
        row, secret = keys.issue(workspace_id=self.principal.workspace_id, may=self.principal.permissions, **fields)
        return Response(shapes.machine_key(row, secret=secret), status=201)

    def partial_update(self, request: Request, pk: str) -> Response:
        """Change name, scopes, end or networks."""
        row = keys.change(
            workspace_id=self.principal.workspace_id,
            key_id=UUID(pk),
            changes=self.checked(shapes.MachineKeyChange),
            may=self.principal.permissions,
        )
        return Response(shapes.machine_key(row))

    @extend_schema(request=shapes.Rotation, responses=shapes.MachineKeyWithSecret)
    @action(detail=True, methods=["post"])
    def rotate(self, request: Request, pk: str) -> Response:
        """Give the key a new secret, shown this once. Until `previous_secret_until` both are good."""
        fields = self.checked(shapes.Rotation)
        row, secret = keys.rotate(
            workspace_id=self.principal.workspace_id, key_id=UUID(pk), may=self.principal.permissions, **fields
        )
        return Response(shapes.machine_key(row, secret=secret))

    @extend_schema(request=shapes.KeyRevocation, responses=shapes.RevokedKeys)
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str) -> Response:
        """End a key for good, with effect at its next request."""
        fields = self.checked(shapes.KeyRevocation)
        ended = keys.revoke(workspace_id=self.principal.workspace_id, key_id=UUID(pk), **fields)
        return Response({"object": "machine_key_revocation", "revoked": ended})


@extend_schema(tags=["Credentials"])
@extend_schema_view(
    list=extend_schema(parameters=_PAGING, responses=listing(shapes.CertificateShape, "ClientCertificate")),
    retrieve=extend_schema(responses=shapes.CertificateShape),
    create=extend_schema(request=shapes.CertificateCreation, responses={201: shapes.CertificateShape}),
    partial_update=extend_schema(request=shapes.CertificateChange, responses=shapes.CertificateShape),
)
class ClientCertificateViewSet(WorkspaceViewSet):
    """Client certificates that act for the workspace, where a proxy hands them on."""

    queryset = ClientCertificate.unfenced.none()
    serializer_class = shapes.CertificateShape
    permissions: ClassVar = dict.fromkeys(["list", "retrieve", "create", "partial_update", "revoke"], MANAGE)

    def list(self, request: Request) -> Response:
        """The certificates of the workspace, newest first."""
        return Response(page(request, credentials.client_certificates(), shapes.client_certificate))

    def retrieve(self, request: Request, pk: str) -> Response:
        """One certificate."""
        return Response(shapes.client_certificate(credentials.client_certificate(UUID(pk))))

    def create(self, request: Request) -> Response:
        """Register a certificate: exactly this one will act for the workspace."""
        fields = self.checked(shapes.CertificateCreation)
        row = certificates.register(
            workspace_id=self.principal.workspace_id,
            pem=fields["certificate"],
            name=fields["name"],
            scopes=fields["scopes"],
            may=self.principal.permissions,
        )
        return Response(shapes.client_certificate(row), status=201)

    def partial_update(self, request: Request, pk: str) -> Response:
        """Change the name or the scopes."""
        row = certificates.change(
            workspace_id=self.principal.workspace_id,
            certificate_id=UUID(pk),
            changes=self.checked(shapes.CertificateChange),
            may=self.principal.permissions,
        )
        return Response(shapes.client_certificate(row))

    @extend_schema(request=shapes.CertificateRevocation, responses=shapes.CertificateShape)
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str) -> Response:
        """End a certificate for good, with effect at its next request."""
        fields = self.checked(shapes.CertificateRevocation)
        row = certificates.revoke(workspace_id=self.principal.workspace_id, certificate_id=UUID(pk), **fields)
        return Response(shapes.client_certificate(row))


@extend_schema(tags=["Credentials"])
@extend_schema_view(
    list=extend_schema(parameters=_PAGING, responses=listing(shapes.DenialShape, "RevokedClientCertificate")),
    create=extend_schema(request=shapes.Denial, responses={201: shapes.DenialShape}),
)
class RevokedCertificateViewSet(WorkspaceViewSet):
    """Certificates that are refused, whether they are registered or not."""

    queryset = RevokedClientCert.unfenced.none()
    serializer_class = shapes.DenialShape
    permissions: ClassVar = dict.fromkeys(["list", "create"], MANAGE)

    def list(self, request: Request) -> Response:
        """What the workspace refuses, newest first."""
        return Response(page(request, credentials.revoked_certificates(), shapes.denial))

    def create(self, request: Request) -> Response:
        """Refuse a certificate from now on. Asked again, the same denial is the answer."""
        fields = self.checked(shapes.Denial)
        place = {"workspace_id": self.principal.workspace_id, "reason": fields.pop("reason")}
        if "certificate" in fields:
            row = certificates.deny_pem(pem=fields["certificate"], **place)
        elif "fingerprint" in fields:
            row = certificates.deny(fingerprint=bytes.fromhex(fields["fingerprint"]), **place)
        else:
            row = certificates.deny(**fields, **place)
        return Response(shapes.denial(row), status=201)


@extend_schema(tags=["Credentials"])
@extend_schema_view(
    list=extend_schema(parameters=_PAGING, responses=listing(shapes.RevokedTokenShape, "RevokedToken")),
    create=extend_schema(request=shapes.TokenRevocation, responses={201: shapes.RevokedTokenShape}),
)
class RevokedTokenViewSet(WorkspaceViewSet):
    """Tokens that are refused before their end. Forgotten once they have ended by themselves."""

    queryset = RevokedToken.unfenced.none()
    serializer_class = shapes.RevokedTokenShape
    permissions: ClassVar = dict.fromkeys(["list", "create", "issued_before"], MANAGE)

    def list(self, request: Request) -> Response:
        """Revoked tokens, newest first."""
        return Response(page(request, credentials.revoked_tokens(), shapes.revoked_token))

    def create(self, request: Request) -> Response:
        """Refuse one token, with effect at its next request."""
        fields = self.checked(shapes.TokenRevocation)
        row = tokens.revoke(workspace_id=self.principal.workspace_id, **fields)
        return Response(shapes.revoked_token(row), status=201)

    @extend_schema(request=shapes.Cutoff, responses=shapes.CutoffShape)
    @action(detail=False, methods=["post"], url_path="issued-before")
    def issued_before(self, request: Request) -> Response:
        """Refuse every token of the workspace that was issued before a time, the one of this request included."""
        wanted = self.checked(shapes.Cutoff).get("issued_before")
        moment = tokens.revoke_issued_before(workspace_id=self.principal.workspace_id, moment=wanted)
        return Response({"object": "token_cutoff", "issued_before": moment})
