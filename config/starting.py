"""A process that cannot do its work does not start, and says in one sentence what is to be done (K5)."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ImproperlyConfigured


@contextmanager
def or_refuse() -> Iterator[None]:
    """End the process with a sentence instead of a traceback where the configuration, or its keys, cannot be used."""
    try:
        yield
    except ImproperlyConfigured as error:
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        raise SystemExit(1) from None
