"""HTML of strangers made harmless when it is stored: nh3's allow-list, no remote loads, links that say where they go.

The console shows the result in a sandboxed frame under a policy of its own all the same; this is the first of two walls.
"""

from __future__ import annotations

import nh3

MAX_CHARACTERS = 500_000

_ATTRIBUTES = {tag: set(names) for tag, names in nh3.ALLOWED_ATTRIBUTES.items()}
_ATTRIBUTES["img"] = {"alt", "height", "width", "src"}
_DROP_CONTENT = {"script", "style", "title", "template", "noscript", "head", "textarea", "select", "math", "svg"}
_SCHEMES = {"http", "https", "mailto", "tel"}


def clean(html: str) -> str:
    """Sanitised HTML in which nothing loads by itself: images keep only small data that the mail itself brings."""
    if not html:
        return ""
    return nh3.clean(
        html[:MAX_CHARACTERS],
        attributes=_ATTRIBUTES,
        clean_content_tags=_DROP_CONTENT,
        attribute_filter=_filter,
        url_schemes=_SCHEMES | {"data"},
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )


def _filter(tag: str, attribute: str, value: str) -> str | None:
    """Images keep only tiny inline data; other tags may not use data: or cid: at all."""
    if attribute in ("src", "href", "cite"):
        text = value.strip().lower()
        if tag == "img" and attribute == "src":
            return value if text.startswith("data:image/") and "svg" not in text[:20] else None
        if text.startswith("data:"):
            return None
    return value
