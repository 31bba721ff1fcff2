"""HTML of strangers made harmless when it is stored: nh3's allow-list, and nothing left that loads by itself.

Remote images keep their address behind a scheme that no browser knows, so that a person can ask for them later; images
that the mail brings along keep their content id. Whoever shows the result goes through `present`, which cleans once more
and decides image by image; the console frames that in a sandbox under a policy of its own. Three walls, each for itself.

A browser's way of reading repairs what is not closed by opening it again in every paragraph, so a few kilobytes may ask for
gigabytes. So strangers' HTML is cleaned in the parser's child, where that costs the child its life and the mail no more than
its formatting; what comes out is small enough, and settled enough, to be read again by whoever shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import nh3

MAX_CHARACTERS = 500_000
# Of the result: closing tags and marks on links make it longer than what came, never by much.
MAX_CLEANED = 2_000_000
# Honest mail is settled at once; of what strangers craft, some is after the second cleaning.
_ROUNDS = 4
# Of the address of a remote image, as it is stored.
HELD = "remote-image:"

_TAGS = nh3.ALLOWED_TAGS - {"area", "map"} | {"font", "tfoot"}
_CELL = {"bgcolor", "height", "valign", "width"}
_ATTRIBUTES = {tag: set(names) for tag, names in nh3.ALLOWED_ATTRIBUTES.items()}
_ATTRIBUTES["img"] = {"align", "alt", "height", "src", "width"}
_ATTRIBUTES["font"] = {"color", "face", "size"}
_ATTRIBUTES["table"] |= {"bgcolor", "border", "cellpadding", "cellspacing", "height", "width"}
for _tag in ("td", "th", "tr"):
    _ATTRIBUTES[_tag] |= _CELL
_ATTRIBUTES["*"] = {"dir", "lang", "style", "title"}
_DROP_CONTENT = {
    "script", "style", "title", "template", "noscript", "head", "textarea", "select", "math", "svg", "iframe", "object",
    "embed", "video", "audio", "canvas", "noembed", "noframes", "plaintext", "xmp",
}  # fmt: skip
_SCHEMES = {"http", "https", "mailto", "tel", "data", "cid", HELD.rstrip(":")}
# What letters and their boxes look like. Nothing that hides, places or loads: a preview line for machines is shown.
_STYLES = {
    "background-color", "border", "border-bottom", "border-collapse", "border-color", "border-left", "border-radius",
    "border-right", "border-spacing", "border-style", "border-top", "border-width", "color", "direction", "font-family",
    "font-size", "font-style", "font-weight", "height", "letter-spacing", "line-height", "list-style-type", "max-width",
    "padding", "padding-bottom", "padding-left", "padding-right", "padding-top", "text-align", "text-decoration",
    "text-transform", "vertical-align", "white-space", "width",
}  # fmt: skip
_UNSAFE_STYLE = re.compile(
    r"[\\@<>{}]|/\*|(?:url|image|image-set|src|cross-fade|element|expression|var|env|attr)\s*\(", re.IGNORECASE
)
_HIDES = re.compile(r"(?:font-size|line-height|height|width|max-width)\s*:\s*0(?![.\d]*[1-9])", re.IGNORECASE)
_PICTURE = re.compile(r"data:image/(?:png|jpe?g|gif|webp|bmp);base64,[A-Za-z0-9+/=\s]+", re.IGNORECASE)
_CONTENT_ID = re.compile(r"cid:[^\s<>\"']{1,250}", re.IGNORECASE)
_REMOTE = re.compile(r"(?:https?:)?//[^\s\"'<>\\]{1,2000}", re.IGNORECASE)
_LINK = re.compile(r"(?:https?://|mailto:|tel:)", re.IGNORECASE)


class NotCleaned(Exception):
    """This HTML grows beyond what is stored, or reads differently each time: it is not to be shown."""


def clean(html: str) -> str:
    """Sanitised HTML in which nothing loads by itself. Cleaning it again changes nothing, so showing it costs no more.

    For strangers' HTML only where time and memory are bounded: in the parser's child. Raises NotCleaned.
    """
    found = html[:MAX_CHARACTERS]
    for _ in range(_ROUNDS):
        before, found = found, _STORED.clean(found) if found else ""
        if len(found) > MAX_CLEANED:
            raise NotCleaned
        if found == before:
            return found
    raise NotCleaned


def present(html: str, image: Callable[[str], str | None]) -> str:
    """Stored HTML for showing: `image` says what stands for `cid:…` or for the address of a remote image, None: nothing."""

    def filtered(tag: str, attribute: str, value: str) -> str | None:
        kept = _filter(tag, attribute, value)
        if kept is None or (tag, attribute) != ("img", "src") or kept.startswith("data:"):
            return kept
        return image(kept.removeprefix(HELD))

    return _cleaner(filtered).clean(html) if html else ""


def remote_images(html: str) -> int:
    """How many images of stored HTML wait for somebody to ask for them."""
    return html.count(f'src="{HELD}')


def _filter(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "style":
        return None if _UNSAFE_STYLE.search(value) or _HIDES.search(value) else value
    if attribute == "src":
        return _image_source(value.strip())
    if attribute in ("href", "cite"):
        return value if _LINK.match(value.strip()) else None
    return value


def _image_source(value: str) -> str | None:
    """A picture inside the mail, or where a remote one would be; a scheme-less address is a remote one, too."""
    if _PICTURE.fullmatch(value) or _CONTENT_ID.fullmatch(value):
        scheme, _, rest = value.partition(":")
        return f"{scheme.lower()}:{rest}"
    address = value.removeprefix(HELD)
    if not _REMOTE.fullmatch(address):
        return None
    return HELD + (f"https:{address}" if address.startswith("//") else address)


def _cleaner(attribute_filter: Callable[[str, str, str], str | None]) -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        clean_content_tags=_DROP_CONTENT,
        attribute_filter=attribute_filter,
        filter_style_properties=_STYLES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )


_STORED = _cleaner(_filter)
