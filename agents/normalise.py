"""Text as rules and prompts see it: nothing invisible, and the topics in it that make an answer delicate. Pure."""

import re
import unicodedata
from typing import Final

from agents.types import Risk

# Format and control characters carry text that people do not see: tags, zero width, bidi, variation selectors.
_KEPT_CONTROLS = "\n\t"
_HIDDEN_MARKS: Final = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
    | set(range(0xFE00, 0xFE10))
    | set(range(0xE0000, 0xE0200))
)
# Joiners are spelling in Arabic and Indic scripts, and nowhere else.
_JOINERS = "\u200c\u200d"
_JOINING_SCRIPTS = ("\u0600", "\u0dff")


def visible(text: str) -> str:
    """`text` with only what a person would see, with plain line ends."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    return "\n".join(_visible_line(line) for line in plain.split("\n"))


def _visible_line(line: str) -> str:
    if line.isascii() and line.isprintable():
        return line
    return "".join(c for index, c in enumerate(line) if not is_hidden(c) or _joins(line, index))


def is_hidden(character: str) -> bool:
    """Whether a character shows nothing."""
    if character in _KEPT_CONTROLS:
        return False
    return ord(character) in _HIDDEN_MARKS or unicodedata.category(character) in ("Cf", "Cc", "Cs", "Co", "Cn")


# Hidden, but in everyday use: emoji, other scripts, soft hyphens, a mark at the beginning of a file.
_EVERYDAY: Final = frozenset("\u200c\u200d\ufe0e\ufe0f\u00ad\ufeff")


def hidden_count(text: str) -> int:
    """How many characters of a text show nothing and have no everyday use."""
    if text.isascii() and text.isprintable():
        return 0
    return sum(is_hidden(c) and c not in _EVERYDAY and c != "\r" for c in text)


def _joins(text: str, index: int) -> bool:
    if text[index] not in _JOINERS or not 0 < index < len(text) - 1:
        return False
    low, high = _JOINING_SCRIPTS
    return low <= text[index - 1] <= high and low <= text[index + 1] <= high


def without_prefixes(subject: str) -> str:
    """A subject without Re:, Fwd:, AW: and the like."""
    return re.sub(r"^(?:\s*(?:re|fwd?|aw|wg|sv|vs|tr|rv|enc)\s*(?:\[\d+\])?\s*:)+\s*", "", subject, flags=re.IGNORECASE)


_SENTENCE = re.compile(r"(?<=[.!?…。？！])\s*(?<!\d\.)(?:\s|(?<=[。？！]))")


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, each on one line: mail is wrapped anywhere."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph, in order."""
    return [part.strip() for part in _SENTENCE.split(paragraph) if part.strip()]


_WORD = re.compile(r"\w{2,}", re.UNICODE)
# The commonest words of the languages that customers write; they say nothing about the topic.
_COMMON: Final = frozenset(
    [
        "the",
        "and",
        "for",
        "you",
        "your",
        "are",
        "can",
        "how",
        "what",
        "when",
        "where",
        "who",
        "why",
        "with",
        "that",
        "this",
        "from",
        "have",
        "has",
        "was",
        "will",
        "would",
        "could",
        "should",
        "please",
        "thanks",
        "thank",
        "hello",
        "dear",
        "regards",
        "about",
        "any",
        "our",
        "not",
        "but",
        "its",
        "all",
        "get",
        "got",
        "does",
        "did",
        "do",
        "is",
        "in",
        "on",
        "of",
        "to",
        "my",
        "me",
        "we",
        "der",
        "die",
        "das",
        "und",
        "ist",
        "ich",
        "sie",
        "wir",
        "mit",
        "von",
        "den",
        "dem",
        "des",
        "ein",
        "eine",
        "einen",
        "bei",
        "wie",
        "was",
        "wann",
        "wo",
        "kann",
        "bitte",
        "danke",
        "hallo",
        "les",
        "des",
        "une",
        "est",
        "que",
        "qui",
        "pour",
        "dans",
        "avec",
        "vous",
        "nous",
        "mon",
        "votre",
        "bonjour",
        "merci",
        "los",
        "las",
        "una",
        "para",
        "por",
        "con",
        "que",
        "como",
        "mi",
        "hola",
        "gracias",
    ]
)


def content_words(text: str, *, limit: int = 32) -> list[str]:
    """The telling words of a text, lower case, each once, in order."""
    found: dict[str, None] = {}
    for word in _WORD.findall(visible(text).lower()):
        if word not in _COMMON and not word.isdigit():
            found.setdefault(word, None)
            if len(found) == limit:
                break
    return list(found)


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


# What a topic in the customer's mail does to the risk of answering it. It only ever raises the risk.
_TOPICS: Final = (
    (
        "legal threat",
        Risk.HIGH,
        _words(
            r"\b(?:lawyer|attorney|solicitor|lawsuit|court|sue you|legal (?:action|steps|proceedings))\b",
            r"\b(?:rechtsanw[aä]lt\w*|anwalt\w*|klage|gericht|rechtliche schritte|verbraucherzentrale)\b",
            r"\b(?:avocat|tribunal|abogado|demanda judicial|advogad[oa]|procon)\b",
        ),
    ),
    (
        "deletion of an account or of personal data",
        Risk.HIGH,
        _words(
            r"\b(?:delete|close|erase|remove)\b.{0,30}\b(?:account|personal data|my data|profile)\b",
            r"\b(?:gdpr|dsgvo|rgpd|lgpd|right to be forgotten)\b",
            r"\b(?:konto|daten|profil)\b.{0,30}\b(?:l[oö]sch\w*|schlie[sß]+en)\b|\bl[oö]sch\w*\b.{0,30}\b(?:konto|daten)\b",
            r"\bsupprim\w*\b.{0,30}\bcompte\b|\b(?:eliminar|borrar|excluir)\b.{0,30}\b(?:cuenta|conta|dados|datos)\b",
        ),
    ),
    (
        "change of bank details",
        Risk.HIGH,
        _words(
            r"\b(?:new|change\w*|updat\w*|different)\b.{0,30}\b(?:bank|iban|account number|payment) ?(?:details|account|data)?\b",
            r"\b(?:neue|ge[aä]ndert\w*)\b.{0,30}\b(?:bankverbindung|iban|kontonummer)\b",
        ),
    ),
    (
        "threat to health or safety",
        Risk.HIGH,
        _words(r"\b(?:suicid\w*|kill myself|injur\w*|hospital|allergic reaction|caught fire|explod\w*)\b"),
    ),
    (
        "refund or cancellation",
        Risk.MEDIUM,
        _words(
            r"\b(?:refund\w*|money back|chargeback|reimburs\w*|compensat\w*)\b",
            r"\bcancel\w*\b.{0,30}\b(?:order|subscription|contract|booking|membership)\b",
            r"\b(?:erstattung|r[uü]ckerstattung|geld zur[uü]ck|stornier\w*|k[uü]ndig\w*|widerruf\w*)\b",
            r"\b(?:rembours\w*|r[ée]sili\w*|reembols\w*|devoluci[oó]n del dinero|estorno)\b",
        ),
    ),
    (
        "complaint",
        Risk.MEDIUM,
        _words(
            r"\b(?:complain\w*|unacceptable|outrag\w*|disgust\w*|scam\w*|fraud\w*|worst)\b",
            r"\b(?:beschwer\w*|reklam\w*|unversch[aä]mt\w*|betrug\w*|inakzeptabel)\b",
            r"\b(?:r[ée]clamation|inadmissible|reclamaci[oó]n|queja|estafa|reclama[cç][aã]o)\b",
        ),
    ),
)

_ORDER: Final = (Risk.LOW, Risk.MEDIUM, Risk.HIGH)


def highest(*risks: Risk) -> Risk:
    """The highest of some risks; low when there is none."""
    return max(risks, key=_ORDER.index, default=Risk.LOW)


def topics(text: str) -> list[tuple[str, Risk]]:
    """The delicate topics of a text, each with the risk of answering it."""
    seen = unicodedata.normalize("NFKC", visible(text))
    return [(name, risk) for name, risk, pattern in _TOPICS if pattern.search(seen)]


_TOKEN = re.compile(r"\b(?=[\w-]{0,80}\d)(?=[\w-]{0,80}[a-z])[\w-]{6,80}\b", re.IGNORECASE)


def tells(text: str, secret: str, *, words: int = 8) -> bool:
    """Whether `text` gives away `secret`: many of its words in a row, or one of its tokens of letters and digits."""
    if set(_TOKEN.findall(text)) & set(_TOKEN.findall(secret)):
        return True
    hidden, shown = _WORD.findall(secret.lower()), _WORD.findall(text.lower())
    runs = {tuple(hidden[i : i + words]) for i in range(len(hidden) - words + 1)}
    return any(tuple(shown[i : i + words]) in runs for i in range(len(shown) - words + 1))
