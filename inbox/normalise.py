"""Addresses as keys: lower case, one spelling of the domain, plus-tags understood."""

import re
import unicodedata
from functools import lru_cache

from kernel.errors import Invalid

MAX_LENGTH = 320

_UNFIT = re.compile(r"[\s<>,;]")


def address(text: str) -> str:
    """The canonical form of a mail address; Invalid when it is none.

    Local parts are lower-cased: RFC 5321 lets them differ by case, no real mailbox does. Domains become IDNA.
    """
    cleaned = unicodedata.normalize("NFKC", text).strip().rstrip(".")
    local, at, domain = cleaned.rpartition("@")
    if not at or not local or not domain or len(cleaned) > MAX_LENGTH or _is_unfit(local, cleaned):
        raise Invalid(f"{text!r} is not a mail address such as support@example.com.", pointer="/address")
    # Once more after lower-casing, which takes some letters apart.
    return f"{unicodedata.normalize('NFKC', local.lower())}@{ascii_domain(domain)}"


def _is_unfit(local: str, whole: str) -> bool:
    """White space and brackets, what cannot be seen, and a second @ without the quotes that it needs."""
    return bool(_UNFIT.search(whole)) or not whole.isprintable() or ("@" in local and not local.startswith('"'))


@lru_cache(maxsize=4096)
def lenient(text: str) -> str:
    """The canonical form where there is one, else the text itself in lower case: for what strangers send."""
    try:
        return address(text)
    except Invalid:
        return text.strip().lower()[:MAX_LENGTH]


def ascii_domain(domain: str) -> str:
    """Lower-case A-labels (RFC 5890), without the dot of the root."""
    domain = domain.strip().rstrip(".").lower()
    if domain.isascii():
        return domain
    try:
        return domain.encode("idna").decode()
    except UnicodeError as error:
        raise Invalid(f"{domain!r} is not a mail domain.", pointer="/address") from error


def without_tag(canonical: str) -> str:
    """`support+tag@…` as `support@…` (RFC 5233 subaddressing)."""
    local, _, domain = canonical.rpartition("@")
    return f"{local.partition('+')[0] or local}@{domain}"
