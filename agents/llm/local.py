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
from agents.normalise import content_words, paragraphs, sentences, topics, visible, without_prefixes
from agents.types import Risk

# Cosine of the best passage plus a share of common words. Measured on questions that the knowledge answers (0.46 and
# above) and on others (0.41 and below); tests/agents/test_local_provider.py keeps the list.
THRESHOLD: Final = 0.45
MODEL: Final = "passages"
# A mail that asks nothing in so many words must fit very well.
_SURE: Final = 0.75
_WORDS: Final = 0.25
_MAX_QUESTIONS: Final = 12
_MAX_PASSAGES: Final = 4
_PER_QUESTION: Final = 2
_NEARLY: Final = 0.85
_TELLING: Final = 1
_STEM: Final = 5
_SHORTEST: Final = 4

# A wish that something be done, not told: a person does it.
_DEMANDS: Final = re.compile(
    r"\b(?:refund|cancel|delete|remove|unsubscribe|change|update|close)\s+(?:me|my|our|this|the)\b"
    r"|\b(?:want|demand|need|request|claim|like)\b.{0,25}\b(?:refund|money back|compensation|cancel\w*|deleted?|replacement)\b"
    r"|\b(?:storniere|k[uü]ndige|l[oö]sche|[aä]ndere|erstatte)\w*\s+(?:sie|mir|bitte|mein\w*|hiermit|ich)\b"
    r"|\bich\s+(?:storniere|k[uü]ndige|widerrufe|fordere|verlange)\b"
    r"|\b(?:call|phone|ring) me\b|\b(?:speak|talk) (?:to|with) (?:a|an|some|your) (?:human|person|agent|manager|someone)\b",
    re.IGNORECASE,
)
# A case of its own: no document knows it.
_CASE_NUMBER: Final = re.compile(r"\d{4,}")
_GREETINGS: Final = {
    "en": ("Hello", "thank you for your message. This is what we can tell you:", "Kind regards"),
    "de": ("Guten Tag", "vielen Dank für Ihre Nachricht. Das können wir Ihnen dazu sagen:", "Freundliche Grüße"),
    "fr": ("Bonjour", "merci pour votre message. Voici ce que nous pouvons vous dire :", "Cordialement"),
    "es": ("Hola", "gracias por su mensaje. Esto es lo que podemos decirle:", "Saludos cordiales"),
    "pt": ("Olá", "obrigado pela sua mensagem. Eis o que lhe podemos dizer:", "Com os melhores cumprimentos"),
}
_LANGUAGE_WORDS: Final = {
    "en": {"the", "is", "and", "you", "what", "when", "how", "my", "do", "are", "please", "can", "your", "it"},
    "de": {"der", "die", "das", "ist", "ich", "und", "sie", "wann", "wie", "mein", "meine", "bitte", "nicht", "kann"},
    "fr": {"le", "la", "les", "est", "je", "vous", "et", "quand", "mon", "ma", "votre", "une", "bonjour", "comment"},
    "es": {"el", "los", "es", "mi", "cuando", "cuándo", "una", "para", "hola", "gracias", "como", "cómo", "puedo"},
    "pt": {"o", "os", "é", "meu", "minha", "quando", "uma", "para", "olá", "obrigado", "obrigada", "posso", "não"},
}


@dataclass(frozen=True)
class Question:
    """Something that a mail asks, with the sentence before it, which often holds the topic."""

    text: str
    lead: str = ""

    @property
    def in_context(self) -> str:
        return f"{self.lead} {self.text}".strip()


@dataclass(frozen=True)
class Match:
    question: Question
    passages: list[Passage]
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
    if any(_CASE_NUMBER.search(question.text) for question in asked):
        return _ask("the mail asks about a case of its own, which no document knows")
    found = match(asked, request.passages)
    worst = min(found, key=lambda item: item.score)
    if not all(item.passages for item in found):
        missing = next(item for item in found if not item.passages)
        return _ask(f"the knowledge has no answer to {missing.question.text[:150]!r}", confidence=missing.score)
    used = {passage.id: passage for item in found for passage in item.passages}
    if len(used) > _MAX_PASSAGES:
        return _ask("the mail asks too many things at once")
    return Proposal(
        answer=_letter(request, text, list(used.values())),
        confidence=round(max(0.0, min(1.0, worst.score)), 3),
        citations=tuple(used),
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


def questions(subject: str, text: str) -> list[Question]:
    """What the mail asks: its question sentences, else all that it tells, else its subject."""
    found: list[Question] = []
    told: list[str] = []
    for paragraph in paragraphs(text):
        lead = ""
        for sentence in sentences(paragraph):
            asks = _is_question(sentence)
            if asks and content_words(sentence):
                found.append(Question(sentence, lead))
            lead = "" if asks else sentence
            if len(content_words(sentence)) > _TELLING:
                told.append(sentence)
    if found:
        alone = found[0]
        return [Question(alone.text, f"{subject}. {alone.lead}")] if len(found) == 1 else found[:_MAX_QUESTIONS]
    whole = " ".join([subject, *told[:_MAX_QUESTIONS]])
    return [Question(whole)] if content_words(whole) else []


def _is_question(sentence: str) -> bool:
    return any(mark in sentence for mark in ("?", "\u061f", "\uff1f"))


def match(asked: Sequence[Question], passages: Sequence[Passage]) -> list[Match]:
    """For each question the passages that answer it, the best first; none when nothing fits well enough."""
    if not passages:
        return [Match(question, [], 0.0) for question in asked]
    pieces, owners = _pieces(passages)
    spoken = embedding.embed([question.text for question in asked])
    framed = embedding.embed([question.in_context for question in asked])
    table = embedding.embed(pieces)
    alone, context = spoken @ table.T, framed @ table.T
    found = []
    for row, question in enumerate(asked):
        fit: dict[int, float] = {}
        for column, owner in enumerate(owners):
            close = max(float(alone[row][column]), float(context[row][column]))
            fit[owner] = max(fit.get(owner, -1.0), close)
        fit = {owner: close + _WORDS * _shared(question, passages[owner]) for owner, close in fit.items()}
        ranked = sorted(fit.items(), key=lambda item: -item[1])
        least = max(THRESHOLD if _is_question(question.text) else _SURE, ranked[0][1] * _NEARLY)
        fitting = [passages[owner] for owner, close in ranked if close >= least]
        found.append(Match(question, fitting[:_PER_QUESTION], ranked[0][1]))
    return found


def _pieces(passages: Sequence[Passage]) -> tuple[list[str], list[int]]:
    """Each passage as a whole and by its sentences, with its number."""
    pieces: list[str] = []
    owners: list[int] = []
    for index, passage in enumerate(passages):
        parts = [sentence for part in paragraphs(passage.text) for sentence in sentences(part)]
        for piece in (f"{passage.heading or passage.source}. {passage.text}", *parts):
            pieces.append(piece)
            owners.append(index)
    return pieces, owners


def _shared(question: Question, passage: Passage) -> float:
    """How many of the question's telling words the passage has, from 0 to 1."""
    offered = content_words(f"{passage.source} {passage.heading} {passage.text}", limit=200)
    shares = []
    for text in (question.text, question.in_context):
        wanted = content_words(text)
        known = sum(any(_same(word, other) for other in offered) for word in wanted)
        shares.append(known / len(wanted) if wanted else 0.0)
    return max(shares)


def _same(word: str, other: str) -> bool:
    """The same word, or one stem: words of other forms begin alike."""
    length = min(len(word), len(other), _STEM)
    return length >= _SHORTEST and word[:length] == other[:length]


def _letter(request: Request, text: str, used: Sequence[Passage]) -> str:
    greeting, opening, closing = _GREETINGS[language(text)]
    name = _first_name(request.mail.from_name, text)
    body = "\n\n".join(passage.text.strip() for passage in used)
    return f"{greeting}{' ' + name if name else ''},\n\n{opening}\n\n{body}\n\n{closing}\n{request.inbox_name}".rstrip()


def language(text: str) -> str:
    """The language of a text among those that have a greeting; English when in doubt."""
    words = re.findall(r"\w+", text.lower())
    counts = {name: sum(word in known for word in words) for name, known in _LANGUAGE_WORDS.items()}
    best = max(counts, key=lambda name: (counts[name], name == "en"))
    return best if counts[best] else "en"


def _first_name(name: str, text: str) -> str:
    """The sender's first name when the mail is signed with it: display names are often roles or companies."""
    first = visible(name).split(" ")[0] if name else ""
    is_name = re.fullmatch(r"[^\W\d_]{2,20}", first) and re.search(rf"\b{re.escape(first)}\b", text[-200:])
    return first if is_name else ""


def _ask(reason: str, *, confidence: float = 0.0) -> Proposal:
    return Proposal(
        ask_person=reason,
        confidence=round(max(0.0, confidence), 3),
        provider="local",
        model=MODEL,
        used_language_model=False,
    )
