"""Which leaves are body text and which are attachments: the algorithm of RFC 8621 §4.1.4."""

from __future__ import annotations

from inbox.mime.structure import Part, Tree

_TEXT = frozenset({"text/plain", "text/html"})
_MEDIA = ("image/", "audio/", "video/")


class Bodies:
    """`text` and `html` are the leaves to show in each form; `attachments` everything that is kept as a file."""

    __slots__ = ("attachments", "damaged", "html", "text")

    def __init__(self) -> None:
        self.text: list[Part] = []
        self.html: list[Part] = []
        self.attachments: list[Part] = []
        self.damaged: list[Part] = []


def choose_bodies(tree: Tree) -> Bodies:
    """Media in the body are attachments as well; so is text that the mail breaks off in, since it may be no text."""
    chosen = Bodies()
    order = {id(leaf): number for number, leaf in enumerate(tree.leaves)}
    _visit([tree.root], "mixed", False, _Lists(chosen.text, chosen.html, chosen.attachments))
    chosen.attachments.sort(key=lambda part: order.get(id(part), 0))
    if not chosen.text and not chosen.html:
        chosen.damaged = [part for part in tree.leaves if part.open_ended and part.kind in _TEXT]
    return chosen


class _Lists:
    """The three lists of the algorithm; None where an alternative has settled for the other form."""

    __slots__ = ("attachments", "html", "text")

    def __init__(self, text: list[Part] | None, html: list[Part] | None, attachments: list[Part]) -> None:
        self.text = text
        self.html = html
        self.attachments = attachments


def _visit(parts: list[Part], container: str, in_alternative: bool, lists: _Lists) -> None:
    text_before = -1 if lists.text is None else len(lists.text)
    html_before = -1 if lists.html is None else len(lists.html)
    lists = _Lists(lists.text, lists.html, lists.attachments)
    first = _related_root(parts) if container == "related" else 0
    for position, part in enumerate(parts):
        if part.children:
            inner = part.kind.partition("/")[2]
            _visit(part.children, inner, in_alternative or inner == "alternative", lists)
        elif not _is_inline(part, container, position == first):
            lists.attachments.append(part)
        elif container == "alternative":
            _alternative(part, lists)
        else:
            _inline(part, in_alternative, lists)
    if container == "alternative" and lists.text is not None and lists.html is not None:
        _share(lists.text, text_before, lists.html, html_before)


def _related_root(parts: list[Part]) -> int:
    """The part that shows the others: the one that `start` names, else the first of a type that can (RFC 2387 §3)."""
    start = parts[0].parent.params.get("start", "").strip("<> ") if parts[0].parent is not None else ""
    for position, part in enumerate(parts):
        if start and part.header.get("content-id").strip("<> ") == start:
            return position
    return next((position for position, part in enumerate(parts) if part.children or part.kind in _TEXT), 0)


def _is_inline(part: Part, container: str, is_first: bool) -> bool:
    media = part.kind.startswith(_MEDIA)
    if part.disposition == "attachment" or part.open_ended or not (media or part.kind in _TEXT):
        return False
    return is_first or (container != "related" and (media or not part.named))


def _alternative(part: Part, lists: _Lists) -> None:
    if part.kind == "text/plain" and lists.text is not None:
        lists.text.append(part)
    elif part.kind == "text/html" and lists.html is not None:
        lists.html.append(part)
    else:
        lists.attachments.append(part)


def _inline(part: Part, in_alternative: bool, lists: _Lists) -> None:
    if in_alternative and part.kind == "text/plain":
        lists.html = None
    elif in_alternative and part.kind == "text/html":
        lists.text = None
    if lists.text is not None:
        lists.text.append(part)
    if lists.html is not None:
        lists.html.append(part)
    if part.kind.startswith(_MEDIA):
        lists.attachments.append(part)


def _share(text: list[Part], text_before: int, html: list[Part], html_before: int) -> None:
    """An alternative with one form only is shown in both."""
    if len(text) == text_before and len(html) != html_before:
        text.extend(html[html_before:])
    elif len(html) == html_before and len(text) != text_before:
        html.extend(text[text_before:])
