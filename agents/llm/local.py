"""The offline default: answers from the workspace's own knowledge, or asks a person. No language model takes part.

It compares each question of the mail with each passage by word vectors and answers with the passages' own words. It
follows no instruction in a mail, because nothing here can follow one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agents.llm import embedding
from agents.llm.base import Passage, Proposal, Request
from agents.normalise import content_words, sentences, topics, visible, without_prefixes
from agents.types import Risk

# Measured on questions with and without an answer: the former lie at 0.31 and above, the latter at 0.19 and below.
THRESHOLD: Final = 0.3
MODEL: Final = "passages"
_MAX_QUESTIONS = 12
_MAX_PASSAGES = 3

# A wish that something be done, not told: a person does it.
_DEMANDS: Final = re.compile(
    r"\b(?:refund|cancel|delete|remove|unsubscribe|change|update|close)\s+(?:me|my|our|this|the)\b"
    r"|\b(?:want|demand|need|request|claim|like)\b.{0,25}\b(?:refund|money back|compensation|cancel\w*|deleted?|replacement)\b"
    r"|\b(?:storniere|k[uü]ndige|l[oö]sche|[aä]ndere|erstatte)\w*\s+(?:sie|mir|bitte|mein\w*|hiermit|ich)\b"
    r"|\bich\s+(?:storniere|k[uü]ndige|widerrufe|fordere|verlange)\b"
    r"|\b(?:call|phone|ring) me\b|\b(?:speak|talk) (?:to|with) (?:a|an|some|your) (?:human|person|agent|manager|someone)\b",
    re.IGNORECASE,
)
_GREETINGS: Final = {
    "en": ("Hello", "Kind regards"),
    "de": ("Guten Tag", "Freundliche Grüße"),
    "fr": ("Bonjour", "Cordialement"),
    "es": ("Hola", "Saludos cordiales"),
    "pt": ("Olá", "Com os melhores cumprimentos"),
}
_LANGUAGE_WORDS: Final = {
    "en": {"the", "is", "and", "you", "what", "when", "how", "my", "do", "are", "please", "can", "your", "it"},
    "de": {"der", "die", "das", "ist", "ich", "und", "sie", "wann", "wie", "mein", "meine", "bitte", "nicht", "kann"},
    "fr": {"le", "la", "les", "est", "je", "vous", "et", "quand", "mon", "ma", "votre", "une", "bonjour", "comment"},
    "es": {"el", "los", "es", "mi", "cuando", "cuándo", "una", "para", "hola", "gracias", "como", "cómo", "puedo"},
    "pt": {"o", "os", "é", "meu", "minha", "quando", "uma", "para", "olá", "obrigado", "obrigada", "posso", "não"},
}


@dataclass(frozen=True)
class _Found:
    question: str
    passage: Passage | None
    score: float


def propose(request: Request) -> Proposal:
    """An answer made of passages, when each question of the mail has one and nothing needs a person."""
    text = visible(request.mail.text)[:12_000]
    subject = without_prefixes(visible(request.mail.subject))
    reason = _needs_person(f"{subject}\n{text}")
    if reason:
        return _ask(reason)
    asked = questions(subject, text)
    if not asked:
        return _ask("the mail asks nothing that I can recognise")
    found = _match(asked, request.passages)
    worst = min(found, key=lambda item: item.score)
    if worst.score < THRESHOLD:
        return _ask(f"the knowledge has no answer to {worst.question[:150]!r}", confidence=worst.score)
    used = _distinct(found)
    if len(used) > _MAX_PASSAGES:
        return _ask("the mail asks too many things at once")
    return Proposal(
        answer=_letter(request, text, used),
        confidence=round(max(0.0, min(1.0, worst.score)), 3),
        citations=tuple(passage.id for passage in used),
        provider="local",
        model=MODEL,
        used_language_model=False,
    )


def _needs_person(text: str) -> str:
    delicate = [name for name, risk in topics(text) if risk == Risk.HIGH or name == "complaint"]
    if delicate:
        return f"the mail is about a delicate topic: {', '.join(delicate)}"
    if _DEMANDS.search(text):
        return "the mail wants something done, not only told"
    return ""


def questions(subject: str, text: str) -> list[str]:
    """What the mail asks: its question sentences, else the lines that tell anything, else its subject."""
    lines = [line for line in sentences(text) if not line.startswith(">")]
    asked = [line for line in lines if "?" in line or "\u061f" in line or "\uff1f" in line]
    asked = [line for line in asked if content_words(line)]
    if not asked:
        telling = [line for line in lines if len(content_words(line)) > 2]
        whole = " ".join([subject, *telling]) if telling else subject
        asked = [whole] if content_words(whole) else []
    return asked[:_MAX_QUESTIONS]


def _match(asked: Sequence[str], passages: Sequence[Passage]) -> list[_Found]:
    if not passages:
        return [_Found(question, None, 0.0) for question in asked]
    pieces: list[str] = []
    owners: list[int] = []
    for index, passage in enumerate(passages):
        for piece in (f"{passage.heading}. {passage.text}", *sentences(passage.text)):
            pieces.append(piece)
            owners.append(index)
    scores = embedding.embed(list(asked)) @ embedding.embed(pieces).T
    best = scores.argmax(axis=1)
    return [
        _Found(question, passages[owners[int(best[row])]], float(scores[row][best[row]]))
        for row, question in enumerate(asked)
    ]


def _distinct(found: Sequence[_Found]) -> list[Passage]:
    kept: dict[str, Passage] = {}
    for item in found:
        if item.passage:
            kept.setdefault(item.passage.id, item.passage)
    return list(kept.values())


def _letter(request: Request, text: str, used: Sequence[Passage]) -> str:
    greeting, closing = _GREETINGS[language(text)]
    name = _first_name(request.mail.from_name)
    body = "\n\n".join(passage.text.strip() for passage in used)
    return f"{greeting}{' ' + name if name else ''},\n\n{body}\n\n{closing}\n{request.inbox_name}".rstrip()


def language(text: str) -> str:
    """The language of a text among those that have a greeting; English when in doubt."""
    words = re.findall(r"\w+", text.lower())
    counts = {name: sum(word in known for word in words) for name, known in _LANGUAGE_WORDS.items()}
    best = max(counts, key=lambda name: (counts[name], name == "en"))
    return best if counts[best] else "en"


def _first_name(name: str) -> str:
    """A first name that is surely one; a sender's display name is a stranger's text, so only plain letters count."""
    first = visible(name).split(" ")[0] if name else ""
    return first if re.fullmatch(r"[^\W\d_]{2,20}", first) else ""


def _ask(reason: str, *, confidence: float = 0.0) -> Proposal:
    return Proposal(
        ask_person=reason,
        confidence=round(max(0.0, confidence), 3),
        provider="local",
        model=MODEL,
        used_language_model=False,
    )
