"""How passwords are kept: Argon2id (RFC 9106) at the configured cost. A sign-in lifts an older hash to it."""

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher


class Argon2idHasher(Argon2PasswordHasher):
    """Django's, whose variant is Argon2id, with the cost of this installation."""

    @property
    def memory_cost(self) -> int:  # type: ignore[override]
        return int(settings.PASSWORD_MEMORY_KIB)

    @property
    def time_cost(self) -> int:  # type: ignore[override]
        return int(settings.PASSWORD_PASSES)

    @property
    def parallelism(self) -> int:  # type: ignore[override]
        return int(settings.PASSWORD_LANES)
