"""Credentials of machines over HTTP: keys, client certificates, and what is revoked."""

from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from kernel.api.listings import Listing
from kernel.api.shapes import listing
from kernel.api.views import WorkspaceViewSet
from tenancy.api import examples, filters, shapes
from tenancy.models import ClientCertificate, MachineKey, RevokedClientCert, RevokedToken
from tenancy.queries import credentials
from tenancy.services import certificates, keys, tokens

MANAGE = "workspace.manage"


def _asked(name: str, value: dict[str, Any]) -> list[OpenApiExample]:
    """The example of a request."""
    return [OpenApiExample(name, value, request_only=True)]


@extend_schema(tags=["machine-keys"])
@extend_schema_view(
    list=extend_schema(responses=listing(shapes.MachineKeyShape, "MachineKey")),
    retrieve=extend_schema(responses=shapes.MachineKeyShape),
    create=extend_schema(
        request=shapes.MachineKeyCreation,
        responses={201: shapes.MachineKeyWithSecret},
        examples=_asked("shop", {"name": "Shop", "scopes": ["email.send", "thread.read"]}),
    ),
    partial_update=extend_schema(
        request=shapes.MachineKeyChange,
        responses=shapes.MachineKeyShape,
        examples=_asked("from one network", {"allowed_networks": ["203.0.113.0/24"]}),
    ),
)
class MachineKeyViewSet(WorkspaceViewSet):
    """Keys for programs. Nobody issues, changes or rotates a key that may more than they do."""

    listings: ClassVar = {
        "list": Listing(filters=filters.CredentialFilters, sorts=("created_at", "name", "updated_at"))
    }
    queryset = MachineKey.unfenced.none()
    serializer_class = shapes.MachineKeyShape
    permissions: ClassVar = dict.fromkeys(["list", "retrieve", "create", "partial_update", "rotate", "revoke"], MANAGE)

    def list(self, request: Request) -> Response:
        """The keys of the workspace, newest first."""
        return self.listed(credentials.machine_keys(), shapes.machine_key)

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

    @extend_schema(
        request=shapes.Rotation,
        responses=shapes.MachineKeyWithSecret,
        examples=_asked("an hour to follow", {"overlap_seconds": 3600}),
    )
    @action(detail=True, methods=["post"])
    def rotate(self, request: Request, pk: str) -> Response:
        """Give the key a new secret, shown this once. Until `previous_secret_until` both are good."""
        fields = self.checked(shapes.Rotation)
        row, secret = keys.rotate(
            workspace_id=self.principal.workspace_id, key_id=UUID(pk), may=self.principal.permissions, **fields
        )
        return Response(shapes.machine_key(row, secret=secret))

    @extend_schema(
        request=shapes.KeyRevocation,
        responses=shapes.RevokedKeys,
        examples=_asked("leaked", {"with_issued": True}),
    )
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str) -> Response:
        """End a key for good, with effect at its next request."""
        fields = self.checked(shapes.KeyRevocation)
        ended = keys.revoke(workspace_id=self.principal.workspace_id, key_id=UUID(pk), **fields)
        return Response({"object": "machine_key_revocation", "revoked": ended})


@extend_schema(tags=["client-certificates"])
@extend_schema_view(
    list=extend_schema(responses=listing(shapes.CertificateShape, "ClientCertificate")),
    retrieve=extend_schema(responses=shapes.CertificateShape),
    create=extend_schema(
        request=shapes.CertificateCreation,
        responses={201: shapes.CertificateShape},
        examples=_asked("shop", {"name": "Shop", "certificate": examples.PEM, "scopes": ["thread.read"]}),
    ),
    partial_update=extend_schema(
        request=shapes.CertificateChange,
        responses=shapes.CertificateShape,
        examples=_asked("reads mail, too", {"scopes": ["email.read", "thread.read"]}),
    ),
)
class ClientCertificateViewSet(WorkspaceViewSet):
    """Client certificates that act for the workspace, where a proxy hands them on."""

    listings: ClassVar = {
        "list": Listing(filters=filters.CertificateFilters, sorts=("created_at", "not_after", "name"))
    }
    queryset = ClientCertificate.unfenced.none()
    serializer_class = shapes.CertificateShape
    permissions: ClassVar = dict.fromkeys(["list", "retrieve", "create", "partial_update", "revoke"], MANAGE)

    def list(self, request: Request) -> Response:
        """The certificates of the workspace, newest first."""
        return self.listed(credentials.client_certificates(), shapes.client_certificate)

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

    @extend_schema(
        request=shapes.CertificateRevocation,
        responses=shapes.CertificateShape,
        examples=_asked("replaced", {"reason": "Its successor is in use."}),
    )
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str) -> Response:
        """End a certificate for good, with effect at its next request."""
        fields = self.checked(shapes.CertificateRevocation)
        row = certificates.revoke(workspace_id=self.principal.workspace_id, certificate_id=UUID(pk), **fields)
        return Response(shapes.client_certificate(row))


@extend_schema(tags=["revoked-client-certificates"])
@extend_schema_view(
    list=extend_schema(responses=listing(shapes.DenialShape, "RevokedClientCertificate")),
    create=extend_schema(
        request=shapes.Denial,
        responses={201: shapes.DenialShape},
        examples=_asked("stolen", {name: examples.DENIAL[name] for name in ("serial", "issuer", "reason")}),
    ),
)
class RevokedCertificateViewSet(WorkspaceViewSet):
    """Certificates that are refused, whether they are registered or not."""

    listings: ClassVar = {"list": Listing(filters=filters.DenialFilters)}
    queryset = RevokedClientCert.unfenced.none()
    serializer_class = shapes.DenialShape
    permissions: ClassVar = dict.fromkeys(["list", "create"], MANAGE)

    def list(self, request: Request) -> Response:
        """What the workspace refuses, newest first."""
        return self.listed(credentials.revoked_certificates(), shapes.denial)

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


@extend_schema(tags=["revoked-tokens"])
@extend_schema_view(
    list=extend_schema(responses=listing(shapes.RevokedTokenShape, "RevokedToken")),
    create=extend_schema(
        request=shapes.TokenRevocation,
        responses={201: shapes.RevokedTokenShape},
        examples=_asked("one", {"jti": examples.REVOKED_TOKEN["jti"]}),
    ),
)
class RevokedTokenViewSet(WorkspaceViewSet):
    """Tokens that are refused before their end. Forgotten once they have ended by themselves."""

    listings: ClassVar = {"list": Listing(filters=filters.TokenFilters)}
    queryset = RevokedToken.unfenced.none()
    serializer_class = shapes.RevokedTokenShape
    permissions: ClassVar = dict.fromkeys(["list", "create", "issued_before"], MANAGE)

    def list(self, request: Request) -> Response:
        """Revoked tokens, newest first."""
        return self.listed(credentials.revoked_tokens(), shapes.revoked_token)

    def create(self, request: Request) -> Response:
        """Refuse one token, with effect at its next request."""
        fields = self.checked(shapes.TokenRevocation)
        row = tokens.revoke(workspace_id=self.principal.workspace_id, **fields)
        return Response(shapes.revoked_token(row), status=201)

    @extend_schema(
        request=shapes.Cutoff,
        responses=shapes.CutoffShape,
        examples=_asked("until a breach", {"issued_before": examples.CUTOFF["issued_before"]}),
    )
    @action(detail=False, methods=["post"], url_path="issued-before")
    def issued_before(self, request: Request) -> Response:
        """Refuse every token of the workspace that was issued before a time, the one of this request included."""
        wanted = self.checked(shapes.Cutoff).get("issued_before")
        moment = tokens.revoke_issued_before(workspace_id=self.principal.workspace_id, moment=wanted)
        return Response({"object": "token_cutoff", "issued_before": moment})
