"""Which key a `kid` names: of the configuration, else of the key set under JWT_JWKS_URL. Never one that a token brings."""

from django.conf import settings

from tenancy.credentials import jwks
from tenancy.credentials.keys import SHARED, Key


def find(kid: str) -> Key | None:
    """The key that verifies tokens of this name."""
    configured: Key | None = settings.JWT_KEYS.get(kid)
    if configured is not None or not settings.JWT_JWKS_URL:
        return configured
    return jwks.of(settings.JWT_JWKS_URL).find(kid)


def signing(kid: str = "") -> Key | None:
    """The key that signs: the one of this name, else the first of JWT_SIGNING_KEYS; a shared secret only by name."""
    keys: dict[str, Key] = settings.JWT_SIGNING_KEYS
    if not kid:
        return next(iter(keys.values()), None)
    shared: Key | None = settings.JWT_KEYS.get(kid)
    return keys.get(kid) or (shared if shared is not None and shared.algorithm == SHARED else None)
