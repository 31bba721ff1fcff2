"""format=flowed (RFC 3676): paragraphs that the sender broke with a trailing space become lines again."""

from __future__ import annotations


def unflow(text: str, *, delete_space: bool = False) -> str:
    """Quoted lines keep their depth, `-- ` stays a signature line (§4.3), space-stuffing is undone (§4.4).

    An empty line ends a paragraph although the RFC lets it flow: senders mean it as one.
    """
    lines: list[str] = []
    paragraph: list[str] = []
    flowing = -1
    for raw in text.split("\n"):
        depth = len(raw) - len(raw.lstrip(">"))
        line = raw[depth:].removeprefix(" ")
        signature = line in {"-- ", "--"}
        if flowing != depth or not line or signature:
            if paragraph:
                lines.append("".join(paragraph))
            paragraph = [">" * depth + " " if depth else ""]
        flows = line.endswith(" ") and not signature
        paragraph.append(line[:-1] if flows and delete_space else line)
        flowing = depth if flows else -1
    lines.append("".join(paragraph))
    return "\n".join(lines)
