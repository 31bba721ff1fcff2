"""Addresses and accounts as keys: lower case, one spelling of the domain, plus-tags understood."""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

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


def looked_for(recipient: str) -> tuple[str, str, str]:
    """By what a recipient's inbox is looked for (`inbox_route_v1`): its canonical form, that without tag, its domain."""
    exact = lenient(recipient)
    return exact, without_tag(exact), exact.rpartition("@")[2]


_HOST = re.compile(r"(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d")
_KEY_ID = re.compile(r"[A-Za-z0-9]{4,128}")
_SET = re.compile(r"[A-Za-z0-9_-]{0,64}")


def smtp_server(given: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Host, port, user and TLS of a mail server, and the name of that account; Invalid names what cannot be."""
    _known(given, {"host", "port", "user", "tls"})
    host = ascii_domain(str(given.get("host", "")))
    port = given.get("port", 587)
    user, tls = str(given.get("user", "")).strip(), given.get("tls", "starttls")
    if not _HOST.fullmatch(host):
        raise Invalid("Name the mail server, such as smtp.example.com.", pointer="/configuration/host")
    if not isinstance(port, int) or isinstance(port, bool) or not 1 <= port <= 65535:
        raise Invalid("The port is a number such as 587 or 465.", pointer="/configuration/port")
    if not user or len(user) > MAX_LENGTH or not user.isprintable():
        raise Invalid("Name the user that signs in at the server.", pointer="/configuration/user")
    if tls not in ("starttls", "implicit"):
        raise Invalid(
            "Choose starttls (usually port 587) or implicit (usually 465): a password is not sent in the clear.",
            pointer="/configuration/tls",
        )
    return {"host": host, "port": port, "user": user, "tls": tls}, f"{user.lower()}@{host}:{port}"


def ses_account(given: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Region, access key id and configuration set of Amazon SES, and the name of that account."""
    _known(given, {"region", "access_key_id", "configuration_set"})
    region, key_id = str(given.get("region", "")), str(given.get("access_key_id", ""))
    configuration_set = str(given.get("configuration_set", ""))
    if not _REGION.fullmatch(region):
        raise Invalid("Name the AWS region, such as eu-central-1.", pointer="/configuration/region")
    if not _KEY_ID.fullmatch(key_id):
        raise Invalid(
            "Name the access key's id (AKIA…); its secret goes into `secret`.", pointer="/configuration/access_key_id"
        )
    if not _SET.fullmatch(configuration_set):
        raise Invalid(
            "A configuration set has letters, digits, - and _ only.", pointer="/configuration/configuration_set"
        )
    found = {"region": region, "access_key_id": key_id, "configuration_set": configuration_set}
    return found, f"{key_id}@{region}"


def _known(given: Mapping[str, Any], names: set[str]) -> None:
    if unknown := sorted(set(given) - names):
        raise Invalid(
            f"There is no such field; possible are {', '.join(sorted(names))}.", pointer=f"/configuration/{unknown[0]}"
        )
