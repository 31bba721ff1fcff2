"""The shapes of credentials, in and out. No secret is in any of them but the one of a moment ago."""

from typing import Any

from rest_framework import serializers

from kernel.api.inputs import Input
from kernel.api.shapes import Resource, exemplified
from tenancy.api import examples
from tenancy.models import ClientCertificate, MachineKey
from tenancy.types import CredentialState

# What the use of a credential changes in its row.
USED = frozenset({"last_used_at", "updated_at"})


def _scopes(**options: Any) -> serializers.ListField:
    return serializers.ListField(
        child=serializers.CharField(max_length=60),
        max_length=100,
        help_text="Permission names; `*` and `family.*` stand for sets. None that you do not have yourself.",
        **options,
    )


def _networks() -> serializers.ListField:
    return serializers.ListField(
        child=serializers.CharField(max_length=50),
        max_length=50,
        required=False,
        help_text="Networks such as `203.0.113.0/24` that the key may be used from; none: from everywhere.",
    )


class MachineKeyCreation(Input):
    name = serializers.CharField(max_length=100)
    scopes = _scopes()
    expires_at = serializers.DateTimeField(required=False, allow_null=True)
    allowed_networks = _networks()


class MachineKeyChange(Input):
    name = serializers.CharField(max_length=100, required=False)
    scopes = _scopes(required=False)
    expires_at = serializers.DateTimeField(required=False, allow_null=True)
    allowed_networks = _networks()


class Rotation(Input):
    overlap_seconds = serializers.IntegerField(
        min_value=0,
        max_value=30 * 86400,
        required=False,
        help_text="How long the old secret stays good; 0 ends it now. Default: MACHINE_KEY_OVERLAP_SECONDS.",
    )


class KeyRevocation(Input):
    with_issued = serializers.BooleanField(
        default=False, help_text="End the keys that this key issued, too, and theirs. For a key that leaked."
    )


class IssuerShape(serializers.Serializer[Any]):
    """Who issued a credential, as it was then."""

    kind = serializers.CharField(source="issued_by_kind")
    id = serializers.CharField(source="issued_by_id")
    label = serializers.CharField(source="issued_by_label")  # type: ignore[assignment]


@exemplified(examples.MACHINE_KEY)
class MachineKeyShape(Resource):
    kind_name = "machine_key"
    volatile = USED
    name = serializers.CharField()
    prefix = serializers.CharField(help_text="The key begins with `mk_<prefix>_`.")
    state = serializers.ChoiceField(choices=CredentialState.choices)
    scopes = serializers.ListField(child=serializers.CharField())
    allowed_networks = serializers.ListField(child=serializers.CharField())
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="To the minute.")
    previous_secret_until = serializers.DateTimeField(source="previous_until", allow_null=True)
    issued_by = IssuerShape(source="*")


@exemplified(examples.MACHINE_KEY_WITH_SECRET)
class MachineKeyWithSecret(MachineKeyShape):
    secret = serializers.SerializerMethodField(help_text="`mk_…`: keep it now, it is not shown again.")

    def get_secret(self, _row: Any) -> str:
        return str(self.context.get("secret", ""))


@exemplified(examples.KEY_REVOCATION)
class RevokedKeys(serializers.Serializer[Any]):
    object = serializers.CharField()
    revoked = serializers.ListField(child=serializers.UUIDField(), help_text="The keys that ended by this request.")


class CertificateCreation(Input):
    name = serializers.CharField(max_length=100)
    certificate = serializers.CharField(max_length=16_384, help_text="One certificate in PEM.")
    scopes = _scopes()


class CertificateChange(Input):
    name = serializers.CharField(max_length=100, required=False)
    scopes = _scopes(required=False)


class CertificateRevocation(Input):
    reason = serializers.CharField(max_length=200, required=False, default="", allow_blank=True)


@exemplified(examples.CERTIFICATE)
class CertificateShape(Resource):
    kind_name = "client_certificate"
    volatile = USED
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=CredentialState.choices)
    scopes = serializers.ListField(child=serializers.CharField())
    fingerprint = serializers.SerializerMethodField(help_text="SHA-256 of the DER bytes, in hex.")
    serial = serializers.CharField(help_text="In lower-case hex.")
    issuer = serializers.CharField()
    subject = serializers.CharField()
    not_before = serializers.DateTimeField()
    not_after = serializers.DateTimeField()
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="To the minute.")
    issued_by = IssuerShape(source="*")

    def get_fingerprint(self, row: Any) -> str:
        return bytes(row.fingerprint).hex()


class Denial(Input):
    """A certificate, named in one of three ways."""

    certificate = serializers.CharField(max_length=16_384, required=False, help_text="In PEM.")
    fingerprint = serializers.RegexField(
        r"^[0-9a-fA-F]{64}$", required=False, help_text="SHA-256 of the DER bytes, in hex."
    )
    serial = serializers.CharField(max_length=100, required=False, help_text="In hex; together with the issuer.")
    issuer = serializers.CharField(max_length=600, required=False, help_text="As RFC 4514 writes it: CN=Our CA,O=Acme.")
    reason = serializers.CharField(max_length=200, required=False, default="", allow_blank=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        named = sorted(attrs.keys() & {"certificate", "fingerprint", "serial", "issuer"})
        if named not in (["certificate"], ["fingerprint"], ["issuer", "serial"]):
            raise serializers.ValidationError("Give certificate, or fingerprint, or serial and issuer together.")
        return attrs


@exemplified(examples.DENIAL)
class DenialShape(Resource):
    kind_name = "revoked_client_certificate"
    fingerprint = serializers.SerializerMethodField(help_text="In hex; empty when the serial number names it.")
    serial = serializers.CharField()
    issuer = serializers.CharField()
    reason = serializers.CharField()

    def get_fingerprint(self, row: Any) -> str:
        return bytes(row.fingerprint or b"").hex()


class TokenRevocation(Input):
    jti = serializers.RegexField(r"^[!-~]{1,80}$", help_text="The `jti` of the token.")


@exemplified(examples.REVOKED_TOKEN)
class RevokedTokenShape(Resource):
    kind_name = "revoked_token"
    jti = serializers.CharField()
    expires_at = serializers.DateTimeField(help_text="When the token has ended by itself at the latest.")


class Cutoff(Input):
    issued_before = serializers.DateTimeField(required=False, help_text="Default: now.")


@exemplified(examples.CUTOFF)
class CutoffShape(serializers.Serializer[Any]):
    object = serializers.CharField()
    issued_before = serializers.DateTimeField(help_text="Tokens with an earlier `iat` are refused.")


def machine_key(row: MachineKey, *, secret: str = "") -> dict[str, Any]:
    """A machine key as a body, with its secret when there is one to show."""
    shape = MachineKeyWithSecret(row, context={"secret": secret}) if secret else MachineKeyShape(row)
    return dict(shape.data)


def client_certificate(row: ClientCertificate) -> dict[str, Any]:
    """A client certificate as a body."""
    return CertificateShape.show(row)


def denial(row: Any) -> dict[str, Any]:
    """A denial as a body."""
    return DenialShape.show(row)


def revoked_token(row: Any) -> dict[str, Any]:
    """A revoked token as a body."""
    return RevokedTokenShape.show(row)
