"""HTML as readable text, and HTML without the mail it answers."""

from __future__ import annotations

import html as entities
import re
from typing import Any

_BREAK = re.compile(r"<(?:br|/p|/div|/tr|/li|/h[1-6]|/table|hr|/blockquote)\b[^>]{0,200}>", re.IGNORECASE)
_UNSHOWN = re.compile(r"<(?:(script|style|head|title|template)\b|!--)", re.IGNORECASE)
_TAG = re.compile(r"<[a-zA-Z/!?][^<>]{0,5000}>")
_BLANKS = re.compile(r"[ \t\xa0]+")
_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")
_MAX_TAGS = 20_000
_MAX_STYLE = 2_000
# What a person does not see is not what was said: preview lines of newsletters, orders to assistants.
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all|(?:max-height|opacity)\s*:\s*0(?![.\d]*[1-9])",
    re.IGNORECASE,
)
# A size of nothing is handed down, until one within gives a size of its own; a share of nothing is nothing.
_FONT_SIZE = re.compile(r"(?:^|[;\s])font(?:-size)?\s*:([^;]{0,80})", re.IGNORECASE)
_NO_SIZE = re.compile(
    r"\s*[-+]?(?:0+(?:\.0*)?|\.0+)[a-z%]*\s*(?:!\s*important\s*)?$|[^/]*(?<![\w.#])0*\.?0+[a-z%]*\s*/", re.IGNORECASE
)
_OWN_SIZE = re.compile(
    r"(?<![\w.#-])(?:\d*\.\d*[1-9]\d*|\d*[1-9]\d*(?:\.\d*)?)(?:px|pt|pc|rem|cm|mm|in|q|vw|vh)\b"
    r"|(?<![\w-])(?:(?:xx?-)?small|medium|(?:xx?x?-)?large|initial)(?![\w-])",
    re.IGNORECASE,
)
_INVISIBLE = re.compile("[\u200b\u200c\u2060\ufeff\u00ad]")
# Where mail programs put the mail that is answered. Everything after Outlook's marker is quoted, too.
_QUOTES = (
    "//*[contains(@class, 'yahoo_quoted')]",
    "//*[contains(@class, 'moz-cite-prefix')]",
    "//*[contains(@class, 'protonmail_quote')]",
    "//*[contains(@class, 'tutanota_quote')]",
    "//*[contains(@class, 'zmail_extra')]",
    "//blockquote[@type='cite' or @cite]",
    "//*[@id='OLK_SRC_BODY_SECTION']",
)
_GMAIL_QUOTES = "//*[contains(concat(' ', normalize-space(@class), ' '), ' gmail_quote ')]"
_GMAIL_ATTRIBUTIONS = "//*[contains(concat(' ', normalize-space(@class), ' '), ' gmail_attr ')]"
_TAILS = (
    "//*[@id='divRplyFwdMsg' or @id='appendonsend' or @id='mail-editor-reference-message-container']",
    "//*[contains(translate(@style, ' ', ''), 'border-top:solid#E1E1E1') or contains(translate(@style, ' ', ''), "
    "'border-top:solid#B5C4DF')]",
)


def html_to_text(html: str, limit: int = 512 * 1024) -> str:
    """Text of a document; a page too large or too deep for the real converter goes through the plain one."""
    html = html[:limit]
    if not html.strip():
        return ""
    if html.count("<") <= _MAX_TAGS:
        tree = _tree(html)
        if tree is not None:
            return _tidy(_render(tree, html))
    return _tidy(_plain(html))


def html_without_quote(html: str, limit: int = 512 * 1024) -> str:
    """Text of what this mail adds; empty when nothing could be told apart."""
    if not html.strip() or len(html) > limit or html.count("<") > _MAX_TAGS:
        return ""
    tree = _tree(html)
    if tree is None:
        return ""
    found = _drop_gmail(tree)
    for path in _QUOTES:
        for node in tree.xpath(path):
            found = _drop(node) or found
    for path in _TAILS:
        for node in tree.xpath(path)[:1]:
            found = _drop_from(node) or found
    return _tidy(_render(tree, html)) if found else ""


def _drop_gmail(tree: Any) -> bool:
    """Gmail has one class for the mail that is answered, for each quote in it, and for what its users indent by hand."""
    marked, attributions = tree.xpath(_GMAIL_QUOTES), tree.xpath(_GMAIL_ATTRIBUTIONS)
    quotes = [node for node in marked if node.tag == "blockquote"]
    if len(quotes) == len(marked) and not attributions:
        return False
    around = [node for node in marked if node.tag != "blockquote" and not _holds_answers(node)]
    for node in [*around, *quotes, *attributions]:
        _drop(node)
    return True


def _holds_answers(node: Any) -> bool:
    """Who answers between the quotes writes into the box of the mail that is answered."""
    children = [child for child in node if isinstance(child.tag, str)]
    first = next((place for place, child in enumerate(children) if child.tag == "blockquote"), len(children))
    if not any("gmail_attr" in (child.get("class") or "") for child in children[:first]):
        return False
    return any(
        (child.tail or "").strip() or (child.tag != "blockquote" and child.text_content().strip())
        for child in children[first:]
    )


def _tree(html: str) -> Any:
    """lxml reads bytes, since it refuses a str with an encoding declaration; None for what is no document.

    Also for one that is too deep: lxml ends there without a word, and what follows would be lost.
    """
    from lxml import etree
    from lxml.html import HTMLParser, document_fromstring

    parser = HTMLParser(encoding="utf-8", remove_comments=True)
    try:
        tree = document_fromstring(html.encode(), parser=parser)
    except (etree.LxmlError, ValueError, AssertionError):
        return None
    return None if parser.error_log.filter_from_fatals() else tree


def _render(tree: Any, html: str) -> str:
    """Styles go first: the converter obeys them, and one `margin: 9999999em` would be gigabytes of empty lines."""
    from inscriptis.html_engine import Inscriptis  # type: ignore[import-untyped]
    from lxml import etree

    for node in [node for node in tree.iter(etree.Element) if _HIDDEN.search(node.get("style") or "")]:
        _drop(node)
    _drop_sizeless(tree)
    etree.strip_attributes(tree, "style")
    for rule in tree.iter("hr"):
        # The converter would go on in the same line.
        rule.tag = "div"
    try:
        return str(Inscriptis(tree).get_text())
    except (RecursionError, ValueError, IndexError, AttributeError, KeyError, TypeError):
        return _plain(html)


def _drop_sizeless(tree: Any) -> None:
    """Builders of newsletters set the size of a table to nothing and give each text its own: what has one is seen."""
    from lxml import etree

    order = list(tree.iter(etree.Element))
    sizeless: set[Any] = set()
    for node in order:
        own = _has_size(node.get("style") or "")
        if own is False or (own is None and node.getparent() in sizeless):
            sizeless.add(node)
    around = _around(order, sizeless) if sizeless else set()
    for node in [node for node in order if node in sizeless]:
        node.text = None
        for child in node:
            child.tail = None
        if node not in around and node.tag != "body":
            _drop(node)


def _around(order: list[Any], sizeless: set[Any]) -> set[Any]:
    """What holds something that is seen, and is needed for its place."""
    around: set[Any] = set()
    for node in reversed(order):
        if node in around or node not in sizeless:
            around.add(node.getparent())
    return around


def _has_size(style: str) -> bool | None:
    """Whether letters have a size by the last that is said; None when that is what is around."""
    size = None
    values = _FONT_SIZE.findall(style[:_MAX_STYLE])
    for value in [value for value in values if "!" in value] or values:
        if _NO_SIZE.match(value):
            size = False
        elif _OWN_SIZE.search(value):
            size = True
    return size


def _drop(node: Any) -> bool:
    parent = node.getparent()
    if parent is None:
        return False
    node.drop_tree()
    return True


def _drop_from(node: Any) -> bool:
    """The marker, everything after it, and everything after each of its ancestors."""
    while node is not None and node.getparent() is not None:
        for later in list(node.itersiblings()):
            later.getparent().remove(later)
        parent = node.getparent()
        if not node.get("data-kept"):
            parent.remove(node)
            parent.set("data-kept", "1")
        node = parent
    return True


def _plain(html: str) -> str:
    """Tags off in linear time: for pages that would cost the real converter too much."""
    text = _TAG.sub("", _BREAK.sub("\n", _shown(html)))
    return entities.unescape(text)


def _shown(html: str) -> str:
    pieces = []
    position = 0
    lowered = html.lower()
    while (match := _UNSHOWN.search(html, position)) is not None:
        pieces.append(html[position : match.start()])
        close = f"</{match[1].lower()}" if match[1] else "-->"
        end = lowered.find(close, match.end())
        if end < 0:
            return "".join(pieces)
        position = end if match[1] else end + len(close)
        if match[1]:
            position = (lowered.find(">", end) + 1) or len(html)
    pieces.append(html[position:])
    return "".join(pieces)


def _tidy(text: str) -> str:
    text = _INVISIBLE.sub("", text)
    lines = [_BLANKS.sub(" ", line).rstrip() for line in text.split("\n")]
    lines = [line[1:] if line[:1] == " " and line[1:2] not in "*-" else line for line in lines]
    return _LINES.sub("\n\n", "\n".join(lines)).strip("\n")
