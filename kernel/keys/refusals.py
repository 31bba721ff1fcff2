"""Why a process with these keys must not seal anything."""

from django.core.exceptions import ImproperlyConfigured


class KeysRefused(ImproperlyConfigured):
    """The configured keys are not those that this database was written with, or that cannot be told: do not start."""


class KeyMismatch(KeysRefused):
    """A configured key is not the one that its version number had before."""


class KeyMissing(KeysRefused):
    """A key version that was in use, and was never retired, is not configured."""
